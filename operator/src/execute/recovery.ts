/** Writes for the recovery of a lost quorum. */
import { randomUUID } from "node:crypto";
import { backupPlanOf, preconditionOf, RECOVERY, RECOVERY_ATTEMPT, RECOVERY_STAGE } from "../observe/index.ts";
import { type Action, RECOVER_QUORUM, type RecoveryNote } from "../plan/index.ts";
import { namesOf, namespaceOf, recoveryPodName, renderRecoveryPod } from "../render/index.ts";
import { PlanExpired, type Writing } from "./writing.ts";

type ActionOf<Kind extends Action["kind"]> = Extract<Action, { kind: Kind }>;

/** @throws KubeError, PlanExpired */
export async function noteRecovery(writing: Writing, note: RecoveryNote): Promise<void> {
  const metadata = { annotations: { [RECOVERY]: JSON.stringify(note) } };
  const identity = identityOf(writing);
  await writing.client.patch(identity.reference, identity.precondition, { metadata });
}

/** Chooses the id of the new cluster once; every later step repeats it. */
export async function beginRecovery(writing: Writing, { note }: ActionOf<"begin-recovery">): Promise<void> {
  await noteRecovery(writing, { ...note, clusterId: randomUUID() });
}

/**
 * One write: afterwards, the volumes of all other members belong to a former cluster. The identity names no founder, so
 * no member founds a cluster with it.
 */
export async function commitRecovery(writing: Writing, { note }: ActionOf<"commit-recovery">): Promise<void> {
  const { reference, precondition, annotations } = identityOf(writing);
  const noted = { ...annotations, [RECOVERY]: JSON.stringify(note) };
  await writing.client.replace(reference, precondition, [
    { path: "/metadata/annotations", value: noted },
    { path: "/data", value: { clusterId: note.clusterId, founder: "-", founderIncarnation: "-" } },
  ]);
}

/** Removes the annotation first: a later loss of the quorum must not find a request that was already answered. */
export async function endRecovery(writing: Writing, { note }: ActionOf<"end-recovery">): Promise<void> {
  const { cluster } = writing;
  const { name, annotations } = cluster.metadata;
  if (annotations?.[RECOVER_QUORUM] !== undefined) {
    const reference = { kind: "CoordinationCluster", namespace: namespaceOf(cluster), name } as const;
    await writing.client.patch(reference, preconditionOf(cluster), {
      metadata: { annotations: { [RECOVER_QUORUM]: null } },
    });
  }
  await noteRecovery(writing, note);
}

export async function createRecoveryPod(writing: Writing, action: ActionOf<"create-recovery-pod">): Promise<void> {
  const { ordinal, stage, attempt, lastIndex } = action;
  if (stage === "recover" && lastIndex === undefined) {
    throw new PlanExpired("the last log index of the survivor is unknown");
  }
  const { set, backupStore } = writing.observation.reading;
  const archive = backupPlanOf(writing.cluster, set, backupStore)?.store ?? null;
  const pod = renderRecoveryPod(writing.cluster, {
    ordinal,
    work: lastIndex === undefined ? { archive } : { clusterId: attempt, lastIndex },
    annotations: { [RECOVERY_ATTEMPT]: attempt, [RECOVERY_STAGE]: stage },
  });
  await writing.client.create(writing.reference("Pod", recoveryPodName(writing.cluster, ordinal)), pod);
}

export async function deleteRecoveryPod(writing: Writing, action: ActionOf<"delete-recovery-pod">): Promise<void> {
  const { ordinal, uid, resourceVersion } = action;
  const reference = writing.reference("Pod", recoveryPodName(writing.cluster, ordinal));
  await writing.client.remove(reference, { uid, resourceVersion });
}

function identityOf(writing: Writing) {
  const { identity } = writing.observation.reading;
  if (identity === null) {
    throw new PlanExpired("the identity is gone");
  }
  const reference = writing.reference("ConfigMap", namesOf(writing.cluster).identity);
  return { reference, precondition: preconditionOf(identity), annotations: identity.metadata?.annotations ?? {} };
}
