/** Steps of the recovery of a lost quorum, as writes. */
import { randomUUID } from "node:crypto";
import { backupPlanOf, preconditionOf, RECOVERY, RECOVERY_ATTEMPT, RECOVERY_STAGE } from "../observe/index.ts";
import { type Action, RECOVER_QUORUM, type RecoveryNote } from "../plan/index.ts";
import { namesOf, namespaceOf, recoveryPodName, renderRecoveryPod } from "../render/index.ts";
import { PlanExpired, type Writing } from "./writing.ts";

type ActionOf<Kind extends Action["kind"]> = Extract<Action, { kind: Kind }>;

/** Raises KubeError and PlanExpired. */
export async function noteRecovery(writing: Writing, note: RecoveryNote): Promise<void> {
  const metadata = { annotations: { [RECOVERY]: JSON.stringify(note) } };
  const identity = identityOf(writing);
  await writing.client.patch(identity.reference, identity.precondition, { metadata });
}

/** The id of the new cluster is made here, once: every later step repeats it. */
export async function beginRecovery(writing: Writing, { note }: ActionOf<"begin-recovery">): Promise<void> {
  await noteRecovery(writing, { ...note, clusterId: randomUUID() });
}

/**
 * One write: from then on the volumes of all others are those of a former cluster. No member founds a cluster by this identity,
 * since it names no founder.
 */
export async function commitRecovery(writing: Writing, { note }: ActionOf<"commit-recovery">): Promise<void> {
  const { reference, precondition, annotations } = identityOf(writing);
  const noted = { ...annotations, [RECOVERY]: JSON.stringify(note) };
  await writing.client.replace(reference, precondition, [
    { path: "/metadata/annotations", value: noted },
    { path: "/data", value: { clusterId: note.clusterId, founder: "-", founderIncarnation: "-" } },
  ]);
}

/** The annotation first: a request that was answered must never be found again, when the quorum is lost another time. */
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
    throw new PlanExpired("it is not known up to which entry the survivor has its log");
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
