import { expect } from "chai";
import type { Call } from "../../test/api-server/index.ts";
import { Drive } from "../../test/world/index.ts";

const [TYPO, FAST] = ["fsat", "fast"];

describe("a storage class that is corrected", () => {
  let drive: Drive;

  beforeEach(async () => {
    drive = new Drive();
    await drive.begin();
    drive.world.missingClasses.add(TYPO);
  });

  afterEach(() => drive.end());

  function storage(storageClassName: string | null): { spec: object } {
    return { spec: { storage: { storageClassName } } };
  }

  async function waiting(storageClassName: string): Promise<void> {
    drive.create({
      replicas: 3,
      storage: { size: "8Gi", storageClassName, whenDeleted: "Retain", whenScaled: "Delete" },
    });
    await drive.until("waiting", () => drive.status.blocked?.reason === "WaitingForFounder");
  }

  function deletions(): string[] {
    return drive.world.writes.filter((write) => write.startsWith("DELETE"));
  }

  it("takes effect while no volume is bound: the set and its claims are made again", async () => {
    await waiting(TYPO);
    expect(drive.status).to.include({ volumesBound: false });
    expect(drive.status).to.not.have.property("storageClassName");
    drive.edit(storage(FAST));
    await drive.converge("founded");
    const claims = drive.world.api.store.list("persistentvolumeclaims");
    expect(claims.map(({ spec }) => spec.storageClassName)).to.deep.equal([FAST, FAST, FAST]);
    expect(deletions()).to.deep.equal(["DELETE persistentvolumeclaims/data-demo-0", "DELETE statefulsets/demo"]);
    expect(drive.status).to.include({ volumesBound: true, storageClassName: FAST, membersSummary: "3/3" });
  });

  it("takes effect though the set makes its claim again in the moment before it is gone", async () => {
    await waiting(TYPO);
    drive.world.advance(5_000);
    let again: string | null = null;
    drive.world.api.before = ({ method, plural }: Call) => {
      const { store } = drive.world.api;
      if (again === null && method === "DELETE" && plural === "statefulsets") {
        const { metadata, ...claim } = structuredClone(drive.find("persistentvolumeclaims", "data-demo-0"));
        store.drop("persistentvolumeclaims", drive.find("persistentvolumeclaims", "data-demo-0"));
        const { name, labels } = metadata;
        again = store.create("persistentvolumeclaims", "default", { ...claim, metadata: { name, labels } }).metadata
          .uid;
      }
      return null;
    };
    drive.edit(storage(null));
    await drive.converge("founded");
    const { metadata, spec } = drive.find("persistentvolumeclaims", "data-demo-0");
    expect(again, "so it was made again").to.be.a("string");
    expect([metadata.uid === again, spec.storageClassName]).to.deep.equal([false, "standard"]);
  });

  it("takes effect though the former set makes its claim again just before the next set comes", async () => {
    await waiting(TYPO);
    const { metadata, ...claim } = structuredClone(drive.find("persistentvolumeclaims", "data-demo-0"));
    const { name, labels } = metadata;
    let again: string | null = null;
    let isReplaced = false;
    drive.world.api.before = ({ method, plural }: Call) => {
      const { store } = drive.world.api;
      const isWrite = method !== "GET" && method !== "DELETE";
      if (again === null && isWrite && plural === "statefulsets" && store.list(plural).length === 0) {
        const late = { ...claim, metadata: { name, labels } };
        again = store.create("persistentvolumeclaims", "default", late).metadata.uid;
      } else if (again !== null && !isReplaced && method === "DELETE" && plural === "persistentvolumeclaims") {
        // The pod has no node, so nothing protects its claim. The present set creates the missing claim at once.
        isReplaced = true;
        drive.world.advance(1_000);
        store.drop("persistentvolumeclaims", drive.find("persistentvolumeclaims", name));
        const spec = { ...claim.spec, storageClassName: "standard" };
        store.create("persistentvolumeclaims", "default", { ...claim, spec, metadata: { name, labels } });
      }
      return null;
    };
    drive.edit(storage(null));
    await drive.converge("founded");
    const { metadata: present, spec } = drive.find("persistentvolumeclaims", "data-demo-0");
    expect(again, "so it was made again").to.be.a("string");
    expect([present.uid === again, spec.storageClassName]).to.deep.equal([false, "standard"]);
  });

  it("takes effect to and from the default class", async () => {
    await waiting(TYPO);
    drive.edit(storage(null));
    await drive.converge("founded");
    expect(drive.find("persistentvolumeclaims", "data-demo-2").spec.storageClassName).to.equal("standard");
    expect(drive.find("statefulsets", "demo").spec.volumeClaimTemplates[0].spec).to.not.have.property(
      "storageClassName",
    );
  });

  it("takes effect however often the operator crashes on the way", async () => {
    await waiting(TYPO);
    for (let writes = 1; writes <= 4; writes++) {
      const [from, to] = writes % 2 === 1 ? [TYPO, "tsaf"] : ["tsaf", TYPO];
      drive.world.missingClasses.add(to);
      drive.world.crashAfter(writes);
      drive.edit(storage(to));
      await drive.until(`${from} to ${to}`, () => {
        const claim = drive.find("persistentvolumeclaims", "data-demo-0");
        return claim?.spec.storageClassName === to && drive.status.blocked?.reason === "WaitingForFounder";
      });
      drive.world.revive();
    }
    drive.edit(storage(FAST));
    await drive.converge("founded");
  });

  it("is refused once a volume is bound, and the cluster runs on", async () => {
    await waiting(TYPO);
    drive.edit(storage(FAST));
    await drive.converge("founded");
    const uids = (plural: string): string[] => drive.world.api.store.list(plural).map(({ metadata }) => metadata.uid);
    const before = ["statefulsets", "persistentvolumeclaims", "pods"].map(uids);
    const deleted = deletions().length;
    drive.edit({ spec: { ...storage("slow").spec, replicas: 5 } });
    await drive.until("refused", () => drive.condition("SpecAccepted") === "False StorageClassFixed");
    const { message } = drive.status.conditions?.find(({ type }) => type === "SpecAccepted") ?? {};
    expect(message).to.include("spec.storage.storageClassName cannot be changed any more");
    expect(message).to.include("claim data-demo-0 has a volume").and.to.include("set it back to fast");
    drive.world.advance(600_000);
    await drive.operator.reconcile("default", "demo");
    expect(["statefulsets", "persistentvolumeclaims", "pods"].map(uids)).to.deep.equal(before);
    expect(deletions()).to.have.length(deleted);
    drive.edit(storage(FAST));
    await drive.converge("taken back, and grown");
  });

  it("may be named that the volumes have by default", async () => {
    drive.create({ replicas: 3 });
    await drive.converge("founded");
    expect(drive.status).to.include({ storageClassName: "standard" });
    drive.edit({ spec: { ...storage("standard").spec, replicas: 1 } });
    await drive.converge("accepted, and shrunk");
    expect(deletions()).to.not.include("DELETE statefulsets/demo");
  });

  for (const [what, victim] of [
    ["its claim", "persistentvolumeclaims"],
    ["the set", "statefulsets"],
  ] as const) {
    it(`deletes no claim that is bound in the moment before ${what} is deleted`, async () => {
      await waiting(TYPO);
      const { uid } = drive.find("persistentvolumeclaims", "data-demo-0").metadata;
      let late: string | null = null;
      drive.world.api.before = ({ method, plural }: Call) => {
        if (method === "DELETE" && plural === victim && late === null) {
          // A second claim, because by then all claims of the set are being deleted.
          late = victim === "statefulsets" ? "data-demo-1" : "data-demo-0";
          if (late === "data-demo-1") {
            const { metadata, ...claim } = structuredClone(drive.find("persistentvolumeclaims", "data-demo-0"));
            drive.world.api.store.create("persistentvolumeclaims", "default", {
              ...claim,
              metadata: { name: late, labels: metadata.labels },
            });
          }
          drive.world.missingClasses.delete(TYPO);
          drive.world.settle();
        }
        return null;
      };
      drive.edit(storage(FAST));
      await drive.until("settled", () => late !== null && drive.operator.plan?.step === null);
      const claim = drive.find("persistentvolumeclaims", late ?? "");
      expect(claim.spec.volumeName, "it has a volume").to.be.a("string");
      expect(claim.metadata.deletionTimestamp, "and keeps it").to.equal(undefined);
      if (victim === "persistentvolumeclaims") {
        expect(claim.metadata.uid).to.equal(uid);
        expect(drive.condition("SpecAccepted")).to.equal("False StorageClassFixed");
        drive.edit(storage(TYPO));
        await drive.converge("taken back");
      }
    });
  }

  it("is looked at once more before the set is deleted", async () => {
    await waiting(TYPO);
    const set = drive.find("statefulsets", "demo").metadata.uid;
    let lists = 0;
    drive.world.api.before = ({ method, plural, name, query }: Call) => {
      const isGoing = drive.find("persistentvolumeclaims", "data-demo-0")?.metadata.deletionTimestamp !== undefined;
      if (method === "GET" && plural === "persistentvolumeclaims" && name === "" && query.get("watch") === null) {
        lists += isGoing ? 1 : 0;
        if (lists === 2 && drive.find("persistentvolumeclaims", "data-demo-1") === undefined) {
          const { metadata, ...claim } = structuredClone(drive.find("persistentvolumeclaims", "data-demo-0"));
          const spec = { ...claim.spec, storageClassName: FAST };
          drive.world.api.store.create("persistentvolumeclaims", "default", {
            ...claim,
            spec,
            metadata: { name: "data-demo-1", labels: metadata.labels },
          });
          drive.world.settle();
        }
      }
      return null;
    };
    drive.edit(storage(FAST));
    for (let passes = 0; passes < 5; passes++) {
      await drive.operator.reconcile("default", "demo");
      drive.world.advance(1_000);
    }
    expect(lists, "so the look was taken").to.be.greaterThan(1);
    expect(drive.find("statefulsets", "demo").metadata.uid).to.equal(set);
    expect(drive.find("persistentvolumeclaims", "data-demo-1").metadata.deletionTimestamp).to.equal(undefined);
  });
});
