import { expect } from "chai";
import type { Any } from "../../test/api-server/index.ts";
import { Drive, type World } from "../../test/world/index.ts";

type Kind = Parameters<World["refusalOf"]>[0];

/** An API server's message about a LimitRange. */
const TOO_SMALL = 'pods "demo-1" is forbidden: minimum memory usage per Container is 4Gi, but request is 512Mi';
const GRACE_MS = 3_000;
const EVENTS_READ_INTERVAL_MS = 10_000;

describe("pods that Kubernetes does not make", () => {
  let drive: Drive;

  beforeEach(async () => {
    drive = new Drive();
    await drive.begin();
  });

  afterEach(() => drive.end());

  /** From now on, for objects with this name. */
  function refuse(kind: Kind, name: string, cause: string): void {
    drive.world.refusalOf = (asked, { metadata }: Any) => (asked === kind && metadata.name === name ? cause : null);
  }

  function allow(): void {
    drive.world.refusalOf = () => null;
    drive.world.settle();
  }

  function eventReads(): number {
    return drive.world.api.calls.filter(({ method, plural }) => method === "GET" && plural === "events").length;
  }

  it("shows the API server's refusal of a new member's pod in status, conditions and events until the cause is gone", async () => {
    await drive.founded(1);
    refuse("pod", "demo-1", TOO_SMALL);
    drive.edit({ spec: { replicas: 3 } });
    await drive.until("shown", () => drive.status.blocked?.reason === "PodNotCreated");
    const message = `demo-1 cannot be created: ${TOO_SMALL}`;
    expect(drive.status.blocked).to.include({ gate: "AwaitLearner", target: "demo-1", message });
    expect([drive.condition("Ready"), drive.messageOf("Ready")]).to.deep.equal(["False PodNotCreated", message]);
    expect([drive.condition("Progressing"), drive.messageOf("Progressing")]).to.deep.equal([
      "True AwaitLearner",
      message,
    ]);
    expect(drive.condition("Degraded")).to.equal("False Healthy");
    await drive.pass(62_000);
    expect(drive.condition("Degraded")).to.equal("True PodNotCreated");
    const told = drive.operator.events.filter(({ reason }) => reason === "Blocked");
    expect(told.map(({ note }) => note)).to.deep.equal([`PodNotCreated: ${message}`]);
    allow();
    await drive.until("gone", () => drive.status.blocked?.reason !== "PodNotCreated");
    await drive.converge("grown");
    expect([drive.status.blocked, drive.condition("Degraded")]).to.deep.equal([undefined, "False Healthy"]);
  });

  it("shows why the first pod of a cluster is not made", async () => {
    refuse("pod", "demo-0", TOO_SMALL);
    drive.create({ replicas: 1 });
    await drive.until("shown", () => drive.status.blocked?.reason === "PodNotCreated");
    expect(drive.status.blocked).to.include({ gate: "Found", target: "demo-0" });
    expect(drive.messageOf("Ready")).to.equal(
      `no leader has confirmed its quorum; demo-0 cannot be created: ${TOO_SMALL}`,
    );
    allow();
    await drive.converge("founded");
  });

  it("shows why a voter's pod does not come back, and beside a lost quorum, too", async () => {
    await drive.founded(3);
    refuse("pod", "demo-1", TOO_SMALL);
    const { store } = drive.world.api;
    store.remove("pods", store.get("pods", "default", "demo-1"));
    drive.world.settle();
    await drive.until("shown", () => drive.status.blocked?.reason === "PodNotCreated");
    expect(drive.status.blocked).to.include({ gate: "AwaitPod", target: "demo-1" });
    drive.world.refusalOf = (asked, { metadata }: Any) =>
      asked === "pod" && metadata.name !== "demo-0" ? TOO_SMALL : null;
    store.remove("pods", store.get("pods", "default", "demo-2"));
    drive.world.settle();
    await drive.until("leaderless", () => drive.status.blocked?.reason === "NoLeader");
    expect(drive.status.blocked?.message).to.contain(`; demo-1 cannot be created: ${TOO_SMALL}`);
    drive.world.advance(60_000);
    await drive.until("lost", () => drive.status.blocked?.reason === "QuorumLost");
    expect(drive.status.blocked?.message).to.contain(`; demo-1 cannot be created: ${TOO_SMALL}`);
    allow();
    await drive.converge("back");
  });

  const others: readonly [kind: Kind, name: string, cause: string, reason: string, target: string, sentence: string][] =
    [
      ["claim", "data-demo-1", "exceeded quota: small", "VolumeNotCreated", "data-demo-1", "cannot be created"],
      ["volume", "data-demo-1", "no space left", "VolumeNotCreated", "data-demo-1", "cannot be created"],
      ["node", "demo-1", "0/3 nodes are available", "PodNotScheduled", "demo-1", "has no node"],
    ];
  for (const [kind, name, cause, reason, target, sentence] of others) {
    it(`shows why there is no ${kind} for it`, async () => {
      await drive.founded(1);
      refuse(kind, name, cause);
      drive.edit({ spec: { replicas: 3 } });
      await drive.until("shown", () => drive.status.blocked?.reason === reason);
      expect(drive.status.blocked).to.include({ target, message: `${target} ${sentence}: ${cause}` });
      allow();
      await drive.converge("grown");
    });
  }

  it("does not mention a pod that is no longer wanted, and cuts long messages", async () => {
    await drive.founded(1);
    refuse("pod", "demo-1", "x".repeat(5_000));
    drive.edit({ spec: { replicas: 3 } });
    await drive.until("shown", () => drive.status.blocked?.reason === "PodNotCreated");
    expect(drive.status.blocked?.message).to.have.length.within(500, 1_024).and.match(/x…$/);
    drive.edit({ spec: { replicas: 1 } });
    await drive.converge("taken back");
  });

  it("does not take an old failure for the cause, once the pod has been made since", async () => {
    await drive.founded(1);
    refuse("pod", "demo-1", TOO_SMALL);
    drive.edit({ spec: { replicas: 3 } });
    await drive.until("shown", () => drive.status.blocked?.reason === "PodNotCreated");
    drive.world.advance(2_000);
    allow();
    await drive.converge("grown");
    const { store } = drive.world.api;
    // The set's controller is slow, and has sent no event yet.
    drive.world.api.settle = () => {};
    store.drop("pods", store.get("pods", "default", "demo-1"));
    const reads = eventReads();
    for (let seconds = 0; seconds < 6; seconds++) {
      drive.world.now += 1_000;
      await drive.operator.reconcile("default", "demo");
      expect(drive.status.blocked?.reason).to.not.equal("PodNotCreated");
    }
    expect(eventReads()).to.be.above(reads);
  });

  it("reads events only while something is missing, and then every ten seconds", async () => {
    await drive.founded(3);
    const { world, operator } = drive;
    for (let passes = 0; passes < 10; passes++) {
      world.advance(EVENTS_READ_INTERVAL_MS);
      await operator.reconcile("default", "demo");
    }
    expect(eventReads(), "at rest, and while members were made at the usual pace").to.equal(0);
    refuse("pod", "demo-1", TOO_SMALL);
    world.api.store.remove("pods", world.api.store.get("pods", "default", "demo-1"));
    world.settle();
    const begin = world.now;
    while (world.now - begin < 60_000) {
      await operator.reconcile("default", "demo");
      world.advance(500);
    }
    expect(eventReads()).to.be.within(4, Math.ceil((60_000 - GRACE_MS) / EVENTS_READ_INTERVAL_MS));
  });

  it("goes on without a cause where events cannot be read", async () => {
    await drive.founded(1);
    refuse("pod", "demo-1", TOO_SMALL);
    drive.world.api.before = ({ method, plural }) =>
      method === "GET" && plural === "events" ? { status: 403, body: '{"kind":"Status","reason":"Forbidden"}' } : null;
    drive.edit({ spec: { replicas: 3 } });
    await drive.pass(30_000);
    expect(eventReads()).to.be.within(1, 3);
    expect(drive.status.blocked).to.include({ gate: "AwaitLearner", reason: "WaitingForPod", target: "demo-1" });
    expect(drive.condition("ReconcileSucceeded")).to.equal("True Succeeded");
  });
});
