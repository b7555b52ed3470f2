import { expect } from "chai";
import type { KubeObject } from "./api-client.ts";
import { bytesOf, PROVISIONER, planVolumes } from "./volumes.ts";

const DIRECTORY = "/volumes";

function claim(changes: { annotations?: object; spec?: object; status?: object } = {}): KubeObject {
  const annotations = {
    "volume.kubernetes.io/storage-provisioner": PROVISIONER,
    "volume.kubernetes.io/selected-node": "node-2",
    ...changes.annotations,
  };
  return {
    metadata: { uid: "1", name: "data-demo-0", namespace: "default", annotations },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "8Gi" } },
      storageClassName: "local",
      ...changes.spec,
    },
    status: { phase: "Pending", ...changes.status },
  };
}

function volume(changes: { metadata?: object; spec?: object; status?: object } = {}): KubeObject {
  return {
    metadata: { name: "pvc-1", annotations: { "pv.kubernetes.io/provisioned-by": PROVISIONER }, ...changes.metadata },
    spec: { capacity: { storage: "8Gi" }, persistentVolumeReclaimPolicy: "Delete", ...changes.spec },
    status: { phase: "Bound", ...changes.status },
  };
}

describe("planVolumes", () => {
  it("makes a volume for a claim whose pod has a node, on that node and for that claim alone", () => {
    const [step, ...others] = planVolumes([claim()], [], DIRECTORY);
    expect(others).to.deep.equal([]);
    expect(step).to.include({ kind: "make", path: "/volumes/pvc-1" });
    const { spec } = (step as { volume: KubeObject }).volume;
    expect(spec.local).to.deep.equal({ path: "/volumes/pvc-1" });
    expect(spec.claimRef).to.include({ namespace: "default", name: "data-demo-0", uid: "1" });
    expect(spec.nodeAffinity.required.nodeSelectorTerms).to.deep.equal([
      { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["node-2"] }] },
    ]);
  });

  it("leaves alone claims of others, those without a pod, and those that have a volume", () => {
    const claims = [
      claim({ annotations: { "volume.kubernetes.io/storage-provisioner": "somebody.else" } }),
      claim({ annotations: { "volume.kubernetes.io/selected-node": undefined } }),
      claim({ spec: { volumeName: "made-by-hand" } }),
      claim({ status: { phase: "Lost" } }),
    ];
    expect(planVolumes(claims, [], DIRECTORY)).to.deep.equal([]);
    expect(planVolumes([claim()], [volume()], DIRECTORY)).to.deep.equal([]);
  });

  it("grows a volume whose claim asks for more, and never shrinks one", () => {
    const asking = (storage: string): KubeObject =>
      claim({ spec: { resources: { requests: { storage } } }, status: { phase: "Bound" } });
    expect(planVolumes([asking("9000Mi")], [volume()], DIRECTORY)).to.deep.equal([
      { kind: "grow", name: "pvc-1", capacity: "9000Mi" },
    ]);
    expect(planVolumes([asking("8000Mi")], [volume()], DIRECTORY)).to.deep.equal([]);
  });

  it("removes a volume that was released, with nothing but its own directory", () => {
    const released = volume({ status: { phase: "Released" }, spec: { local: { path: "/etc" } } });
    expect(planVolumes([], [released], DIRECTORY)).to.deep.equal([
      { kind: "remove", name: "pvc-1", path: "/volumes/pvc-1" },
    ]);
  });

  it("keeps volumes that are to be retained, are being removed, are in use, or are of others", () => {
    const status = { phase: "Released" };
    const volumes = [
      volume({ status, spec: { persistentVolumeReclaimPolicy: "Retain" } }),
      volume({ status, metadata: { deletionTimestamp: "2030-01-01T00:00:00Z" } }),
      volume({ status, metadata: { annotations: { "pv.kubernetes.io/provisioned-by": "somebody.else" } } }),
      volume({ status, metadata: { annotations: undefined } }),
      volume(),
    ];
    expect(planVolumes([], volumes, DIRECTORY)).to.deep.equal([]);
  });
});

describe("bytesOf", () => {
  it("knows the units of Kubernetes", () => {
    expect(["1", "1k", "1Ki", "1.5Gi", "2T"].map(bytesOf)).to.deep.equal([1, 1000, 1024, 1_610_612_736, 2e12]);
  });

  it("refuses what is no quantity", () => {
    for (const text of ["", "Gi", "1 Gi", "1Xi", "-1"]) {
      expect(() => bytesOf(text), text).to.throw("no quantity");
    }
  });
});
