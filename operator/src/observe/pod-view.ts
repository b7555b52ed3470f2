/** A pod as the planner sees it. */
import type { V1ContainerStatus, V1Pod } from "@kubernetes/client-node";
import type { Wire } from "../kube/index.ts";
import type { MemberRole, PodView, ProcessExit } from "../plan/index.ts";
import { ROLE_LABEL } from "../render/index.ts";
import { TERM, VERSION } from "./annotations.ts";

export type Pod = Wire<V1Pod>;

const MEMBER = "quoin";
/** Reasons why the kubelet waits between two tries to start a process. */
const STUCK: ReadonlySet<string> = new Set([
  "CrashLoopBackOff",
  "CreateContainerConfigError",
  "CreateContainerError",
  "ImagePullBackOff",
  "InvalidImageName",
  "RunContainerError",
]);
/** Times have whole seconds: two times of the same moment may differ by one. */
const MOMENT_MS = 1_000;
const ROLES: readonly string[] = ["leader", "follower", "learner", "none"] satisfies readonly MemberRole[];

/**
 * @param started UIDs of pods that earlier passes saw started: once the process has ended, the pod does not show that
 */
export function podViewOf(pod: Pod, ordinal: number, started: ReadonlySet<string>): PodView {
  const { metadata = {}, spec, status } = pod;
  const uid = metadata.uid ?? "";
  const container = status?.containerStatuses?.find(({ name }) => name === MEMBER);
  const created = timeOf(metadata.creationTimestamp) ?? 0;
  const ready = conditionOf(pod, "Ready");
  const isReady = ready?.status === "True";
  const readyChange = timeOf(ready?.lastTransitionTime) ?? created;
  const runningSince = timeOf(container?.state?.running?.startedAt);
  const isStarted = container?.started === true;
  const role = metadata.labels?.[ROLE_LABEL] ?? "";
  const lastExit = lastExitOf(container);
  return {
    ordinal,
    uid,
    resourceVersion: metadata.resourceVersion ?? "",
    revision: metadata.labels?.["controller-revision-hash"] ?? "",
    version: metadata.annotations?.[VERSION] ?? "",
    created,
    readySince: isReady ? readyChange : null,
    unreadySince: isReady ? null : readyChange,
    terminating: metadata.deletionTimestamp !== undefined,
    scheduled: spec?.nodeName !== undefined,
    node: spec?.nodeName ?? null,
    runningSince: runningSince ?? null,
    notRunningSince: runningSince === undefined ? endOf(container, created) : null,
    started: isStarted,
    everStarted: isStarted || started.has(uid) || wasReady(pod),
    stuck: STUCK.has(container?.state?.waiting?.reason ?? ""),
    restarts: container?.restartCount ?? 0,
    lastExit,
    failedExit: lastExit?.exitCode === 0 ? null : lastExit,
    role: ROLES.includes(role) ? (role as MemberRole) : null,
    term: numberOf(metadata.annotations?.[TERM]),
  };
}

/** RFC 3339 to milliseconds since 1970. */
export function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? undefined : time;
}

/** @returns null for text that is not a whole number */
export function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}

function conditionOf({ status }: Pod, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** When the last process ended; if there was none, when the pod was created. */
function endOf(container: Wire<V1ContainerStatus> | undefined, created: number): number {
  const ended = container?.state?.terminated ?? container?.lastState?.terminated;
  return timeOf(ended?.finishedAt) ?? created;
}

function lastExitOf(container: Wire<V1ContainerStatus> | undefined): ProcessExit | null {
  const ended = container?.state?.terminated ?? container?.lastState?.terminated;
  const at = timeOf(ended?.finishedAt);
  if (ended === undefined || at === undefined) {
    return null;
  }
  return { reason: ended.reason ?? "Error", exitCode: ended.exitCode, at };
}

/** Readiness begins as false when the pod is set up. A later change shows that it was true before. */
function wasReady(pod: Pod): boolean {
  const [ready, initialized] = [conditionOf(pod, "Ready"), conditionOf(pod, "Initialized")];
  const [changed, begun] = [timeOf(ready?.lastTransitionTime), timeOf(initialized?.lastTransitionTime)];
  return ready?.status === "True" || (changed !== undefined && begun !== undefined && changed - begun > MOMENT_MS);
}
