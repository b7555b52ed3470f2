/** The state of the cluster: for administrators with all counters, for others which members there are. */

import type { JSX } from "preact";
import type { PageProps } from "../../page/index.ts";
import { mayOperateCluster } from "../../session/index.ts";
import { ClusterMembers } from "./cluster-members.tsx";
import { ClusterState } from "./cluster-state.tsx";

export function OverviewPage({ user }: PageProps): JSX.Element {
  return mayOperateCluster(user) ? <ClusterState /> : <ClusterMembers />;
}
