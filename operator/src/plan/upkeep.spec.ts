import { expect } from "chai";
import { CLUSTER_ID, idOf, Scene } from "../../test/index.ts";
import type { Upkeep } from "./plan.ts";
import { plan } from "./planner.ts";
import { compareVersions, isSkewed } from "./version.ts";

function upkeepOf(scene: Scene): readonly Upkeep[] {
  return plan(scene.observe()).upkeep;
}

function drifting(scene: Scene, ...kinds: string[]): Scene {
  scene.rest = { ...scene.rest, drift: kinds.map((kind) => ({ kind, name: "demo" })) };
  return scene;
}

const CLAIM = { uid: "claim-1", resourceVersion: "claim-1", ordinal: 1 };
const pod = (ordinal: number) => ({ uid: `pod-${ordinal}`, resourceVersion: "pod-1", ordinal });

describe("upkeep", () => {
  it("applies what differs, also without a leader", () => {
    const apply = { kind: "apply", object: { kind: "Service", name: "demo" } };
    expect(upkeepOf(drifting(new Scene(3), "Service"))).to.deep.equal([apply]);
    expect(upkeepOf(drifting(new Scene(3).leaderless(0), "Service"))).to.deep.equal([apply]);
  });

  describe("of the template", () => {
    const to = (version: string): Scene => drifting(new Scene(3), "StatefulSet").spec({ version });
    it("writes it when it differs", () => {
      expect(upkeepOf(to("1.5.0"))).to.have.length(1);
      expect(plan(to("1.5.0").observe()).blocker).to.equal(null);
    });
    it("waits while a pod runs a version that is too far away", () => {
      const scene = to("1.5.0").pod(2, { version: "1.3.9" });
      expect(upkeepOf(scene)).to.deep.equal([]);
      expect(plan(scene.observe()).blocker).to.include({ gate: "Template", reason: "VersionSkew" });
    });
    it("waits while a member has data that the version cannot read", () => {
      const scene = to("1.3.0").report(1, { downgradeFloor: "1.4.0" });
      expect(upkeepOf(scene)).to.deep.equal([]);
      expect(plan(scene.observe()).blocker).to.include({ reason: "DowngradeBelowFloor" });
      expect(plan(scene.observe()).blocker?.message).to.contain("demo-1");
    });
    it("holds nothing when there is no new template", () => {
      expect(plan(new Scene(3).pod(2, { version: "1.1.0" }).observe()).blocker).to.equal(null);
    });
  });

  it("keeps the disruption budget in step with the voters, and leaves it alone without a leader", () => {
    const scene = new Scene(3);
    scene.rest = { minAvailable: 1 };
    expect(upkeepOf(scene)).to.deep.equal([{ kind: "budget", minAvailable: 2 }]);
    scene.leaderless(0);
    expect(upkeepOf(scene)).to.deep.equal([]);
    const off = new Scene(3).spec({ podDisruptionBudget: { enabled: false } });
    expect(upkeepOf(off)).to.deep.equal([{ kind: "budget", minAvailable: null }]);
  });

  it("notes the index of the configuration on the set", () => {
    const scene = new Scene(3).configured({ index: 101 });
    expect(upkeepOf(scene)).to.deep.equal([{ kind: "note-config-index", index: 101, resourceVersion: "set-1" }]);
  });

  describe("of labels", () => {
    it("takes the leader's from a pod before another gets it", () => {
      const scene = new Scene(3).configured({ leaderId: idOf(1), term: 8 });
      expect(upkeepOf(scene)).to.deep.equal([
        { kind: "label-pod", role: "follower", term: 8, ...pod(0) },
        { kind: "label-pod", role: "leader", term: 8, ...pod(1) },
      ]);
    });
    it("leaves a pod alone that knows a later term", () => {
      const scene = new Scene(3).pod(0, { role: "follower", term: 8 }).pod(1, { role: "leader", term: 8 });
      expect(upkeepOf(scene)).to.deep.equal([]);
    });
    it("labels learners, and pods that are not members", () => {
      const scene = new Scene(3).slot(1, { voter: false }).noSlot(2);
      scene.rest = { minAvailable: 1 };
      expect(upkeepOf(scene)).to.deep.equal([
        { kind: "label-pod", role: "learner", term: 7, ...pod(1) },
        { kind: "label-pod", role: "none", term: 7, ...pod(2) },
      ]);
    });
    it("changes nothing without a leader", () => {
      expect(upkeepOf(new Scene(3).pod(0, { role: "follower" }).leaderless(0))).to.deep.equal([]);
    });
  });

  describe("of claims", () => {
    it("writes down whose data they have", () => {
      const none = new Scene(3).claim(1, { clusterId: null, memberId: null });
      const id = { kind: "annotate-claim", clusterId: CLUSTER_ID, memberId: 11, ...CLAIM };
      expect(upkeepOf(none)).to.deep.equal([id]);
      expect(upkeepOf(new Scene(3).claim(1, { memberId: "none" }))).to.deep.equal([id]);
    });
    it("writes down that there is nothing yet, and never forgets an id", () => {
      const empty = new Scene(3, 1).scale(2).emptyMember(1);
      expect(upkeepOf(empty.claim(1, { clusterId: null, memberId: null }))).to.deep.equal([
        { kind: "annotate-claim", clusterId: CLUSTER_ID, memberId: "none", ...CLAIM },
      ]);
      expect(upkeepOf(empty.claim(1, { clusterId: CLUSTER_ID, memberId: 11 }))).to.deep.equal([]);
    });
    it("never claims the data of another cluster", () => {
      const scene = new Scene(3).report(1, { state: "WRONG_CLUSTER", clusterId: "other" });
      expect(upkeepOf(scene.claim(1, { memberId: null }))).to.deep.equal([]);
    });
    it("lets them grow, where the class can", () => {
      const larger = (): Scene =>
        new Scene(1).spec({ storage: { size: "9Gi", whenDeleted: "Retain", whenScaled: "Delete" } });
      expect(upkeepOf(larger())).to.deep.equal([
        { kind: "grow-claim", size: "9Gi", uid: "claim-0", resourceVersion: "claim-1", ordinal: 0 },
      ]);
      expect(upkeepOf(larger().claim(0, { expandable: false }))).to.deep.equal([]);
      expect(upkeepOf(larger().claim(0, { requested: 10 * 1024 ** 3 }))).to.deep.equal([]);
      // Kubernetes does not let a claim grow before it has a volume, such as that of a pod without a node.
      expect(upkeepOf(larger().claim(0, { capacity: null }))).to.deep.equal([]);
    });
  });

  describe("of settings", () => {
    const values = new Map([
      ["queue.duplicate_window_secs", "60"],
      ["ratelimit.grpc.burst", "5"],
    ]);
    const wanted = (): Scene =>
      new Scene(3).spec({ settings: { duplicateWindowSeconds: 60, rateLimits: { grpc: { burst: 5 } } } });
    const applied = (scene: Scene, revision: number): Scene => {
      scene.set = scene.set && { ...scene.set, settings: { values, revision } };
      return scene;
    };
    it("writes the settings in the specification", () => {
      expect(upkeepOf(wanted())).to.deep.equal([{ kind: "put-settings", values, ifSettingsRevision: 0 }]);
    });
    it("puts nothing twice", () => {
      expect(upkeepOf(applied(wanted(), 0))).to.deep.equal([]);
    });
    it("writes them again after someone else has changed them", () => {
      const scene = applied(wanted(), 0).report(0, { settingsRevision: 3 });
      expect(upkeepOf(scene)).to.deep.equal([{ kind: "put-settings", values, ifSettingsRevision: 3 }]);
    });
    it("keeps settings that the specification does not name", () => {
      expect(upkeepOf(new Scene(3).report(0, { settingsRevision: 3 }))).to.deep.equal([]);
    });
  });

  it("compares versions as Semantic Versioning orders them", () => {
    const ordered = [
      "1.0.0-alpha",
      "1.0.0-alpha.1",
      "1.0.0-alpha.beta",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
      "1.0.0",
      "1.0.10",
      "1.10.0",
      "2.0.0",
    ];
    for (const [at, version] of ordered.entries()) {
      expect(
        ordered.map((other) => Math.sign(compareVersions(version, other))),
        version,
      ).to.deep.equal(ordered.map((_, other) => Math.sign(at - other)));
    }
    expect(isSkewed("1.4.0", "1.5.9")).to.equal(false);
    expect(isSkewed("1.4.0", "1.6.0")).to.equal(true);
    expect(isSkewed("1.4.0", "2.4.0")).to.equal(true);
    expect(isSkewed("built here", "1.4.0")).to.equal(false);
  });
});
