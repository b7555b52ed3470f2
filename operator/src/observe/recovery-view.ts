/**
 * The recovery of a lost quorum as the planner sees it: the note on the identity, and the pods on the volumes of
 * stopped members. These pods are read only during a recovery, and from the API server itself.
 */
import type { V1Pod } from "@kubernetes/client-node";
import type { Reads, Wire } from "../kube/index.ts";
import type {
  ArchiveReport,
  CoordinationCluster,
  RecoveryEnd,
  RecoveryNote,
  RecoveryPodView,
  RecoveryReport,
  RecoveryView,
  StoppedMember,
} from "../plan/index.ts";
import { namespaceOf, ordinalOfRecoveryPod, RECOVERY_LABEL } from "../render/index.ts";
import { RECOVERY, RECOVERY_ATTEMPT, RECOVERY_STAGE } from "./annotations.ts";
import { timeOf } from "./pod-view.ts";
import type { Reading } from "./reader.ts";

type Pod = Wire<V1Pod>;

const ACTIVE: ReadonlySet<RecoveryNote["phase"]> = new Set([
  ...(["Surveying", "Recovering", "Starting", "CallingOff"] as const),
]);

/** @throws KubeError */
export async function observeRecovery(
  reads: Reads,
  cluster: CoordinationCluster,
  reading: Reading,
): Promise<RecoveryView> {
  const note = recoveryNoteOf(reading);
  if (note === null || !ACTIVE.has(note.phase)) {
    return { note, pods: [] };
  }
  const selector = `${RECOVERY_LABEL}=${cluster.metadata.name}`;
  const { items } = await reads.list<Pod>("Pod", namespaceOf(cluster), selector);
  const pods = items.flatMap((pod) => viewOf(pod, cluster) ?? []);
  return { note, pods: pods.toSorted((a, b) => a.ordinal - b.ordinal) };
}

/** @returns null if there is no note, or if someone has changed it by hand */
function recoveryNoteOf({ identity }: Reading): RecoveryNote | null {
  try {
    return JSON.parse(identity?.metadata?.annotations?.[RECOVERY] ?? "null") as RecoveryNote | null;
  } catch {
    return null;
  }
}

function viewOf(pod: Pod, cluster: CoordinationCluster): RecoveryPodView | null {
  const { metadata = {}, status } = pod;
  const ordinal = ordinalOfRecoveryPod(cluster, metadata.name ?? "");
  const isOwn = metadata.ownerReferences?.some(({ uid }) => uid === cluster.metadata.uid) === true;
  const { annotations } = metadata;
  if (ordinal === null || !isOwn) {
    return null;
  }
  const [container] = status?.containerStatuses ?? [];
  return {
    ordinal,
    uid: metadata.uid ?? "",
    resourceVersion: metadata.resourceVersion ?? "",
    attempt: annotations?.[RECOVERY_ATTEMPT] ?? "",
    stage: annotations?.[RECOVERY_STAGE] === "recover" ? "recover" : "survey",
    terminating: metadata.deletionTimestamp !== undefined,
    waitsFor: waitsForOf(pod),
    end: endOf(container?.state?.terminated, pod),
  };
}

function waitsForOf({ status }: Pod): string | null {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False") {
    return `it has no node: ${scheduled.message ?? scheduled.reason ?? ""}`;
  }
  const waiting = status?.containerStatuses?.[0]?.state?.waiting;
  return waiting?.reason === undefined || waiting.reason === "ContainerCreating"
    ? null
    : `${waiting.reason}: ${waiting.message ?? ""}`;
}

type Terminated = {
  readonly exitCode: number;
  readonly finishedAt?: string;
  readonly message?: string;
  readonly reason?: string;
};

function endOf(terminated: Terminated | undefined, { metadata, status }: Pod): RecoveryEnd | null {
  if (terminated !== undefined) {
    const { exitCode, finishedAt, message = "", reason = "Error" } = terminated;
    const failure = `the pod has ended with ${reason}, exit code ${exitCode}: see kubectl logs ${metadata?.name}`;
    return { exitCode, at: timeOf(finishedAt) ?? 0, report: reportOf(message) ?? problemOf(failure) };
  }
  // The pod was evicted or its node was lost, before its process began or ended.
  return status?.phase === "Failed"
    ? { exitCode: -1, at: 0, report: problemOf(`the pod has failed: ${status.reason ?? ""} ${status.message ?? ""}`) }
    : null;
}

/** An unknown problem may not occur in the next try. */
function problemOf(problem: string): RecoveryReport {
  return { kind: "problem", problem, mayPass: true };
}

/** The report of `quoin-node recover --report`. */
interface Written {
  readonly directories?: readonly [
    { readonly member?: StoppedMember; readonly problem?: string; readonly mayPass?: boolean },
  ];
  readonly archive?: ArchiveReport;
  readonly successor?: { readonly clusterId: string; readonly memberId: number };
  readonly problem?: string;
}

/** @returns null for text that is not a report */
function reportOf(message: string): RecoveryReport | null {
  let written: Written;
  try {
    written = JSON.parse(message) as Written;
  } catch {
    return null;
  }
  const { directories, archive = null, successor, problem } = written;
  if (successor !== undefined) {
    return { kind: "successor", clusterId: successor.clusterId, memberId: successor.memberId };
  }
  const [directory] = directories ?? [];
  if (directory?.member !== undefined) {
    return { kind: "member", member: directory.member, archive };
  }
  const found = directory?.problem ?? problem;
  return found === undefined ? null : { kind: "problem", problem: found, mayPass: directory?.mayPass ?? true };
}
