/**
 * Writes for the steps of the membership lane. Each step is one write, after one more read if the write itself cannot
 * check.
 */
import { randomUUID } from "node:crypto";
import { isKubeError, type KubeError } from "../kube/index.ts";
import { MemberError, type Owner } from "../members/index.ts";
import {
  CLUSTER_ID,
  durableMetadata,
  holdsVolume,
  MEMBER_ID,
  ownerSecretName,
  readVolumes,
  setReference,
  textsOf,
} from "../observe/index.ts";
import type { Action } from "../plan/index.ts";
import { namesOf } from "../render/index.ts";
import {
  beginRecovery,
  commitRecovery,
  createRecoveryPod,
  deleteRecoveryPod,
  endRecovery,
  noteRecovery,
} from "./recovery.ts";
import { PlanExpired, versionOf, type Writing } from "./writing.ts";

/**
 * Remembers an eviction that a disruption budget refuses, a transfer that fails, and a member that has handed over its
 * leadership.
 * @throws KubeError, MemberError, PlanExpired
 */
export async function doStep(writing: Writing, action: Action): Promise<void> {
  switch (action.kind) {
    case "create-set":
      return await createSet(writing, action.replicas);
    case "delete-set":
      return await deleteSet(writing, action);
    case "scale-set": {
      const { replicas, resourceVersion } = action;
      const uid = writing.observation.observed.set?.uid ?? "";
      await writing.client.patch(setReference(writing.cluster), { uid, resourceVersion }, { spec: { replicas } });
      return;
    }
    case "create-identity":
      return await createIdentity(writing, action);
    case "bootstrap":
      return await bootstrap(writing, action);
    case "add-slot":
      return await writing.members.addSlot(writing.leader, action.name, action.ifConfigIndex);
    case "promote":
      return await writing.members.promote(writing.leader, action.ids, action.ifConfigIndex);
    case "remove":
      return await writing.members.remove(writing.leader, action.ids, action.ifConfigIndex);
    case "transfer":
      return await transfer(writing, action);
    case "evict":
      return await evict(writing, action);
    case "delete-pod":
      return await writing.client.remove(writing.pod(action), versionOf(action));
    case "delete-claim":
      return await writing.client.remove(writing.claim(action), versionOf(action));
    case "begin-recovery":
      return await beginRecovery(writing, action);
    case "note-recovery":
      return await noteRecovery(writing, action.note);
    case "commit-recovery":
      return await commitRecovery(writing, action);
    case "end-recovery":
      return await endRecovery(writing, action);
    case "create-recovery-pod":
      return await createRecoveryPod(writing, action);
    case "delete-recovery-pod":
      return await deleteRecoveryPod(writing, action);
    case "hand-over-claim": {
      const annotations = { [CLUSTER_ID]: action.clusterId, [MEMBER_ID]: String(action.memberId) };
      await writing.client.patch(writing.claim(action), versionOf(action), { metadata: { annotations } });
      return;
    }
  }
}

/** Reasons why a member refuses to found a cluster from its backup. */
const BACKUP_FAILURES: ReadonlySet<string> = new Set(["BACKUP_REFUSED", "BACKUP_STORE_UNAVAILABLE"]);

/** A member has not finished founding the cluster from a backup, or cannot do it. The plan waits. */
export class RestorePending extends Error {
  override readonly name = "RestorePending";
  /** Null while the restore continues. */
  readonly failure: string | null;

  constructor(failure: string | null) {
    super(failure ?? "the member restores the backup");
    this.failure = failure;
  }
}

type ActionOf<Kind extends Action["kind"]> = Extract<Action, { kind: Kind }>;

/** An apply creates a set or changes it, so this checks just before that no set exists. The plan is young. */
async function createSet(writing: Writing, replicas: number): Promise<void> {
  const reference = setReference(writing.cluster);
  const { set } = writing.observation;
  if (set === null || (await writing.client.get(reference)) !== null) {
    throw new PlanExpired("the set already exists");
  }
  await writing.client.apply(reference, { ...set, spec: { ...set.spec, replicas } });
}

/**
 * Deleting the set deletes its pods. This checks again that no volume is bound, because a newly bound claim does not
 * change the set.
 */
async function deleteSet(writing: Writing, action: ActionOf<"delete-set">): Promise<void> {
  const { client, cluster, observation } = writing;
  if (holdsVolume(await readVolumes(client, cluster, observation.reading.set))) {
    throw new PlanExpired("a volume has been bound since");
  }
  await writing.client.remove(setReference(cluster), versionOf(action));
}

