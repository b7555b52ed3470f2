/**
 * The pod that reads the volume of a stopped member, or converts its data to that of a new cluster. It is the member's
 * pod with another program, so it meets the same requirements of nodes and registries. No Service and no StatefulSet
 * selects it.
 */
import type { V1Pod, V1PodSpec } from "@kubernetes/client-node";
import type { StoreSpec } from "../generated/coordination-backup-store.ts";
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";
import { NO_STORES, readingMounts, readingVolumes, storeArguments } from "./backup.ts";
import { metadataOf, namesOf } from "./names.ts";
import { renderPodTemplate } from "./pod-template.ts";

/** Its value is the name of the cluster. */
export const RECOVERY_LABEL = "quoin.dev/recovery";
const SUFFIX = "-recovery";
const DATA = "/data";
/** The kubelet copies this file's content into the status of the pod. */
const REPORT = "/dev/termination-log";
/** The program needs no time to end: it may be killed at any point. */
const GRACE_SECONDS = 5;
const OWN_MOUNTS: ReadonlySet<string> = new Set(["data", "tmp"]);

/** The pod reads the volume, and how far the archive reaches; null for a cluster without a backup store. */
export interface SurveyWork {
  readonly archive: StoreSpec | null;
}

/** The pod converts the data up to this index to that of a new cluster. */
export interface SuccessionWork {
  readonly clusterId: string;
  readonly lastIndex: number;
}

export interface RecoveryWork {
  readonly ordinal: number;
  readonly work: SurveyWork | SuccessionWork;
  readonly annotations: Readonly<Record<string, string>>;
}

export function recoveryPodName(cluster: CoordinationCluster, ordinal: number): string {
  return `${namesOf(cluster).set}-${ordinal}${SUFFIX}`;
}

/** @returns null for a name that such a pod cannot have */
export function ordinalOfRecoveryPod(cluster: CoordinationCluster, name: string): number | null {
  const prefix = `${namesOf(cluster).set}-`;
  const rest = name.slice(prefix.length, -SUFFIX.length);
  return name.startsWith(prefix) && name.endsWith(SUFFIX) && /^[0-9]$/.test(rest) ? Number(rest) : null;
}

/** @throws OverlayError */
export function renderRecoveryPod(cluster: CoordinationCluster, { ordinal, work, annotations }: RecoveryWork): V1Pod {
  const { spec } = renderPodTemplate(cluster, NO_STORES);
  const metadata = metadataOf(cluster, recoveryPodName(cluster, ordinal), { annotations: { ...annotations } });
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, labels: { [RECOVERY_LABEL]: cluster.metadata.name } },
    spec: specOf(cluster, spec as V1PodSpec, ordinal, work),
  };
}

function argumentsOf(work: RecoveryWork["work"]): string[] {
  const flags =
    "archive" in work
      ? ["--compare", DATA, ...(work.archive === null ? [] : storeArguments(work.archive))]
      : [`--data-dir=${DATA}`, `--new-cluster-id=${work.clusterId}`, `--yes-lose-writes-after=${work.lastIndex}`];
  return ["recover", ...flags, `--report=${REPORT}`];
}

function specOf(
  cluster: CoordinationCluster,
  member: V1PodSpec,
  ordinal: number,
  work: RecoveryWork["work"],
): V1PodSpec {
  const archive = "archive" in work ? work.archive : null;
  const { topologySpreadConstraints: _spread, affinity, initContainers: _init, containers, ...rest } = member;
  const [container] = containers.filter(({ name }) => name === "quoin");
  if (container === undefined) {
    throw new Error("the pod of a member has no container quoin");
  }
  const { image, imagePullPolicy, resources, securityContext, env = [], volumeMounts = [] } = container;
  return {
    ...rest,
    // The volume determines the node; other pods of the cluster do not matter.
    ...(affinity?.nodeAffinity === undefined ? {} : { affinity: { nodeAffinity: affinity.nodeAffinity } }),
    automountServiceAccountToken: false,
    restartPolicy: "Never",
    terminationGracePeriodSeconds: GRACE_SECONDS,
    containers: [
      {
        name: "recovery",
        ...(image === undefined ? {} : { image }),
        ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
        command: ["quoin-node"],
        args: argumentsOf(work),
        env: env.filter(({ name }) => name === "NODE_OPTIONS"),
        ...(resources === undefined ? {} : { resources }),
        ...(securityContext === undefined ? {} : { securityContext }),
        terminationMessagePath: REPORT,
        terminationMessagePolicy: "File",
        volumeMounts: [
          ...volumeMounts.filter(({ name }) => OWN_MOUNTS.has(name)),
          ...(archive === null ? [] : readingMounts(archive)),
        ],
      },
    ],
    volumes: [
      { name: "data", persistentVolumeClaim: { claimName: `data-${namesOf(cluster).set}-${ordinal}` } },
      ...(rest.volumes ?? []).filter(({ name }) => name === "tmp"),
      ...(archive === null ? [] : readingVolumes(archive)),
    ],
  };
}
