/** What the phases of a member share, and what passes from one phase to the next. */

import type { MemberData } from "../../storage/index.ts";
import type { MemberDisk } from "./member-disk.ts";
import type { MemberOptions, MemberPeering } from "./member-options.ts";
import type { MemberPeers } from "./member-peers.ts";
import type { StatusLog } from "./member-status.ts";

export interface MemberContext {
  readonly options: MemberOptions;
  /** Null for a member that has no connections to others and stays alone. */
  readonly connections: MemberConnections | null;
  readonly disk: MemberDisk;
  readonly statusLog: StatusLog;
  /** Whether the member was asked to stop. */
  readonly isStopping: () => boolean;
}

export interface MemberConnections {
  readonly peers: MemberPeers;
  readonly peering: MemberPeering;
}

/** The data of a member that belongs to a cluster, and what this process knows about that cluster. */
export interface OwnData {
  readonly data: MemberData;
  /**
   * The backup from which this process has founded the cluster, for people; "" if it founded the cluster empty, null if
   * it did not found the cluster.
   */
  readonly foundedFrom: string | null;
  /** What a member of the successor of this cluster has answered, for people; null if none has. */
  succession: string | null;
}
