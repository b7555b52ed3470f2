/**
 * Why pods of the set do not exist or have no node. An unscheduled pod shows its cause itself. For a pod or a volume
 * that was not created, only events show the cause: those of the set, and those of the claim. The operator reads events
 * only while something is missing, and then at intervals.
 */
import type { EventsV1Event } from "@kubernetes/client-node";
import { isKubeError, type KubeClient, type Wire } from "../kube/index.ts";
import type { CoordinationCluster, Obstacle } from "../plan/index.ts";
import { namesOf, namespaceOf } from "../render/index.ts";
import { clipped } from "../status/index.ts";
import type { Claim } from "./claim-view.ts";
import type { Causes, Memory } from "./memory.ts";
import { type Pod, timeOf } from "./pod-view.ts";
import type { Reading } from "./reader.ts";
import type { StatefulSet } from "./set-view.ts";

/** Kubernetes normally creates and schedules within this time. */
const GRACE_MS = 3_000;
/** Interval between reads of events while the same objects are missing. */
const EVENTS_READ_INTERVAL_MS = 10_000;
/** Leaves space for the surrounding text in a status message. */
const CAUSE_LENGTH_MAX = 700;
/** Reasons of volume controllers. The second is Kubernetes' own, if no storage class creates volumes. */
const OF_VOLUMES: readonly (string | undefined)[] = ["ProvisioningFailed", "FailedBinding"];
/** The set's controller puts its own words before those of the API server. */
const BEFORE_CAUSE = "failed error: ";

type Event = Wire<EventsV1Event>;

export interface ObstacleContext {
  readonly client: KubeClient;
  readonly cluster: CoordinationCluster;
  readonly reading: Reading;
  readonly memory: Memory;
  readonly now: number;
  /** Called when events cannot be read. The pass continues without a cause. */
  readonly onUnknown: (error: unknown) => void;
}

/** At most one obstacle for each ordinal, lowest first. */
export async function findObstacles(context: ObstacleContext): Promise<Obstacle[]> {
  const { reading, now, memory } = context;
  const missing = missingOf(context);
  const causes = await causesOf(context, missing);
  memory.causes = causes;
  const obstacles = new Map<number, Obstacle>();
  for (const [ordinal, pod] of reading.pods) {
    const cause = unscheduledCauseOf(pod, now);
    if (cause !== null) {
      obstacles.set(ordinal, { ordinal, reason: "PodNotScheduled", cause: clipped(cause, CAUSE_LENGTH_MAX) });
    }
  }
  // A volume that was not created explains why its pod has no node.
  for (const { key, ordinal } of missing) {
    const found = causes?.found.get(key);
    if (found !== undefined) {
      obstacles.set(ordinal, found);
    }
  }
  return [...obstacles.values()].toSorted((a, b) => a.ordinal - b.ordinal);
}

/** A pod that does not exist, or a claim without a volume. */
interface Missing {
  /** Stable for the same object. */
  readonly key: string;
  readonly ordinal: number;
  /** Null for a pod, because only the events of the set concern it. */
  readonly claim: Claim | null;
}

function missingOf({ reading, cluster }: ObstacleContext): Missing[] {
  const count = Math.min(reading.set?.spec?.replicas ?? 0, cluster.spec.replicas);
  const missing: Missing[] = [];
  for (let ordinal = 0; ordinal < count; ordinal++) {
    const claim = reading.claims.get(ordinal);
    if (!reading.pods.has(ordinal)) {
      missing.push({ key: `pod ${ordinal}`, ordinal, claim: null });
    } else if (claim !== undefined && isWithoutVolume(claim)) {
      missing.push({ key: `claim ${claim.metadata?.uid}`, ordinal, claim });
    }
  }
  return missing;
}

function isWithoutVolume({ metadata, status }: Claim): boolean {
  return metadata?.deletionTimestamp === undefined && status?.capacity === undefined;
}

