/**
 * What the operator would write if nothing held it: each object that is not as it is wanted, and how it becomes so. The
 * planner decides when.
 */
import type { V1OwnerReference } from "@kubernetes/client-node";
import type { KubeObject, Part, Precondition, Reference, Wire } from "../kube/index.ts";
import type { CoordinationCluster } from "../plan/index.ts";
import { labelsOf, type Manifest, metadataOf, namespaceOf } from "../render/index.ts";
import { APPLIED } from "./annotations.ts";
import { covers, digestOf } from "./difference.ts";

export type Wish =
  /** Server-side apply. With a resource version in its metadata it fails if the object has changed. */
  | {
      readonly how: "apply";
      readonly reference: Reference;
      readonly manifest: Manifest;
      readonly undoes: string | null;
    }
  /** Some parts of an object become what is wanted, and nothing else stays in them. */
  | {
      readonly how: "replace";
      readonly reference: Reference;
      readonly precondition: Precondition;
      readonly parts: readonly Part[];
      /** What others did, as a text for people; null if they did nothing. */
      readonly undoes: string | null;
    }
  /** Made once: what is there already stays. */
  | { readonly how: "create"; readonly reference: Reference; readonly manifest: () => Manifest }
  | {
      readonly how: "own";
      readonly reference: Reference;
      readonly precondition: Precondition;
      readonly owners: readonly Wire<V1OwnerReference>[];
    }
  | {
      readonly how: "note";
      readonly reference: Reference;
      readonly precondition: Precondition;
      readonly annotations: Record<string, string>;
    }
  | { readonly how: "remove"; readonly reference: Reference; readonly precondition: Precondition };

/** Wishes by kind and name, in the order in which they are to come true. */
export type Wishes = ReadonlyMap<string, Wish>;

export function wishKey({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind}/${name}`;
}

export function preconditionOf({ metadata }: KubeObject): Precondition {
  return { uid: metadata?.uid ?? "", resourceVersion: metadata?.resourceVersion ?? "" };
}

/** The manifest with the digest of what it says. */
export function signed(manifest: Manifest): Manifest {
  const { metadata = {} } = manifest;
  const annotations = { ...metadata.annotations, [APPLIED]: digestOf(manifest) };
  return { ...manifest, metadata: { ...metadata, annotations } };
}

/** @returns whether the object is what this manifest made of it, and nothing has been taken away since */
export function isAsWished(live: KubeObject | null, manifest: Manifest): boolean {
  return live !== null && covers(live, manifest);
}

/**
 * Of an object that outlives its cluster as the volumes do. Owners of other kinds are left alone.
 *
 * @returns null if it is owned as the specification asks
 */
export function ownership(cluster: CoordinationCluster, reference: Reference, live: KubeObject | null): Wish | null {
  if (live === null || live.metadata?.deletionTimestamp !== undefined) {
    return null;
  }
  const present = live.metadata?.ownerReferences ?? [];
  const others = present.filter(({ uid }) => uid !== cluster.metadata.uid);
  const isOwned = present.length > others.length;
  const isWanted = cluster.spec.storage.whenDeleted === "Delete";
  return isOwned === isWanted
    ? null
    : {
        how: "own",
        reference,
        precondition: preconditionOf(live),
        owners: isWanted ? [...others, ownerOf(cluster)] : others,
      };
}

/** Metadata of an object that has an owner only while volumes go with the cluster. */
export function durableMetadata(cluster: CoordinationCluster, name: string): NonNullable<Manifest["metadata"]> {
  const isOwned = cluster.spec.storage.whenDeleted === "Delete";
  const labels = labelsOf(cluster);
  const namespace = namespaceOf(cluster);
  return { name, namespace, labels, ...(isOwned ? { ownerReferences: [ownerOf(cluster)] } : {}) };
}

/** Plain: claims may have a set as their controller. */
function ownerOf(cluster: CoordinationCluster): V1OwnerReference {
  const [owner] = metadataOf(cluster, "").ownerReferences ?? [];
  const { apiVersion = "", kind = "", name = "", uid = "" } = owner ?? {};
  return { apiVersion, kind, name, uid };
}
