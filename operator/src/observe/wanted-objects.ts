/** What a cluster's objects are to be: those that are rendered, and the Secrets that are made once at random. */
import { randomBytes, randomInt } from "node:crypto";
import type { V1PersistentVolumeClaim } from "@kubernetes/client-node";
import type { KubeClient, Wire } from "../kube/index.ts";
import type { CoordinationCluster, Refusal } from "../plan/index.ts";
import {
  type Manifest,
  metadataOf,
  namesOf,
  namespaceOf,
  OverlayError,
  render,
  type Settings,
} from "../render/index.ts";
import { APPLIED } from "./annotations.ts";
import { covers, digestOf } from "./difference.ts";
import { ownerSecretName, type Reading } from "./reader.ts";
import type { StatefulSet } from "./set-view.ts";
import { durableMetadata, type Wish } from "./wish.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TOKEN_BYTES = 32;
const PASSWORD_BYTES = 18;

/** The set as it is applied: a mapping, for what the operator's types do not name. */
export interface SetManifest extends Manifest {
  readonly spec: { readonly replicas: number; readonly [field: string]: unknown };
}

export interface WantedObjects {
  /** Without the set. */
  readonly around: readonly Manifest[];
  /** Null if the specification cannot be followed. */
  readonly set: SetManifest | null;
  readonly refusal: Refusal | null;
}

export function wantedObjects(cluster: CoordinationCluster, reading: Reading, settings: Settings): WantedObjects {
  const { set } = reading;
  const templates = set?.spec?.volumeClaimTemplates;
  const placement = {
    replicas: set?.spec?.replicas ?? 1,
    // The library's types have dates where the wire has text.
    ...(templates === undefined ? {} : { volumeClaimTemplates: templates as unknown as V1PersistentVolumeClaim[] }),
    // The budget's number is the planner's.
    minAvailable: null,
  };
  try {
    const objects = render(cluster, placement, settings);
    const rendered = objects.find(({ kind }) => kind === "StatefulSet") as SetManifest;
    return {
      around: objects.filter((object) => object !== rendered),
      set: signedSet(rendered),
      refusal: null,
    };
  } catch (error) {
    if (error instanceof OverlayError) {
      return { around: [], set: null, refusal: { reason: "OverlayRejected", message: error.message } };
    }
    throw error;
  }
}

/** How many pods there are, and what cannot be changed, says nothing of what was applied. */
function signedSet(manifest: SetManifest): SetManifest {
  const { metadata = {} } = manifest;
  const annotations = { ...metadata.annotations, [APPLIED]: digestOf(ofSpecification(manifest)) };
  return { ...manifest, metadata: { ...metadata, annotations } };
}

export function isSetAsWished(live: StatefulSet, manifest: SetManifest): boolean {
  return covers(live, ofSpecification(manifest));
}

function ofSpecification(manifest: SetManifest): object {
  const { replicas: _replicas, volumeClaimTemplates: _templates, ...spec } = manifest.spec;
  return { ...manifest, spec };
}

/** What members show to each other, and the operator to members. */
export function tokensWish(cluster: CoordinationCluster): Wish {
  const name = namesOf(cluster).tokens;
  const token = (): string => randomBytes(TOKEN_BYTES).toString("base64url");
  return {
    how: "create",
    reference: { kind: "Secret", namespace: namespaceOf(cluster), name },
    manifest: () => secretOf(metadataOf(cluster, name), { join: token(), admin: token() }),
  };
}

/**
 * The first user. Made before the founding, and never again: nobody can read the password back.
 *
 * @returns null while the Secret is missing that the specification names
 */
export async function ownerWish(client: KubeClient, cluster: CoordinationCluster): Promise<Wish | null> {
  const name = ownerSecretName(cluster);
  const namespace = namespaceOf(cluster);
  const { ownerEmail, ownerSecretRef } = cluster.spec.access;
  let given: Record<string, string> = {};
  if (ownerSecretRef !== undefined) {
    const source = await client.get<Wire<{ metadata?: object; data?: Record<string, string> }>>({
      kind: "Secret",
      namespace,
      name: ownerSecretRef.name,
    });
    if (source === null) {
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
    manifest: () => secretOf(durableMetadata(cluster, name), content),
  };
}

/** Of a Secret's data, as text. */
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