/** @returns causes for objects that have been missing for long enough; null if there are none */
async function causesOf(context: ObstacleContext, missing: readonly Missing[]): Promise<Causes | null> {
  const { memory, now, onUnknown } = context;
  const since = new Map(missing.map(({ key }) => [key, memory.missingSince.get(key) ?? now]));
  memory.missingSince = since;
  const late = missing.filter(({ key }) => now - (since.get(key) ?? now) >= GRACE_MS);
  if (late.length === 0) {
    return null;
  }
  const of = late.map(({ key }) => key).join();
  const before = memory.causes;
  if (before?.of === of && now - before.at < EVENTS_READ_INTERVAL_MS) {
    return before;
  }
  try {
    return { at: now, of, found: await readCauses(context, late) };
  } catch (error) {
    // The operator has no right to read events, or the events are stored in a service that is unreachable.
    if (!isKubeError(error, "forbidden", "unavailable", "throttled")) {
      throw error;
    }
    onUnknown(error);
    return { at: now, of, found: new Map() };
  }
}

async function readCauses(context: ObstacleContext, late: readonly Missing[]): Promise<Causes["found"]> {
  const { set } = context.reading;
  const ofPods = late.filter(({ claim }) => claim === null);
  const events = ofPods.length === 0 || set === null ? [] : await eventsOf(context, set);
  const found = new Map<string, Obstacle>();
  for (const { key, ordinal } of ofPods) {
    const obstacle = obstacleToPod(events, context.cluster, ordinal);
    if (obstacle !== null) {
      found.set(key, obstacle);
    }
  }
  for (const { key, ordinal, claim } of late) {
    const failure = claim === null ? undefined : (await eventsOf(context, claim)).find(isOfVolume);
    if (failure !== undefined) {
      found.set(key, { ordinal, reason: "VolumeNotCreated", cause: clipped(failure.note ?? "", CAUSE_LENGTH_MAX) });
    }
  }
  return found;
}

/** Newest first. */
async function eventsOf({ client, cluster }: ObstacleContext, { metadata }: StatefulSet | Claim): Promise<Event[]> {
  const selector = `regarding.uid=${metadata?.uid}`;
  const { items } = await client.list<Event>("Event", namespaceOf(cluster), "", selector);
  return items.toSorted((a, b) => lastTimeOf(b) - lastTimeOf(a));
}

/** The last failure for this pod, unless the pod was created since then. */
function obstacleToPod(events: readonly Event[], cluster: CoordinationCluster, ordinal: number): Obstacle | null {
  const { set } = namesOf(cluster);
  const pod = `Pod ${set}-${ordinal} in StatefulSet ${set} `;
  const isCreated = ({ reason, note = "" }: Event): boolean =>
    reason === "SuccessfulCreate" && note.includes(`create ${pod}`);
  const isFailure = ({ reason, note = "" }: Event): boolean => reason === "FailedCreate" && note.includes(pod);
  const failure = events.find(isFailure);
  const created = events.find(isCreated);
  // Times have whole seconds. At equal times, the retry succeeded after the failure.
  if (failure === undefined || (created !== undefined && lastTimeOf(created) >= lastTimeOf(failure))) {
    return null;
  }
  const { note = "" } = failure;
  const isOfClaim = note.includes("create Claim ");
  const begin = note.indexOf(BEFORE_CAUSE);
  const cause = begin < 0 ? note : note.slice(begin + BEFORE_CAUSE.length);
  return { ordinal, reason: isOfClaim ? "VolumeNotCreated" : "PodNotCreated", cause: clipped(cause, CAUSE_LENGTH_MAX) };
}

function isOfVolume({ reason }: Event): boolean {
  return OF_VOLUMES.includes(reason);
}

function lastTimeOf({ series, deprecatedLastTimestamp, eventTime, metadata }: Event): number {
  const text = series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? metadata?.creationTimestamp;
  return timeOf(text ?? undefined) ?? 0;
}

function unscheduledCauseOf({ metadata, status }: Pod, now: number): string | null {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  const since = timeOf(scheduled?.lastTransitionTime) ?? now;
  const isObstacle =
    scheduled?.status === "False" && metadata?.deletionTimestamp === undefined && now - since >= GRACE_MS;
  return isObstacle ? (scheduled.message ?? scheduled.reason ?? "") : null;
}
