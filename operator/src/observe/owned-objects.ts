/**
 * Checks the owned objects other than pods: which differ from what is wanted, which belong to others, and which are no
 * longer wanted. There are many, so the check runs at intervals and after changes.
 */
import {
  isKind,
  isKubeError,
  type Kind,
  type KubeClient,
  type KubeObject,
  type Reads,
  type Reference,
} from "../kube/index.ts";
import type { CoordinationCluster, Refusal } from "../plan/index.ts";
import { type Manifest, namesOf, namespaceOf, selectorOf } from "../render/index.ts";
import type { Problem } from "../status/index.ts";
import { type DesiredWrite, matchesManifest, objectKey, preconditionOf, signed } from "./desired-write.ts";
import { digestOf } from "./difference.ts";
import { driftCorrectionOf, undoneBy } from "./drift-correction.ts";
import type { Memory } from "./memory.ts";

/** Interval of the check if nothing triggers it. */
const CHECK_INTERVAL_MS = 60_000;

export interface OwnedObjectsFindings {
  readonly desiredWrites: ReadonlyMap<string, DesiredWrite>;
  readonly refusal: Refusal | null;
  readonly monitoringProblem: Problem | null;
  /** Why there is no certificate of cert-manager. */
  readonly tlsProblem: Problem | null;
}

interface OwnedObjectsContext {
  readonly client: KubeClient;
  readonly reads: Reads;
  readonly cluster: CoordinationCluster;
  /** Without the set and the disruption budget, which every pass reads. */
  readonly manifests: readonly Manifest[];
  readonly memory: Memory;
  readonly now: number;
}

/** @throws KubeError */
export async function observeOwnedObjects(context: OwnedObjectsContext): Promise<OwnedObjectsFindings> {
  const { cluster, manifests, memory, now } = context;
  const digest = digestOf(manifests);
  const { ownedObjects } = memory;
  if (ownedObjects !== null && ownedObjects.digest === digest && now - ownedObjects.at < CHECK_INTERVAL_MS) {
    return { desiredWrites: new Map(), refusal: null, monitoringProblem: null, tlsProblem: null };
  }
  const wanted = manifests.map((manifest) => ({
    manifest: signed(manifest),
    reference: referenceOf(cluster, manifest),
  }));
  const surplus = optionalObjects(cluster).filter(
    (reference) => !wanted.some((each) => objectKey(each.reference) === objectKey(reference)),
  );
  const found = await Promise.all([
    ...wanted.map(({ reference, manifest }) => observeObject(context, reference, manifest)),
    ...surplus.map((reference) => observeObject(context, reference, null)),
  ]);
  const desiredWrites = new Map(
    found.flatMap(({ desiredWrite }) =>
      desiredWrite === null ? [] : [[objectKey(desiredWrite.reference), desiredWrite] as const],
    ),
  );
  const refusal = found.find((each) => each.refusal !== null)?.refusal ?? null;
  const problems = found.map(({ problem }) => problem).filter((problem) => problem !== null);
  const tlsProblem = problems.find(({ of }) => of === "tls") ?? null;
  const monitoringProblem = problems.find(({ of }) => of === "monitoring") ?? null;
  // The next pass checks repaired objects and foreign objects again; these may be gone.
  const isWell = desiredWrites.size === 0 && refusal === null && problems.length === 0;
  memory.ownedObjects = isWell ? { digest, at: now } : null;
  return { desiredWrites, refusal, monitoringProblem, tlsProblem };
}

/** @returns why the cluster may not write the object; null if it may */
export function conflictOf(
  cluster: CoordinationCluster,
  { kind, name }: Reference,
  live: KubeObject | null,
): Refusal | null {
  if (live === null) {
    return null;
  }
  const { ownerReferences = [], labels = {} } = live.metadata ?? {};
  const controller = ownerReferences.find((owner) => owner.controller === true);
  const isOurs =
    controller === undefined
      ? Object.entries(selectorOf(cluster)).every(([label, value]) => labels[label] === value)
      : controller.uid === cluster.metadata.uid;
  return isOurs
    ? null
    : {
        reason: "NameConflict",
        message:
          `${kind} ${name} already exists, and belongs to ${controller?.kind ?? "no other object"} ${controller?.name ?? ""}`.trim(),
        keepsReconciling: false,
      };
}

interface Finding {
  readonly desiredWrite: DesiredWrite | null;
  readonly refusal: Refusal | null;
  readonly problem: ProblemOfKind | null;
}

/** Kinds that Kubernetes serves only with another program. */
type OptionalPart = "tls" | "monitoring";
interface ProblemOfKind extends Problem {
  readonly of: OptionalPart;
}
const OPTIONAL_KINDS: ReadonlyMap<Kind, OptionalPart> = new Map([
  ["Certificate", "tls"],
  ["PodMonitor", "monitoring"],
  ["PrometheusRule", "monitoring"],
]);

const NOTHING: Finding = { desiredWrite: null, refusal: null, problem: null };

async function observeObject(
  { client, reads, cluster, memory }: OwnedObjectsContext,
  reference: Reference,
  manifest: Manifest | null,
): Promise<Finding> {
  let live: KubeObject | null;
  try {
    live = await reads.get(reference);
  } catch (error) {
    if (!isKubeError(error, "unknown-kind", "forbidden")) {
      throw error;
    }
    if (manifest === null) {
      return NOTHING; // If the object is not wanted, its kind does not matter.
    }
    const of = OPTIONAL_KINDS.get(reference.kind);
    if (of === undefined) {
      throw error;
    }
    return { ...NOTHING, problem: { of, ...unserved(reference, error.kind) } };
  }
  const refusal = conflictOf(cluster, reference, live);
  if (refusal !== null) {
    return manifest === null ? NOTHING : { ...NOTHING, refusal };
  }
  if (manifest === null) {
    const desiredWrite =
      live === null ? null : ({ how: "remove", reference, precondition: preconditionOf(live) } as const);
    return { ...NOTHING, desiredWrite };
  }
  if (live !== null && matchesManifest(live, manifest)) {
    return { ...NOTHING, desiredWrite: await driftCorrectionOf(client, memory, reference, live, manifest) };
  }
  return { ...NOTHING, desiredWrite: { how: "apply", reference, manifest, undoes: undoneBy(live, manifest) } };
}

function unserved({ kind }: Reference, why: string): Problem {
  return why === "forbidden"
    ? { reason: `${kind}Forbidden`, message: `the operator may not read objects of kind ${kind}` }
    : { reason: `${kind}NotServed`, message: `the API server does not know kind ${kind}: install its definition` };
}

/** Objects that the specification can disable again. */
function optionalObjects(cluster: CoordinationCluster): Reference[] {
  const names = namesOf(cluster);
  const namespace = namespaceOf(cluster);
  const named: [Kind, string][] = [
    ["Service", names.leader],
    ["NetworkPolicy", names.set],
    ["Certificate", names.certificate],
    ["PodMonitor", names.set],
    ["PrometheusRule", names.set],
  ];
  return named.map(([kind, name]) => ({ kind, namespace, name }));
}

function referenceOf(cluster: CoordinationCluster, { kind = "", metadata }: Manifest): Reference {
  if (!isKind(kind)) {
    throw new Error(`objects of kind ${kind} are rendered, but not known to the check of owned objects`);
  }
  return { kind, namespace: namespaceOf(cluster), name: metadata?.name ?? "" };
}