/** This create decides which operator's founder founds the cluster: the second of two gets a conflict. */
async function createIdentity(writing: Writing, action: ActionOf<"create-identity">): Promise<void> {
  const { cluster, client } = writing;
  const metadata = durableMetadata(cluster, namesOf(cluster).identity);
  const { clusterId = randomUUID(), founder, founderIncarnation } = action;
  const data = { clusterId, founder, founderIncarnation };
  const reference = writing.reference("ConfigMap", metadata.name ?? "");
  await client.create(reference, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
}

async function bootstrap(writing: Writing, action: ActionOf<"bootstrap">): Promise<void> {
  const { addresses } = writing.observation;
  const member = addresses.get(action.ordinal);
  const owner = ownerOf(writing);
  if (member === undefined) {
    throw new PlanExpired("the founder is no longer reachable");
  }
  const { clusterId, incarnation } = action;
  try {
    await writing.members.bootstrap(member, { clusterId, incarnation, owner });
  } catch (error) {
    if (writing.cluster.spec.restoreFrom === undefined || !(error instanceof MemberError)) {
      throw error;
    }
    noteRestore(writing, action, error);
  }
}

/** @throws RestorePending if the restore continues or fails; otherwise the given error */
function noteRestore({ memory, observation }: Writing, action: ActionOf<"bootstrap">, error: MemberError): never {
  const isUnderWay = error.code === "DEADLINE_EXCEEDED";
  if (!isUnderWay && !BACKUP_FAILURES.has(error.reason)) {
    throw error;
  }
  const failure = isUnderWay ? null : error.details;
  memory.attempts = {
    ...memory.attempts,
    restore: { podUid: action.podUid, at: observation.observed.now, failure },
  };
  throw new RestorePending(failure);
}

/**
 * Content of the owner's Secret.
 * @throws Error that says what to do if the Secret is missing or incomplete
 */
export function ownerOf(writing: Writing): Owner {
  const { reading } = writing.observation;
  const { email, password, "api-key": apiKey } = textsOf(reading.owner?.data);
  if (email === undefined || password === undefined || apiKey === undefined) {
    const name = ownerSecretName(writing.cluster);
    const source = writing.cluster.spec.access.ownerSecretRef?.name;
    if (reading.owner !== null) {
      throw new Error(
        `Secret ${name} does not hold email, password and api-key: delete it, and the operator creates it again`,
      );
    }
    throw new Error(
      source === undefined
        ? `Secret ${name} is missing`
        : `Secret ${name} is missing, and the operator creates it from Secret ${source}: check that there is a Secret ${source}`,
    );
  }
  return { email, password, apiKey };
}

async function transfer(writing: Writing, { targetId, ifTerm }: ActionOf<"transfer">): Promise<void> {
  const { memory } = writing;
  try {
    await writing.members.transfer(writing.leader, targetId, ifTerm);
    const { configuration, now } = writing.observation.observed;
    const handover = configuration === null ? null : { memberId: configuration.leaderId, at: now };
    memory.attempts = { ...memory.attempts, failedTransfers: 0, handover };
  } catch (error) {
    memory.attempts = { ...memory.attempts, failedTransfers: memory.attempts.failedTransfers + 1 };
    throw error;
  }
}

async function evict(writing: Writing, action: ActionOf<"evict">): Promise<void> {
  const { client, memory } = writing;
  const { uid, resourceVersion } = versionOf(action);
  // Checked just before, because a stale eviction that reaches the API server blocks the budget for two minutes.
  const pod = await client.get(writing.pod(action));
  if (pod?.metadata?.resourceVersion !== resourceVersion) {
    throw new PlanExpired("the pod has changed since the plan was made");
  }
  try {
    await writing.client.evict(writing.pod(action), { uid });
    memory.attempts = { failedTransfers: 0, refusedEviction: null, handover: null };
  } catch (error) {
    if (isKubeError(error, "throttled")) {
      memory.attempts = {
        ...memory.attempts,
        refusedEviction: { podUid: action.uid, at: writing.observation.observed.now },
      };
    }
    throw error;
  }
}

/** @returns whether a disruption budget refused the eviction: then the plan waits, and nothing is wrong */
export function isRefusedEviction(action: Action, error: unknown): error is KubeError {
  return action.kind === "evict" && isKubeError(error, "throttled");
}
