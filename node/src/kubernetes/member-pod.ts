/** The role of a member as the label of its pod, if the member must label it. */

import { UsageError } from "../command-line/index.ts";
import type { Readiness } from "../replica/index.ts";
import { readCluster, type StateReader } from "../state/index.ts";
import { PodClient } from "./pod-client.ts";
import { PodLabel, type PodRole, type RoleReport } from "./pod-label.ts";

/** Where Kubernetes mounts the service account of a pod. */
const ACCOUNT_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount";
/** The port of the API server's Service, unless the environment names another one. */
const API_SERVER_PORT = "443";

type LabelLog = ConstructorParameters<typeof PodLabel>[0]["log"];

interface LabelledMember {
  readonly memberId: number;
  /** Null while there is no data to serve. */
  readonly replica: {
    readonly state: StateReader;
    status(): {
      readonly role: "leader" | "follower" | "candidate";
      readonly isLearner: boolean;
      readonly term: number;
    };
    readonly report: { readiness(): Readiness };
  } | null;
}

/**
 * Creates the labeler for the pod of this name, which uses the API server that the environment names. Returns null
 * without a namespace. Raises UsageError outside of Kubernetes.
 */
export function memberPodLabel(
  { name, labelPodIn: namespace }: { readonly name: string; readonly labelPodIn: string | null },
  environment: Readonly<Record<string, string | undefined>>,
  log: LabelLog,
  accountDirectory = ACCOUNT_DIRECTORY,
): PodLabel | null {
  if (namespace === null) {
    return null;
  }
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT_HTTPS: port = API_SERVER_PORT } = environment;
  if (host === undefined) {
    throw new UsageError("--label-pod-in needs Kubernetes: KUBERNETES_SERVICE_HOST is not set");
  }
  return new PodLabel({
    pod: name,
    pods: new PodClient({ host, port: Number(port), namespace, accountDirectory }),
    log,
  });
}

/** The member's current role, for its label. A leader has this role once it has committed an entry of its term. */
export function roleReportOf({ memberId, replica }: LabelledMember): RoleReport {
  if (replica === null) {
    return { role: "none", term: 0, others: () => new Map() };
  }
  const { role, isLearner, term } = replica.status();
  const leads = role === "leader" && replica.report.readiness().leader === null;
  return { role: leads ? "leader" : followingRole(isLearner), term, others: () => othersOf(replica.state, memberId) };
}

function othersOf(state: StateReader, memberId: number): ReadonlyMap<string, "follower" | "learner"> {
  const cluster = readCluster(state);
  const others = (cluster?.members ?? []).filter(({ id }) => id !== memberId);
  return new Map(
    others.map(({ id, name }) => [name, followingRole(cluster?.configuration.voters.includes(id) === false)]),
  );
}

function followingRole(isLearner: boolean): Exclude<PodRole, "leader" | "none"> {
  return isLearner ? "learner" : "follower";
}
