/**
 * Decides, without effects, about claims and volumes of the cluster's own storage class. A claim whose pod has a node
 * gets a directory as its volume. A larger request grows the volume. A volume without a claim is removed with its
 * directory. `volume-provisioner.ts` does these steps.
 */

import type { KubeObject } from "./api-client.ts";

export const VOLUME_CLASS = "quoin-local";
/** The provisioner's name in claims and volumes. */
export const PROVISIONER = "e2e.quoin.dev/local";

const CLAIM_PROVISIONER = "volume.kubernetes.io/storage-provisioner";
const CLAIM_NODE = "volume.kubernetes.io/selected-node";
const VOLUME_PROVISIONER = "pv.kubernetes.io/provisioned-by";
const HOSTNAME_LABEL = "kubernetes.io/hostname";

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** A step to be taken. */
export type VolumeStep =
  | { readonly kind: "make"; readonly volume: KubeObject; readonly path: string }
  | { readonly kind: "grow"; readonly name: string; readonly capacity: string }
  | { readonly kind: "remove"; readonly name: string; readonly path: string };

/**
 * The steps that are due.
 *
 * @param directory parent of the volumes' directories
 */
export function planVolumes(
  claims: readonly KubeObject[],
  volumes: readonly KubeObject[],
  directory: string,
): VolumeStep[] {
  const byName = new Map(volumes.map((volume) => [volume.metadata.name, volume]));
  const steps: VolumeStep[] = [];
  for (const claim of claims) {
    const name = `pvc-${claim.metadata.uid}`;
    const volume = byName.get(name);
    const annotations = claim.metadata.annotations ?? {};
    const node = annotations[CLAIM_NODE];
    const wanted: string = claim.spec.resources.requests.storage;
    if (annotations[CLAIM_PROVISIONER] !== PROVISIONER) {
      continue;
    }
    if (volume !== undefined) {
      if (bytesOf(wanted) > bytesOf(volume.spec.capacity.storage)) {
        steps.push({ kind: "grow", name, capacity: wanted });
      }
    } else if (claim.status?.phase === "Pending" && node !== undefined && claim.spec.volumeName === undefined) {
      const path = `${directory}/${name}`;
      steps.push({ kind: "make", path, volume: volumeFor(claim, { name, node, path, capacity: wanted }) });
    }
  }
  for (const { metadata, spec, status } of volumes) {
    const isOurs = metadata.annotations?.[VOLUME_PROVISIONER] === PROVISIONER;
    const isFree = status?.phase === "Released" && spec.persistentVolumeReclaimPolicy === "Delete";
    if (isOurs && isFree && metadata.deletionTimestamp === undefined) {
      steps.push({ kind: "remove", name: metadata.name, path: `${directory}/${metadata.name}` });
    }
  }
  return steps;
}

interface VolumeLocation {
  readonly name: string;
  readonly node: string;
  readonly path: string;
  readonly capacity: string;
}

function volumeFor(claim: KubeObject, { name, node, path, capacity }: VolumeLocation): KubeObject {
  const { namespace, name: claimName, uid } = claim.metadata;
  const isOnNode = { key: HOSTNAME_LABEL, operator: "In", values: [node] };
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, annotations: { [VOLUME_PROVISIONER]: PROVISIONER } },
    spec: {
      capacity: { storage: capacity },
      accessModes: claim.spec.accessModes,
      volumeMode: "Filesystem",
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: claim.spec.storageClassName,
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [isOnNode] }] } },
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name: claimName, uid },
    },
  };
}

/**
 * Bytes of a quantity such as 8Gi.
 * @throws Error for invalid text
 */
export function bytesOf(quantity: string): number {
  const [, number = "", unit = ""] = /^([0-9.]+)([A-Za-z]*)$/.exec(quantity) ?? [];
  const factor = UNITS[unit];
  if (number === "" || factor === undefined) {
    throw new Error(`${quantity} is no quantity of bytes`);
  }
  return Number(number) * factor;
}
