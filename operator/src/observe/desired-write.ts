/**
 * A desired write: an object that differs from what is wanted, and the write that corrects it. The planner decides when to
 * write.
 */
import type { V1OwnerReference } from "@kubernetes/client-node";
import type { KubeObject, Part, Precondition, Reference, Wire } from "../kube/index.ts";
import type { CoordinationCluster } from "../plan/index.ts";
import { labelsOf, type Manifest, metadataOf, namespaceOf } from "../render/index.ts";
import { APPLIED } from "./annotations.ts";
import { covers, digestOf } from "./difference.ts";

export type DesiredWrite =
  /** Server-side apply. With a resource version in its metadata, it fails if the object has changed. */
  | {
      readonly how: "apply";
      readonly reference: Reference;
      readonly manifest: Manifest;
      readonly undoes: string | null;
    }
  /** Replaces some parts of an object as a whole. */
  | {
      readonly how: "replace";
      readonly reference: Reference;
      readonly precondition: Precondition;
      readonly parts: readonly Part[];
      /** Changes of others that this undoes, as a text for people; null if there are none. */
      readonly undoes: string | null;
    }
  /** Created once; an existing object stays as it is. */
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

/** Desired writes by kind and name, in the order of writing. */
export type DesiredWrites = ReadonlyMap<string, DesiredWrite>;

export function objectKey({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind}/${name}`;
}

export function preconditionOf({ metadata }: KubeObject): Precondition {
  return { uid: metadata?.uid ?? "", resourceVersion: metadata?.resourceVersion ?? "" };
}

/** The manifest with a digest of its content. */
export function signed(manifest: Manifest): Manifest {
  const { metadata = {} } = manifest;
  const annotations = { ...metadata.annotations, [APPLIED]: digestOf(manifest) };
  return { ...manifest, metadata: { ...metadata, annotations } };
}

/** @returns whether the object has all of this manifest, and was last applied from the same one */
export function matchesManifest(live: KubeObject | null, manifest: Manifest): boolean {
  return live !== null && covers(live, manifest);
}

/**
 * For an object that outlives its cluster as the volumes do. Keeps owners of other kinds.
 *
 * @returns null if its owner is as the specification asks
 */
export function ownershipWrite(
  cluster: CoordinationCluster,
  reference: Reference,
  live: KubeObject | null,
): DesiredWrite | null {
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

/** Metadata of an object that has an owner only if volumes are deleted with the cluster. */
export function durableMetadata(cluster: CoordinationCluster, name: string): NonNullable<Manifest["metadata"]> {
  const isOwned = cluster.spec.storage.whenDeleted === "Delete";
  const labels = labelsOf(cluster);
  const namespace = namespaceOf(cluster);
  return { name, namespace, labels, ...(isOwned ? { ownerReferences: [ownerOf(cluster)] } : {}) };
}

/** Not a controller reference, because claims may have a set as their controller. */
function ownerOf(cluster: CoordinationCluster): V1OwnerReference {
  const [owner] = metadataOf(cluster, "").ownerReferences ?? [];
  const { apiVersion = "", kind = "", name = "", uid = "" } = owner ?? {};
  return { apiVersion, kind, name, uid };
}
