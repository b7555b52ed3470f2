import { expect } from "chai";
import type { Any } from "../../test/api-server/index.ts";
import { Drive } from "../../test/world/index.ts";

describe("reconciler", () => {
  let drive: Drive;

  beforeEach(async () => {
    drive = new Drive();
    await drive.begin();
  });

  afterEach(() => drive.end());

  function find(plural: string, name: string): Any {
    return drive.world.api.store.find(plural, "default", name);
  }

  function merge(plural: string, name: string, change: object): void {
    const { store } = drive.world.api;
    store.merge(plural, store.get(plural, "default", name), change);
  }

  function textOf(secret: string, key: string): string {
    return Buffer.from(find("secrets", secret).data[key], "base64").toString("utf8");
  }

  /** Writes since then that are not about the status. */
  function writesSince(count: number): string[] {
    return drive.world.writes.slice(count).filter((write) => !write.endsWith("/status"));
  }

  /** But for writes that came too late: one looks again. */
  function failures(): string[] {
    return drive.operator.failures.filter((text) => !text.includes(" 409 "));
  }

  async function founded(replicas: 1 | 3 = 1): Promise<void> {
    drive.create({ replicas });
    await drive.converge("founding");
  }

  it("makes everything that a cluster needs, and then writes nothing", async () => {
    await founded(3);
    expect(drive.status).to.deep.include({ membersSummary: "3/3", voters: 3, phase: "Ready", replicas: 3 });
    expect(find("configmaps", "demo-identity").data).to.include({
      founder: "demo-0",
      clusterId: drive.status.clusterId,
    });
    expect(drive.operator.events.map(({ reason }) => reason)).to.deep.equal([
      "Founded",
      "SlotAdded",
      "SlotAdded",
      "MemberPromoted",
    ]);
    expect(find("poddisruptionbudgets", "demo").spec.minAvailable).to.equal(2);
    const roles = drive.world.api.store.list("pods").map(({ metadata }) => metadata.labels["quoin.dev/role"]);
    expect(roles.toSorted()).to.deep.equal(["follower", "follower", "leader"]);
    const ids = drive.world.api.store
      .list("persistentvolumeclaims")
      .map(({ metadata }) => Number(metadata.annotations["quoin.dev/member-id"]));
    expect(ids).to.have.members(drive.world.quorum.slots.map(({ id }) => id));
    const before = drive.world.writes.length;
    for (let passes = 0; passes < 3; passes++) {
      drive.world.advance(90_000);
      expect(await drive.operator.pass("default", "demo")).to.equal(10_000);
    }
    expect(drive.world.writes.slice(before)).to.deep.equal([]);
    expect(failures()).to.deep.equal([]);
  });

  it("makes secrets once: tokens, and the owner as the specification names it", async () => {
    drive.world.api.store.create("secrets", "default", {
      metadata: { name: "given" },
      data: { password: Buffer.from("swordfish").toString("base64") },
    });
    drive.create({ replicas: 1, access: { ownerEmail: "a@b.example", ownerSecretRef: { name: "given" } } });
    await drive.converge("founding");
    expect([textOf("demo-owner", "email"), textOf("demo-owner", "password")]).to.deep.equal([
      "a@b.example",
      "swordfish",
    ]);
    expect(textOf("demo-owner", "api-key")).to.match(/^qk_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}$/);
    const [join, admin] = [textOf("demo-tokens", "join"), textOf("demo-tokens", "admin")];
    expect(join).to.have.length(43);
    expect(join).to.not.equal(admin);
    drive.world.api.store.drop("secrets", find("secrets", "demo-owner"));
    await drive.operator.pass("default", "demo");
    expect(find("secrets", "demo-owner"), "nobody can read the password back").to.equal(undefined);
  });

  it("says who is missing while the owner's secret is not there, and founds when it is", async () => {
    drive.create({ replicas: 1, access: { ownerEmail: "a@b.example", ownerSecretRef: { name: "given" } } });
    await drive.until("identity", () => find("configmaps", "demo-identity") !== undefined);
    await drive.until("told", () => drive.operator.failures.some((text) => text.includes("Secret given")));
    drive.world.api.store.create("secrets", "default", { metadata: { name: "given" }, data: {} });
    await drive.converge("founding");
  });

  it("pins version and image once: from the set that there is, else its own", async () => {
    drive.create({ replicas: 1 });
    drive.edit({ spec: { version: null, image: { repository: null } } });
    await drive.converge("founding");
    expect(drive.cluster.spec).to.deep.include({ version: "1.4.0" });
    expect(drive.cluster.spec.image.repository).to.equal("quoin");
    merge("statefulsets", "demo", { metadata: { annotations: { "quoin.dev/version": "1.3.0" } } });
    drive.edit({ spec: { version: null } });
    await drive.operator.pass("default", "demo");
    expect(drive.cluster.spec.version).to.equal("1.3.0");
  });

  it("pins nothing without the Lease: the operator that has it may be another version", async () => {
    drive.create({ replicas: 1 });
    drive.edit({ spec: { version: null } });
    drive.operator.mayWrite = false;
    expect(await drive.operator.pass("default", "demo")).to.be.greaterThan(0);
    expect([drive.cluster.spec.version, drive.world.writes]).to.deep.equal([undefined, []]);
    drive.operator.mayWrite = true;
    await drive.converge("founding");
  });

  it("mends what others change, takes back what is wanted no more, and leaves alone what others add", async () => {
    await founded();
    merge("services", "demo", {
      spec: { selector: { "quoin.dev/cluster": "other" } },
      metadata: { annotations: { theirs: "1" } },
    });
    merge("statefulsets", "demo", { spec: { template: { spec: { containers: [] } } } });
    drive.edit({ spec: { services: { client: { annotations: { mine: "1" } }, leader: { enabled: false } } } });
    await drive.converge("mended");
    expect(find("services", "demo").spec.selector).to.deep.equal({ "quoin.dev/cluster": "demo" });
    expect(find("services", "demo").metadata.annotations).to.include({ theirs: "1", mine: "1" });
    expect(find("services", "demo-leader")).to.equal(undefined);
    expect(find("statefulsets", "demo").spec.template.spec.containers).to.have.length(1);
    drive.edit({ spec: { services: { client: { annotations: null } } } });
    await drive.converge("taken back");
    expect(find("services", "demo").metadata.annotations).to.include({ theirs: "1" });
    expect(find("services", "demo").metadata.annotations).to.not.have.property("mine");
  });

  it("keeps the number of pods, and its own notes, when it applies a new template", async () => {
    await founded(3);
    drive.edit({ spec: { resources: { requests: { cpu: "1", memory: "1024Mi" } } } });
    await drive.converge("rolled");
    const { metadata, spec } = find("statefulsets", "demo");
    expect(spec.replicas).to.equal(3);
    expect(metadata.annotations["quoin.dev/config-index"]).to.equal(String(drive.world.quorum.index));
  });

  it("leaves an object of that name alone that belongs to somebody else", async () => {
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "other", controller: true };
    drive.world.api.store.create("configmaps", "default", { metadata: { name: "other" } });
    const { uid } = find("configmaps", "other").metadata;
    drive.world.api.store.create("services", "default", {
      metadata: { name: "demo", ownerReferences: [{ ...owner, uid }] },
      spec: { type: "ClusterIP" },
    });
    drive.create({ replicas: 1 });
    await drive.until("refused", () => drive.condition("SpecAccepted") === "False NameConflict");
    expect(find("services", "demo").spec).to.deep.equal({ type: "ClusterIP" });
    expect(find("statefulsets", "demo")).to.equal(undefined);
    drive.world.api.store.drop("services", find("services", "demo"));
    await drive.converge("free again");
  });

  it("keeps the old template when the overlay, or the API server, is against the new one", async () => {
    await founded();
    const before = find("statefulsets", "demo").spec.template;
    drive.edit({ spec: { podTemplate: { spec: { restartPolicy: "Never" } } } });
    await drive.until("refused", () => drive.condition("SpecAccepted") === "False OverlayRejected");
    drive.edit({ spec: { podTemplate: { spec: { restartPolicy: null, unknown: true } } } });
    drive.world.api.before = ({ query }) =>
      query.get("dryRun") === null
        ? null
        : { status: 422, body: '{"reason":"Invalid","message":"unknown field spec.template.spec.unknown"}' };
    const messages = (): (string | undefined)[] => (drive.status.conditions ?? []).map(({ message }) => message);
    await drive.until("refused", () => messages().includes("unknown field spec.template.spec.unknown"));
    const asked = drive.world.api.calls.filter(({ query }) => query.get("dryRun") !== null).length;
    await drive.operator.pass("default", "demo");
    expect(drive.world.api.calls.filter(({ query }) => query.get("dryRun") !== null).length).to.equal(asked);
    expect(find("statefulsets", "demo").spec.template).to.deep.equal(before);
    drive.world.api.before = () => null;
    await drive.converge("taken, once nobody is against it");
    expect(find("statefulsets", "demo").spec.template.spec.unknown).to.equal(true);
  });

  it("tells only, while it is paused", async () => {
    await founded();
    drive.edit({ metadata: { annotations: { "quoin.dev/paused": "true" } }, spec: { replicas: 3 } });
    const before = drive.world.writes.length;
    await drive.until("paused", () => drive.condition("ReconcilePaused") === "True Annotated");
    await drive.operator.pass("default", "demo");
    expect(writesSince(before)).to.deep.equal([]);
    drive.edit({ metadata: { annotations: { "quoin.dev/paused": null } } });
    await drive.converge("grown");
  });

  it("writes settings when they differ, and again when somebody else has changed them", async () => {
    await founded();
    drive.edit({ spec: { settings: { tokenSeconds: 60 } } });
    const { quorum } = drive.world;
    await drive.until("put", () => quorum.settings.get("token.lifetime_secs") === "60");
    await drive.converge("settled");
    const before = drive.world.writes.length;
    await drive.operator.pass("default", "demo");
    expect(writesSince(before)).to.deep.equal([]);
    quorum.putSettings(new Map([["token.lifetime_secs", "5"]]), 0);
    await drive.until("put again", () => quorum.settings.get("token.lifetime_secs") === "60");
  });

  it("replaces a member whose disk is lost under a new id, without a hand", async () => {
    await founded(3);
    const old = drive.world.quorum.slots.find(({ name }) => name === "demo-2")?.id;
    const { store } = drive.world.api;
    store.remove("persistentvolumeclaims", find("persistentvolumeclaims", "data-demo-2"));
    store.remove("pods", find("pods", "demo-2"));
    drive.world.settle();
    await drive.until("lost", () => !drive.world.quorum.slots.some(({ id }) => id === old));
    await drive.converge("replaced");
    const slot = drive.world.quorum.slots.find(({ name }) => name === "demo-2");
    expect(slot).to.include({ voter: true });
    expect(slot?.id).to.not.equal(old);
    expect(drive.operator.events.map(({ reason }) => reason)).to.include("MemberDataLost");
  });

  it("wastes no disruption budget on evictions that come from an old look", async () => {
    await founded(3);
    const begin = drive.world.now;
    drive.edit({ metadata: { annotations: { "quoin.dev/restart": "1" } } });
    await drive.converge("rolled");
    expect(drive.world.now - begin, "within a minute").to.be.lessThan(60_000);
    const refused = drive.operator.failures.filter((text) => text.startsWith("evict") && text.includes(" 409 "));
    expect(refused).to.deep.equal([]);
  });

  it("waits for a disruption budget that is not its own, and says so", async () => {
    await founded(3);
    drive.world.api.store.create("poddisruptionbudgets", "default", {
      metadata: { name: "strict" },
      spec: { minAvailable: 3, selector: { matchLabels: { "quoin.dev/cluster": "demo" } } },
    });
    drive.edit({ metadata: { annotations: { "quoin.dev/restart": "1" } } });
    await drive.until("held", () => drive.status.blocked?.reason === "DisruptionBudget");
    const { since } = drive.status.blocked ?? {};
    const end = drive.world.now + 90_000;
    await drive.until("told", () => drive.world.now >= end);
    expect(drive.status.blocked?.since, "however often it is tried").to.equal(since);
    const told = drive.operator.events.filter(({ reason }) => reason === "Blocked");
    expect(told.map(({ note }) => note.split(":")[0])).to.deep.equal(["DisruptionBudget"]);
    expect(failures().filter((text) => !text.includes("has changed since"))).to.deep.equal([]);
    drive.world.api.store.drop("poddisruptionbudgets", find("poddisruptionbudgets", "strict"));
    await drive.converge("rolled");
  });

  it("stops at one pod with an image that is not there, and goes back", async () => {
    await founded(3);
    drive.edit({ spec: { image: { tag: "0.0.0-missing" } } });
    await drive.until("held", () => drive.status.blocked?.reason === "MemberUnhealthy");
    drive.world.advance(600_000);
    await drive.operator.pass("default", "demo");
    const running = drive.world.api.store.list("pods").filter((pod) => drive.world.isRunning(pod));
    expect(running).to.have.length(2);
    drive.edit({ spec: { image: { tag: null } } });
    await drive.converge("back");
  });

  it("goes with its volumes or leaves them, as the specification says", async () => {
    await founded();
    const owners = (): number =>
      ["configmaps/demo-identity", "secrets/demo-owner", "persistentvolumeclaims/data-demo-0"].filter((path) => {
        const [plural = "", name = ""] = path.split("/");
        return (find(plural, name).metadata.ownerReferences ?? []).length > 0;
      }).length;
    expect(owners()).to.equal(0);
    drive.edit({ spec: { storage: { whenDeleted: "Delete" } } });
    await drive.until("owned", () => owners() === 3);
    drive.edit({ spec: { storage: { whenDeleted: "Retain" } } });
    await drive.until("free", () => owners() === 0);
    drive.edit({ spec: { storage: { whenDeleted: "Delete" } } });
    await drive.until("owned", () => owners() === 3);
    drive.delete();
    expect(await drive.operator.pass("default", "demo")).to.equal(null);
    for (const plural of ["configmaps", "secrets", "persistentvolumeclaims", "pods", "services", "statefulsets"]) {
      expect(drive.world.api.store.list(plural), plural).to.deep.equal([]);
    }
  });

  it("takes up what a deleted cluster has left, and founds nothing", async () => {
    await founded(3);
    const { clusterId } = drive.status;
    drive.delete();
    expect(await drive.operator.pass("default", "demo")).to.equal(null);
    expect(drive.world.api.store.list("pods")).to.deep.equal([]);
    drive.create({ replicas: 3 });
    await drive.converge("taken up");
    expect(drive.status.clusterId).to.equal(clusterId);
    expect(drive.world.quorum.voterCounts).to.deep.equal([1, 3]);
    drive.world.api.store.drop("configmaps", find("configmaps", "demo-identity"));
    await drive.until("identity", () => find("configmaps", "demo-identity") !== undefined);
    expect(find("configmaps", "demo-identity").data).to.deep.equal({
      clusterId,
      founder: "-",
      founderIncarnation: "-",
    });
  });

  it("writes nothing that came from an older look than five seconds, or without the Lease", async () => {
    await founded();
    drive.edit({ spec: { replicas: 3 } });
    const before = drive.world.writes.length;
    drive.operator.mayWrite = false;
    await drive.operator.pass("default", "demo");
    expect(drive.world.writes.slice(before)).to.deep.equal([]);
    drive.operator.mayWrite = true;
    drive.operator.passMs = 5_001;
    await drive.operator.pass("default", "demo");
    expect(writesSince(before)).to.deep.equal([]);
    drive.operator.passMs = 0;
    await drive.converge("grown");
  });

  it("comes again when the API server asks for it, after a write that was too much", async () => {
    await founded();
    drive.edit({ spec: { replicas: 3 } });
    drive.world.api.before = ({ method, plural }) =>
      method === "PATCH" && plural === "statefulsets" ? { status: 429, headers: { "retry-after": "9" } } : null;
    let pauseMs: number | null = 0;
    for (let passes = 0; passes < 10 && pauseMs !== 9_000; passes++) {
      pauseMs = await drive.operator.pass("default", "demo");
      drive.world.advance(1_000);
    }
    expect(pauseMs).to.equal(9_000);
    drive.world.api.before = () => null;
    await drive.converge("grown");
  });

  it("says when monitoring is asked for and the API server does not know it, and does all else", async () => {
    drive.create({ replicas: 1, monitoring: { podMonitor: { enabled: true }, rules: { enabled: false } } });
    await drive.converge("founding");
    expect(drive.condition("MonitoringReady")).to.equal("False PodMonitorNotServed");
    drive.world.api.served.add("podmonitors");
    drive.world.advance(60_000);
    await drive.until("served", () => drive.condition("MonitoringReady") === "True MonitoringAsAsked");
    expect(find("podmonitors", "demo").spec.podMetricsEndpoints).to.have.length(1);
  });
});
