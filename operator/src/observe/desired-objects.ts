/** The wanted objects of a cluster: the rendered ones, and the Secrets that are generated once at random. */
import { randomBytes, randomInt } from "node:crypto";
import type { V1PersistentVolumeClaim, V1Secret } from "@kubernetes/client-node";
import type { Reads, Wire } from "../kube/index.ts";
import type { CoordinationCluster, Refusal } from "../plan/index.ts";
import {
  type Manifest,
  metadataOf,
  namesOf,
  namespaceOf,
  OverlayError,
  RESTARTED_AT,
  render,
  type Settings,
} from "../render/index.ts";
import { APPLIED, OWNER_PENDING } from "./annotations.ts";
import { backupPlanOf } from "./backup-store.ts";
import { type DesiredWrite, durableMetadata } from "./desired-write.ts";
import { covers, digestOf } from "./difference.ts";
import { ownerSecretName, type Reading } from "./reader.ts";
import { restorePlanOf } from "./restore-source.ts";
import type { StatefulSet } from "./set-view.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TOKEN_BYTES = 32;
const PASSWORD_BYTES = 18;

/** The manifest of the set: a plain mapping, because it has fields that the operator's types do not name. */
export interface SetManifest extends Manifest {
  readonly spec: { readonly replicas: number; readonly [field: string]: unknown };
}

export interface DesiredObjects {
  /** Without the set. */
  readonly ownedManifests: readonly Manifest[];
  /** Null if the specification cannot be followed. */
  readonly set: SetManifest | null;
  readonly refusal: Refusal | null;
}

export function desiredObjects(cluster: CoordinationCluster, reading: Reading, settings: Settings): DesiredObjects {
  const { set } = reading;
  const backup = backupPlanOf(cluster, set, reading.backupStore);
  const restore = restorePlanOf(cluster, set, reading.claims, reading.restore);
  const templates = set?.spec?.volumeClaimTemplates;
  const restartedAt = set?.spec?.template.metadata?.annotations?.[RESTARTED_AT];
  const placement = {
    replicas: set?.spec?.replicas ?? 1,
    // The library's types have dates where the wire has text.
    ...(templates === undefined ? {} : { volumeClaimTemplates: templates as unknown as V1PersistentVolumeClaim[] }),
    ...(restartedAt === undefined ? {} : { restartedAt }),
    ...(backup === null ? {} : { backup }),
    ...(restore === null ? {} : { restore }),
    // The planner chooses the budget.
    minAvailable: null,
  };
  try {
    const objects = render(cluster, placement, settings);
    const rendered = objects.find(({ kind }) => kind === "StatefulSet") as SetManifest;
    return {
      ownedManifests: objects.filter((object) => object !== rendered),
      set: signedSet(rendered),
      refusal: null,
    };
  } catch (error) {
    if (error instanceof OverlayError) {
      return {
        ownedManifests: [],
        set: null,
        refusal: { reason: "OverlayRejected", message: error.message, keepsReconciling: false },
      };
    }
    throw error;
  }
}

/** Leaves out the number of pods and immutable fields, which do not come from the specification. */
function signedSet(manifest: SetManifest): SetManifest {
  const { metadata = {} } = manifest;
  const annotations = { ...metadata.annotations, [APPLIED]: digestOf(ofSpecification(manifest)) };
  return { ...manifest, metadata: { ...metadata, annotations } };
}

/** @returns whether the set has all wanted fields; it may have more */
export function setMatchesManifest(live: StatefulSet, manifest: SetManifest): boolean {
  return covers(live, ofSpecification(manifest));
}

function ofSpecification(manifest: SetManifest): object {
  return { ...manifest, spec: withoutPlacement(manifest.spec) };
}

/** The part of a set's specification that follows from the cluster's. */
export function withoutPlacement(spec: object): object {
  const { replicas: _replicas, volumeClaimTemplates: _templates, ...rest } = spec as Record<string, unknown>;
  return rest;
}

/** Tokens of the members and of the operator. */
export function tokensWrite(cluster: CoordinationCluster): DesiredWrite {
  const name = namesOf(cluster).tokens;
  const token = (): string => randomBytes(TOKEN_BYTES).toString("base64url");
  return {
    how: "create",
    reference: { kind: "Secret", namespace: namespaceOf(cluster), name },
    manifest: () => secretOf(metadataOf(cluster, name), { join: token(), admin: token() }),
  };
}

/**
 * The owner's Secret. It is created before the founding. If it is created again later, it resets the owner, and is
 * marked as pending until the members have its content. This happens only with a Secret that the specification names
 * and that is younger than the cluster: an older one may contain a password that the owner has given up.
 *
 * @param foundedAt RFC 3339, to the second; null if the cluster is not founded
 * @returns null while the Secret that the specification names is missing
 */
export async function ownerWrite(
  reads: Reads,
  cluster: CoordinationCluster,
  foundedAt: string | null,
): Promise<DesiredWrite | null> {
  const name = ownerSecretName(cluster);
  const namespace = namespaceOf(cluster);
  const { ownerEmail, ownerSecretRef } = cluster.spec.access;
  if (foundedAt !== null && ownerSecretRef === undefined) {
    return null;
  }
  let given: Record<string, string> = {};
  if (ownerSecretRef !== undefined) {
    const source = await reads.get<Wire<V1Secret>>({
      kind: "Secret",
      namespace,
      name: ownerSecretRef.name,
    });
    if (source === null || (foundedAt !== null && (source.metadata?.creationTimestamp ?? "") <= foundedAt)) {
      return null;
    }
    given = textsOf(source.data);
  }
  const content = {
    email: ownerEmail,
    password: given.password ?? randomBytes(PASSWORD_BYTES).toString("base64url"),
    "api-key": given["api-key"] ?? `qk_${base62(8)}_${base62(43)}`,
  };
  return {
    how: "create",
    reference: { kind: "Secret", namespace, name },
    manifest: () => {
      const metadata = durableMetadata(cluster, name);
      return secretOf(
        foundedAt !== null ? { ...metadata, annotations: { [OWNER_PENDING]: "true" } } : metadata,
        content,
      );
    },
  };
}

/** Decodes a Secret's data as text. */
export function textsOf(data: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]),
  );
}

export function secretOf(metadata: NonNullable<Manifest["metadata"]>, content: Record<string, string>) {
  const data = Object.fromEntries(
    Object.entries(content).map(([key, value]) => [key, Buffer.from(value, "utf8").toString("base64")]),
  );
  return { apiVersion: "v1", kind: "Secret", metadata, data };
}

function base62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join("");
}
