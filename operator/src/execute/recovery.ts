/** Writes for the recovery of a lost quorum. */
import { randomUUID } from "node:crypto";
import { backupPlanOf, preconditionOf, RECOVERY, RECOVERY_ATTEMPT, RECOVERY_STAGE } from "../observe/index.ts";
import { type Action, RECOVER_QUORUM, type RecoveryNote } from "../plan/index.ts";
import { namesOf, namespaceOf, recoveryPodName, renderRecoveryPod } from "../render/index.ts";
import { type PlanExecution, PlanExpired } from "./plan-execution.ts";

type ActionOf<Kind extends Action["kind"]> = Extract<Action, { kind: Kind }>;

/** @throws KubeError, PlanExpired */
export async function noteRecovery(execution: PlanExecution, note: RecoveryNote): Promise<void> {
  const metadata = { annotations: { [RECOVERY]: JSON.stringify(note) } };
  const identity = identityOf(execution);
  await execution.client.patch(identity.reference, identity.precondition, { metadata });
}

/** Chooses the id of the new cluster once; every later step repeats it. */
export async function beginRecovery(execution: PlanExecution, { note }: ActionOf<"begin-recovery">): Promise<void> {
  await noteRecovery(execution, { ...note, clusterId: randomUUID() });
}

/**
 * One write: afterwards, the volumes of all other members belong to a former cluster. The identity names no founder, so
 * no member founds a cluster with it.
 */
export async function commitRecovery(execution: PlanExecution, { note }: ActionOf<"commit-recovery">): Promise<void> {
  const { reference, precondition, annotations } = identityOf(execution);
  const noted = { ...annotations, [RECOVERY]: JSON.stringify(note) };
  await execution.client.replace(reference, precondition, [
    { path: "/metadata/annotations", value: noted },
    { path: "/data", value: { clusterId: note.clusterId, founder: "-", founderIncarnation: "-" } },
  ]);
}

/** Removes the annotation first: a later loss of the quorum must not find a request that was already answered. */
export async function endRecovery(execution: PlanExecution, { note }: ActionOf<"end-recovery">): Promise<void> {
  const { cluster } = execution;
  const { name, annotations } = cluster.metadata;
  if (annotations?.[RECOVER_QUORUM] !== undefined) {
    const reference = { kind: "CoordinationCluster", namespace: namespaceOf(cluster), name } as const;
    await execution.client.patch(reference, preconditionOf(cluster), {
      metadata: { annotations: { [RECOVER_QUORUM]: null } },
    });
  }
  await noteRecovery(execution, note);
}

export async function createRecoveryPod(
  execution: PlanExecution,
  action: ActionOf<"create-recovery-pod">,
): Promise<void> {
  const { ordinal, stage, attempt, lastIndex } = action;
  if (stage === "recover" && lastIndex === undefined) {
    throw new PlanExpired("the last log index of the survivor is unknown");
  }
  const { set, backupStore } = execution.observation.reading;
  const archive = backupPlanOf(execution.cluster, set, backupStore)?.store ?? null;
  const pod = renderRecoveryPod(execution.cluster, {
    ordinal,
    work: lastIndex === undefined ? { archive } : { clusterId: attempt, lastIndex },
    annotations: { [RECOVERY_ATTEMPT]: attempt, [RECOVERY_STAGE]: stage },
  });
  await execution.client.create(execution.reference("Pod", recoveryPodName(execution.cluster, ordinal)), pod);
}

export async function deleteRecoveryPod(
  execution: PlanExecution,
  action: ActionOf<"delete-recovery-pod">,
): Promise<void> {
  const { ordinal, uid, resourceVersion } = action;
  const reference = execution.reference("Pod", recoveryPodName(execution.cluster, ordinal));
  await execution.client.remove(reference, { uid, resourceVersion });
}

function identityOf(execution: PlanExecution) {
  const { identity } = execution.observation.reading;
  if (identity === null) {
    throw new PlanExpired("the identity is gone");
  }
  const reference = execution.reference("ConfigMap", namesOf(execution.cluster).identity);
  return { reference, precondition: preconditionOf(identity), annotations: identity.metadata?.annotations ?? {} };
}
