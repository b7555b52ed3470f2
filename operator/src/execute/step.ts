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
import { type PlanExecution, PlanExpired, versionOf } from "./plan-execution.ts";
import {
  beginRecovery,
  commitRecovery,
  createRecoveryPod,
  deleteRecoveryPod,
  endRecovery,
  noteRecovery,
} from "./recovery.ts";

/**
 * Remembers an eviction that a disruption budget refuses, a transfer that fails, and a member that has handed over its
 * leadership.
 * @throws KubeError, MemberError, PlanExpired
 */
export async function doStep(execution: PlanExecution, action: Action): Promise<void> {
  switch (action.kind) {
    case "create-set":
      return await createSet(execution, action.replicas);
    case "delete-set":
      return await deleteSet(execution, action);
    case "scale-set": {
      const { replicas, resourceVersion } = action;
      const uid = execution.observation.observed.set?.uid ?? "";
      await execution.client.patch(setReference(execution.cluster), { uid, resourceVersion }, { spec: { replicas } });
      return;
    }
    case "create-identity":
      return await createIdentity(execution, action);
    case "bootstrap":
      return await bootstrap(execution, action);
    case "add-slot":
      return await execution.members.addSlot(execution.leader, action.name, action.ifConfigIndex);
    case "promote":
      return await execution.members.promote(execution.leader, action.ids, action.ifConfigIndex);
    case "remove":
      return await execution.members.remove(execution.leader, action.ids, action.ifConfigIndex);
    case "transfer":
      return await transfer(execution, action);
    case "evict":
      return await evict(execution, action);
    case "delete-pod":
      return await execution.client.remove(execution.pod(action), versionOf(action));
    case "delete-claim":
      return await execution.client.remove(execution.claim(action), versionOf(action));
    case "begin-recovery":
      return await beginRecovery(execution, action);
    case "note-recovery":
      return await noteRecovery(execution, action.note);
    case "commit-recovery":
      return await commitRecovery(execution, action);
    case "end-recovery":
      return await endRecovery(execution, action);
    case "create-recovery-pod":
      return await createRecoveryPod(execution, action);
    case "delete-recovery-pod":
      return await deleteRecoveryPod(execution, action);
    case "hand-over-claim": {
      const annotations = { [CLUSTER_ID]: action.clusterId, [MEMBER_ID]: String(action.memberId) };
      await execution.client.patch(execution.claim(action), versionOf(action), { metadata: { annotations } });
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
async function createSet(execution: PlanExecution, replicas: number): Promise<void> {
  const reference = setReference(execution.cluster);
  const { set } = execution.observation;
  if (set === null || (await execution.client.get(reference)) !== null) {
    throw new PlanExpired("the set already exists");
  }
  await execution.client.apply(reference, { ...set, spec: { ...set.spec, replicas } });
}

/**
 * Deleting the set deletes its pods. This checks again that no volume is bound, because a newly bound claim does not
 * change the set.
 */
async function deleteSet(execution: PlanExecution, action: ActionOf<"delete-set">): Promise<void> {
  const { client, cluster, observation } = execution;
  if (holdsVolume(await readVolumes(client, cluster, observation.reading.set))) {
    throw new PlanExpired("a volume has been bound since");
  }
  await execution.client.remove(setReference(cluster), versionOf(action));
}

/** This create decides which operator's founder founds the cluster: the second of two gets a conflict. */
async function createIdentity(execution: PlanExecution, action: ActionOf<"create-identity">): Promise<void> {
  const { cluster, client } = execution;
  const metadata = durableMetadata(cluster, namesOf(cluster).identity);
  const { clusterId = randomUUID(), founder, founderIncarnation } = action;
  const data = { clusterId, founder, founderIncarnation };
  const reference = execution.reference("ConfigMap", metadata.name ?? "");
  await client.create(reference, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
}

async function bootstrap(execution: PlanExecution, action: ActionOf<"bootstrap">): Promise<void> {
  const { addresses } = execution.observation;
  const member = addresses.get(action.ordinal);
  const owner = ownerOf(execution);
  if (member === undefined) {
    throw new PlanExpired("the founder is no longer reachable");
  }
  const { clusterId, incarnation } = action;
  try {
    await execution.members.bootstrap(member, { clusterId, incarnation, owner });
  } catch (error) {
    if (execution.cluster.spec.restoreFrom === undefined || !(error instanceof MemberError)) {
      throw error;
    }
    noteRestore(execution, action, error);
  }
}

/** @throws RestorePending if the restore continues or fails; otherwise the given error */
function noteRestore({ memory, observation }: PlanExecution, action: ActionOf<"bootstrap">, error: MemberError): never {
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
export function ownerOf(execution: PlanExecution): Owner {
  const { reading } = execution.observation;
  const { email, password, "api-key": apiKey } = textsOf(reading.owner?.data);
  if (email === undefined || password === undefined || apiKey === undefined) {
    const name = ownerSecretName(execution.cluster);
    const source = execution.cluster.spec.access.ownerSecretRef?.name;
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

async function transfer(execution: PlanExecution, { targetId, ifTerm }: ActionOf<"transfer">): Promise<void> {
  const { memory } = execution;
  try {
    await execution.members.transfer(execution.leader, targetId, ifTerm);
    const { configuration, now } = execution.observation.observed;
    const handover = configuration === null ? null : { memberId: configuration.leaderId, at: now };
    memory.attempts = { ...memory.attempts, failedTransfers: 0, handover };
  } catch (error) {
    memory.attempts = { ...memory.attempts, failedTransfers: memory.attempts.failedTransfers + 1 };
    throw error;
  }
}

async function evict(execution: PlanExecution, action: ActionOf<"evict">): Promise<void> {
  const { client, memory } = execution;
  const { uid, resourceVersion } = versionOf(action);
  // Checked just before, because a stale eviction that reaches the API server blocks the budget for two minutes.
  const pod = await client.get(execution.pod(action));
  if (pod?.metadata?.resourceVersion !== resourceVersion) {
    throw new PlanExpired("the pod has changed since the plan was made");
  }
  try {
    await execution.client.evict(execution.pod(action), { uid });
    memory.attempts = { failedTransfers: 0, refusedEviction: null, handover: null };
  } catch (error) {
    if (isKubeError(error, "throttled")) {
      memory.attempts = {
        ...memory.attempts,
        refusedEviction: { podUid: action.uid, at: execution.observation.observed.now },
      };
    }
    throw error;
  }
}

/** @returns whether a disruption budget refused the eviction: then the plan waits, and nothing is wrong */
export function isRefusedEviction(action: Action, error: unknown): error is KubeError {
  return action.kind === "evict" && isKubeError(error, "throttled");
}
