import { expect } from "chai";
import { clusterOf } from "../../test/index.ts";
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";
import { ordinalOfRecoveryPod, RECOVERY_LABEL, type RecoveryWork, renderRecoveryPod, selectorOf } from "./index.ts";

const CLUSTER_ID = "0f0e0d0c-0b0a-4908-8706-050403020100";

function podOf(cluster: CoordinationCluster, work: RecoveryWork["work"] = { archive: null }) {
  const { metadata, spec } = renderRecoveryPod(cluster, { ordinal: 2, work, annotations: { note: "x" } });
  const [container, ...others] = spec?.containers ?? [];
  return { metadata, spec, container, others };
}

describe("pod on the volume of a stopped member", () => {
  it("reads the volume of that member, or recovers from it, and reports", () => {
    const { metadata, spec, container } = podOf(clusterOf());
    expect(metadata).to.deep.include({ name: "demo-2-recovery", annotations: { note: "x" } });
    expect(spec).to.include({ restartPolicy: "Never", automountServiceAccountToken: false });
    expect(spec?.volumes).to.deep.equal([
      { name: "data", persistentVolumeClaim: { claimName: "data-demo-2" } },
      { name: "tmp", emptyDir: {} },
    ]);
    expect(container?.volumeMounts?.map(({ mountPath }) => mountPath)).to.deep.equal(["/data", "/tmp"]);
    expect([container?.command, container?.args]).to.deep.equal([
      ["quoin-node"],
      ["recover", "--compare", "/data", "--report=/dev/termination-log"],
    ]);
    expect(podOf(clusterOf(), { clusterId: CLUSTER_ID, lastIndex: 7 }).container?.args).to.deep.equal([
      ...["recover", "--data-dir=/data", `--new-cluster-id=${CLUSTER_ID}`, "--yes-lose-writes-after=7"],
      "--report=/dev/termination-log",
    ]);
  });

  it("is given the store of the cluster to read how far the archive reaches, and cannot write there", () => {
    const encryption = { keysSecretRef: { name: "keys" } };
    const s3 = { bucket: "backups", pathStyle: false, credentialsSecretRef: { name: "credentials" } };
    const ofBucket = podOf(clusterOf(), { archive: { s3, encryption } });
    const [keys, credentials] = ["/etc/quoin/backup-keys", "/etc/quoin/backup-credentials"];
    expect(ofBucket.container?.args).to.deep.equal([
      ...["recover", "--compare", "/data", "--backup-store=s3://backups/", `--backup-key-file=${keys}/keys`],
      ...[`--backup-credentials-file=${credentials}/credentials`, "--report=/dev/termination-log"],
    ]);
    expect(ofBucket.container?.volumeMounts?.slice(2)).to.deep.equal([
      { name: "quoin-backup-keys", mountPath: keys, readOnly: true },
      { name: "quoin-backup-credentials", mountPath: credentials, readOnly: true },
    ]);
    expect(ofBucket.spec?.volumes?.slice(2)).to.deep.equal([
      { name: "quoin-backup-keys", secret: { secretName: "keys", optional: true } },
      { name: "quoin-backup-credentials", secret: { secretName: "credentials", optional: true } },
    ]);
    const ofClaim = podOf(clusterOf(), { archive: { directory: { claimName: "backups" } } });
    const mountPath = "/var/lib/quoin-backup";
    expect(ofClaim.container?.args).to.include(`--backup-store=${mountPath}`);
    expect(ofClaim.container?.volumeMounts?.at(-1)).to.deep.equal({ name: "quoin-backup", mountPath, readOnly: true });
  });

  it("meets the same requirements of nodes and registries as a member's pod, without secrets, ports and probes", () => {
    const tolerations = [{ key: "coordination", operator: "Exists" }];
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } };
    const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [] };
    const sidecar = { name: "sidecar", image: "sidecar:1" };
    const overlay = { tolerations, affinity: { nodeAffinity, podAntiAffinity }, containers: [sidecar] };
    const image = { repository: "registry.example/quoin", pullPolicy: "Always" as const, pullSecrets: [{ name: "r" }] };
    const { spec, container, others } = podOf(clusterOf({ image, podTemplate: { spec: { ...overlay } } }));
    expect(spec).to.deep.include({ tolerations, affinity: { nodeAffinity }, imagePullSecrets: [{ name: "r" }] });
    expect(spec?.securityContext).to.include({ runAsNonRoot: true, fsGroup: 10_001 });
    expect(container).to.include({ image: "registry.example/quoin:1.4.0", imagePullPolicy: "Always" });
    expect(container?.securityContext).to.include({ readOnlyRootFilesystem: true });
    expect(container).to.not.have.any.keys("ports", "livenessProbe", "readinessProbe", "startupProbe");
    expect(others).to.deep.equal([]);
    expect(spec).to.not.have.any.keys("initContainers", "topologySpreadConstraints");
  });

  it("is selected by no Service and no StatefulSet, and known by its name", () => {
    const { metadata } = podOf(clusterOf());
    expect(metadata?.labels).to.deep.equal({ [RECOVERY_LABEL]: "demo" });
    expect(metadata?.labels).to.not.have.any.keys(...Object.keys(selectorOf(clusterOf())));
    const names = [
      "demo-2-recovery",
      "demo-2",
      "demo-x-recovery",
      "other-2-recovery",
      "demo-2-0-recovery",
      "-recovery",
    ];
    expect(names.map((name) => ordinalOfRecoveryPod(clusterOf(), name))).to.deep.equal([2, ...Array(5).fill(null)]);
  });
});
