/** Where a backup can be taken: the present members of its cluster. */
import type { CoordinationBackup } from "../generated/coordination-backup.ts";
import { type BackupReport, type MemberAddress, MemberError } from "../members/index.ts";
import { addressesOf, locationArgumentOf, readCluster } from "../observe/index.ts";
import type { CoordinationCluster } from "../plan/index.ts";
import { namesOf } from "../render/index.ts";
import type { Cause } from "./backup-phase.ts";
import type { BackupsContext } from "./context.ts";

export interface BackupMember {
  /** Name of its pod. */
  readonly name: string;
  readonly uid: string;
  /** Null while it has no address. */
  readonly address: MemberAddress | null;
  /** Whether its pod has the cluster's present store. */
  readonly isCurrent: boolean;
}

/**
 * @returns the members, or why there are none
 * @throws KubeError
 */
export async function backupMembersOf(
  { client, endpointOf }: BackupsContext,
  { metadata, spec }: CoordinationBackup,
): Promise<readonly BackupMember[] | Cause> {
  const { namespace = "" } = metadata;
  const name = spec.clusterName;
  const cluster = await client.get<CoordinationCluster>({ kind: "CoordinationCluster", namespace, name });
  if (cluster === null) {
    const message = `there is no CoordinationCluster ${name} in this namespace: correct spec.clusterName in another CoordinationBackup`;
    return { reason: "ClusterNotFound", message };
  }
  if (cluster.spec.backup === undefined) {
    const message = `CoordinationCluster ${name} has no store: set its spec.backup.storeName`;
    return { reason: "NoStore", message };
  }
  const reading = await readCluster(client, cluster);
  const addresses = addressesOf(cluster, reading, endpointOf);
  const location = locationArgumentOf(reading.set?.spec?.template.spec?.containers);
  return [...reading.pods].map(([ordinal, pod]) => ({
    name: `${namesOf(cluster).set}-${ordinal}`,
    uid: pod.metadata?.uid ?? "",
    address: addresses.get(ordinal) ?? null,
    isCurrent: location !== undefined && locationArgumentOf(pod.spec?.containers) === location,
  }));
}

export interface ChosenMember {
  readonly member: BackupMember;
  readonly report: BackupReport;
}

/** @returns the best member for a backup (an idle follower if there is one), or why there is none */
export async function chooseMember(
  { members }: BackupsContext,
  site: readonly BackupMember[],
): Promise<ChosenMember | Cause> {
  const current = site.filter(({ isCurrent }) => isCurrent);
  if (current.length === 0) {
    const message = "no member has the store yet: see the condition BackupHealthy of the CoordinationCluster";
    return { reason: "StoreNotInForce", message };
  }
  const answers = await Promise.all(current.map((member) => answerOf(members, member)));
  const [best] = answers
    .filter((answer) => answer !== null)
    .toSorted((a, b) => loadOf(a) - loadOf(b) || (a.member.name < b.member.name ? -1 : 1));
  return best ?? { reason: "MembersUnreachable", message: "no member that has the store answers" };
}

interface Answer extends ChosenMember {
  readonly leads: boolean;
}

async function answerOf(members: BackupsContext["members"], member: BackupMember): Promise<Answer | null> {
  const { address } = member;
  if (address === null) {
    return null;
  }
  try {
    const [{ leads, report: state }, report] = await Promise.all([
      members.status(address),
      members.backups(address, ""),
    ]);
    return state.state === "RUNNING" && report.store !== "" ? { member, report, leads } : null;
  } catch (error) {
    return ignoreMemberError(error);
  }
}

/** Ignores a member that does not answer. */
export function ignoreMemberError(error: unknown): null {
  if (!(error instanceof MemberError)) {
    throw error;
  }
  return null;
}

function loadOf({ leads, report: { run } }: Answer): number {
  const isBusy = run !== null && (run.phase === "Pending" || run.phase === "Running");
  return (isBusy ? 2 : 0) + (leads ? 1 : 0);
}
