import { expect } from "chai";
import type { Any, Call, Stored } from "../../test/api-server/index.ts";
import { Drive } from "../../test/world/index.ts";

/** They have an owner only if volumes are deleted with the cluster. */
const DURABLE = ["configmaps/demo-identity", "secrets/demo-owner"];
/** It belongs to the Secret of its name, and is deleted with it. */
const SENTINEL = "configmaps/demo-owner";
const KINDS = [
  ...["statefulsets", "services", "poddisruptionbudgets", "serviceaccounts", "roles", "rolebindings"],
  ...["networkpolicies", "secrets", "configmaps", "persistentvolumeclaims"],
];

describe("objects of a cluster that was deleted with --cascade=orphan", () => {
  let drive: Drive;

  beforeEach(async () => {
    drive = new Drive();
    await drive.begin();
  });

  afterEach(() => drive.end());

  function objects(): [path: string, object: Stored][] {
    return KINDS.flatMap((plural) =>
      drive.world.api.store
        .list(plural)
        .map((object): [string, Stored] => [`${plural}/${object.metadata.name}`, object]),
    );
  }

  function controllersOf({ metadata }: Stored): string[] {
    return (metadata.ownerReferences ?? [])
      .filter(({ controller }: Any) => controller === true)
      .map(({ uid }: Any) => uid);
  }

  function podUids(): string[] {
    return drive.world.api.store.list("pods").map(({ metadata }) => metadata.uid);
  }

  it("keeps running, and belongs to a new cluster of the same name without a restart", async () => {
    drive.create({ replicas: 3, networkPolicy: { enabled: true } });
    await drive.converge("founding");
    const { clusterId } = drive.status;
    const [pods, before] = [podUids(), objects()];
    drive.orphan();
    expect(await drive.operator.reconcile("default", "demo"), "it is forgotten").to.equal(null);
    drive.world.advance(60_000);
    expect([podUids(), objects().length]).to.deep.equal([pods, before.length]);
    drive.create({ replicas: 3, networkPolicy: { enabled: true } });
    await drive.converge("taken up");
    expect([drive.status.clusterId, podUids()]).to.deep.equal([clusterId, pods]);
    for (const [path, object] of objects()) {
      const isDurable = [...DURABLE, SENTINEL].includes(path) || path.startsWith("persistentvolumeclaims/");
      expect(controllersOf(object), path).to.deep.equal(isDurable ? [] : [drive.cluster.metadata.uid]);
    }
    expect(drive.operator.events.map(({ reason }) => reason)).to.not.include("SpecRefused");
    drive.delete();
    await drive.operator.reconcile("default", "demo");
    const left = objects().map(([path]) => path);
    expect(left).to.have.members([
      ...DURABLE,
      SENTINEL,
      ...[0, 1, 2].map((k) => `persistentvolumeclaims/data-demo-${k}`),
    ]);
  });

  it("adopts volumes that are deleted with the cluster, and changes what the new cluster specifies", async () => {
    const storage = { size: "8Gi", whenDeleted: "Delete", whenScaled: "Delete" } as const;
    drive.create({ replicas: 3, storage, networkPolicy: { enabled: true } });
    await drive.converge("founding");
    const owners = (): string[] =>
      objects()
        .filter(([path]) => DURABLE.includes(path) || path.startsWith("persistentvolumeclaims/"))
        .flatMap(([, { metadata }]) => (metadata.ownerReferences ?? []).map(({ uid }: Any) => uid));
    await drive.until("owned", () => owners().length === 5);
    drive.orphan();
    await drive.operator.reconcile("default", "demo");
    drive.create({ replicas: 1, storage });
    await drive.until("owned again", () => drive.isAsAsked && owners().length === 3);
    expect(new Set(owners())).to.deep.equal(new Set([drive.cluster.metadata.uid]));
    expect(drive.find("networkpolicies", "demo"), "asked for no more").to.equal(undefined);
  });

  it("is refused to one whose members could not talk to those that run, until these are stopped", async () => {
    await drive.founded(3);
    const pods = podUids();
    drive.orphan();
    await drive.operator.reconcile("default", "demo");
    drive.create({ replicas: 3, tls: { mode: "Auto", certificateDays: 90, renewBeforeDays: 30 } });
    await drive.until("refused", () => drive.condition("SpecAccepted") === "False TlsModeFixed");
    const { message } = drive.status.conditions?.find(({ type }) => type === "SpecAccepted") ?? {};
    expect(message).to.include("spec.tls.mode is Auto").and.to.include("run without encryption");
    drive.world.advance(600_000);
    await drive.operator.reconcile("default", "demo");
    expect(podUids()).to.deep.equal(pods);
    expect(controllersOf(drive.find("statefulsets", "demo"))).to.deep.equal([]);
    drive.world.api.store.drop("statefulsets", drive.find("statefulsets", "demo"));
    await drive.until("made again", () => drive.find("statefulsets", "demo") !== undefined);
    expect(controllersOf(drive.find("statefulsets", "demo"))).to.deep.equal([drive.cluster.metadata.uid]);
    expect(drive.find("statefulsets", "demo").spec.template.spec.containers[0].args.join()).to.include("--tls-cert=");
  });

  it("is refused to one with another storage class, and runs on meanwhile", async () => {
    await drive.founded(3);
    const pods = podUids();
    drive.orphan();
    await drive.operator.reconcile("default", "demo");
    const storage = { size: "8Gi", storageClassName: "other", whenDeleted: "Retain", whenScaled: "Delete" } as const;
    drive.create({ replicas: 3, storage });
    await drive.until("refused", () => drive.condition("SpecAccepted") === "False StorageClassFixed");
    await drive.until("owned", () => controllersOf(drive.find("statefulsets", "demo")).length === 1);
    expect(podUids()).to.deep.equal(pods);
    drive.edit({ spec: { storage: { storageClassName: "standard" } } });
    await drive.converge("corrected");
    expect(podUids()).to.deep.equal(pods);
  });

  it("gets no owner back by a pass that began before the deletion", async () => {
    drive.create({ replicas: 3, storage: { size: "8Gi", whenDeleted: "Delete", whenScaled: "Delete" } });
    await drive.converge("founding");
    drive.operator.forget("default", "demo");
    drive.world.advance(90_000);
    let isOrphaned = false;
    drive.world.api.before = ({ method, plural }: Call) => {
      if (method === "GET" && plural === "statefulsets" && !isOrphaned) {
        isOrphaned = true;
        drive.orphan();
      }
      return null;
    };
    const [pods, writes] = [podUids(), drive.world.writes.length];
    await drive.operator.reconcile("default", "demo");
    expect([isOrphaned, drive.world.writes.slice(writes)]).to.deep.equal([true, []]);
    drive.world.settle();
    expect(podUids(), "nothing is deleted after its owner").to.deep.equal(pods);
    expect(drive.world.api.store.list("persistentvolumeclaims")).to.have.length(3);
  });
});
