/** Operations that belong to no feature: namespaces, time, stored answers, and the rules of the cluster. */

import {
  type ApplyContext,
  applySetClusterVersion,
  type Checkpoint,
  CoordinationError,
  clientOperation,
  clusterStep,
  count,
  ONE_REQUEST,
  readNamespace,
  smallCount,
  text,
  writeNamespace,
} from "./core/index.ts";

declare module "./core/results.ts" {
  interface StoredResults {
    readonly "create-namespace": CreateNamespaceResult;
  }
}

export interface CreateNamespaceResult {
  readonly kind: "create-namespace";
  readonly createdAtMs: number;
  readonly revision: number;
}

export interface CreateNamespace {
  readonly kind: "create-namespace";
  readonly namespace: string;
}

/** Carries only its envelope, so that windows also end when there are no writes (S21). */
export interface Tick {
  readonly kind: "tick";
}

/** Drops each generation of stored answers whose windows have all ended. */
export interface DropStoredAnswers {
  readonly kind: "drop-replays";
}

/** Carries the digest of the cluster at a checkpoint. A member with another digest must stop serving (P44). */
export interface CheckDigest extends Checkpoint {
  readonly kind: "check-digest";
}

/** Allows all entries of the next cluster version: every member can apply them. Any other version changes nothing. */
export interface SetClusterVersion {
  readonly kind: "set-cluster-version";
  readonly version: number;
}

export const createNamespaceOperation = clientOperation<CreateNamespace, CreateNamespaceResult>({
  kind: "create-namespace",
  number: 1,
  access: "admin",
  grows: true,
  usage: ONE_REQUEST,
  fields: { namespace: text },
  answer: { number: 1, fields: { createdAtMs: count } },
  apply: applyCreateNamespace,
});

export const tickOperation = clusterStep<Tick>({
  kind: "tick",
  number: 6,
  fields: {},
  apply: () => undefined,
});

export const dropStoredAnswersOperation = clusterStep<DropStoredAnswers>({
  kind: "drop-replays",
  number: 7,
  fields: {},
  apply: (context) => context.answerLedger.dropEnded(context, context.tickMs),
});

export const checkDigestOperation = clusterStep<CheckDigest>({
  kind: "check-digest",
  number: 10,
  fields: { index: count, digest: smallCount },
  apply: (context, checkpoint) => {
    context.leaderCheckpoint = checkpoint;
  },
});

export const setClusterVersionOperation = clusterStep<SetClusterVersion>({
  kind: "set-cluster-version",
  number: 11,
  fields: { version: smallCount },
  apply: ({ transaction }, { version }) => applySetClusterVersion(transaction, version),
});

function applyCreateNamespace(context: ApplyContext, { namespace }: CreateNamespace): CreateNamespaceResult {
  const former = readNamespace(context.transaction, namespace);
  if (former !== undefined && former.deleteRevision > 0) {
    const message = `namespace "${namespace}" is being deleted; create it again when nothing of it is left`;
    throw new CoordinationError("NAMESPACE_DELETING", message);
  }
  if (former !== undefined) {
    throw new CoordinationError("NAMESPACE_EXISTS", `namespace "${namespace}" exists already`);
  }
  context.requireQuota(namespace.length);
  context.countData(namespace.length);
  const revision = context.nextRevision();
  writeNamespace(context.transaction, namespace, {
    createdAtMs: context.wallMs,
    createRevision: revision,
    deleteRevision: 0,
  });
  return { kind: "create-namespace", createdAtMs: context.wallMs, revision };
}
