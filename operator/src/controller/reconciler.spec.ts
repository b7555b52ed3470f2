import { expect } from "chai";
import type { Any, Fault } from "../../test/api-server/index.ts";
import { Drive } from "../../test/world/index.ts";

describe("reconciler", () => {
  let drive: Drive;

  beforeEach(async () => {
    drive = new Drive();
    await drive.begin();
  });

  afterEach(() => drive.end());

  function merge(plural: string, name: string, change: object): void {
    const { store } = drive.world.api;
    store.merge(plural, store.get(plural, "default", name), change);
  }

  function textOf(secret: string, key: string): string {
    return Buffer.from(drive.find("secrets", secret).data[key], "base64").toString("utf8");
  }

  /** Writes since then, except status writes. */
  function writesSince(count: number): string[] {
    return drive.world.writes.slice(count).filter((write) => !write.endsWith("/status"));
  }

  /** Except stale writes, after which the operator observes again. */
  function failures(): string[] {
    return drive.operator.failures.filter((text) => !text.includes(" 409 "));
  }

  /** Called before a status of the cluster is written; may return another answer. */
  function onStatus(before: () => Fault | null): void {
    drive.world.api.before = ({ method, plural, subresource }) =>
      method === "PATCH" && plural === "coordinationclusters" && subresource === "status" ? before() : null;
  }

  it("makes everything that a cluster needs, and then writes nothing", async () => {
    await drive.founded(3);
    expect(drive.status).to.deep.include({ membersSummary: "3/3", voters: 3, phase: "Ready", replicas: 3 });
    expect(drive.find("configmaps", "demo-identity").data).to.include({
      founder: "demo-0",
      clusterId: drive.status.clusterId,
    });
    expect(drive.operator.events.map(({ reason }) => reason)).to.deep.equal([
      "Founded",
      "SlotAdded",
      "SlotAdded",
      "MemberPromoted",
    ]);
    expect(drive.find("poddisruptionbudgets", "demo").spec.minAvailable).to.equal(2);
    const roles = drive.world.api.store.list("pods").map(({ metadata }) => metadata.labels["quoin.dev/role"]);
    expect(roles.toSorted()).to.deep.equal(["follower", "follower", "leader"]);
    const ids = drive.world.api.store
      .list("persistentvolumeclaims")
      .map(({ metadata }) => Number(metadata.annotations["quoin.dev/member-id"]));
    expect(ids).to.have.members(drive.world.quorum.slots.map(({ id }) => id));
    const before = drive.world.writes.length;
    for (let passes = 0; passes < 3; passes++) {
      drive.world.advance(90_000);
      expect(await drive.operator.reconcile("default", "demo")).to.equal(10_000);
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
  });

  it("says that the owner's secret is missing, makes none by itself, and resets the owner with one that is named", async () => {
    await drive.founded(3);
    drive.world.api.store.drop("secrets", drive.find("secrets", "demo-owner"));
    await drive.until("told", () => drive.condition("OwnerSecretReady") === "False OwnerSecretMissing");
    drive.world.advance(1_000);
    expect(drive.find("secrets", "demo-owner"), "no client can read the password back").to.equal(undefined);
    drive.edit({ spec: { access: { ownerSecretRef: { name: "given" } } } });
    await drive.operator.reconcile("default", "demo");
    expect([drive.find("secrets", "demo-owner"), drive.world.owner]).to.deep.equal([undefined, null]);
    drive.world.api.store.create("secrets", "default", {
      metadata: { name: "given" },
      data: { password: Buffer.from("swordfish").toString("base64") },
    });
    await drive.until("reset", () => drive.condition("OwnerSecretReady") === "True OwnerSecretPresent");
    expect(drive.world.owner).to.deep.include({ email: "owner@quoin.local", password: "swordfish" });
    expect(drive.world.owner.apiKey).to.equal(textOf("demo-owner", "api-key"));
    expect(drive.world.writes.filter((write) => write === "ResetOwner")).to.have.length(1);
    await drive.converge("settled");
    expect(drive.world.writes.filter((write) => write === "ResetOwner")).to.have.length(1);
  });

  it("resets no owner with a secret from before the founding: its password may be given up", async () => {
    drive.world.api.store.create("secrets", "default", { metadata: { name: "given" }, data: {} });
    drive.world.advance(1_000);
    drive.create({ replicas: 1, access: { ownerEmail: "a@b.example", ownerSecretRef: { name: "given" } } });
    await drive.converge("founding");
    drive.world.api.store.drop("secrets", drive.find("secrets", "demo-owner"));
    await drive.until("told", () => drive.condition("OwnerSecretReady") === "False OwnerSecretMissing");
    await drive.operator.reconcile("default", "demo");
    expect([drive.find("secrets", "demo-owner"), drive.world.owner]).to.deep.equal([undefined, null]);
  });

  it("resets the owner as its secret says, however often the operator crashes on the way", async () => {
    await drive.founded(1);
    drive.world.advance(1_000);
    drive.world.api.store.create("secrets", "default", { metadata: { name: "given" }, data: {} });
    drive.edit({ spec: { access: { ownerSecretRef: { name: "given" } } } });
    await drive.converge("accepted");
    for (let writes = 1; writes <= 4; writes++) {
      drive.world.api.store.drop("secrets", drive.find("secrets", "demo-owner"));
      drive.world.crashAfter(writes);
      await drive.until("reset", () => {
        const apiKey = drive.find("secrets", "demo-owner") === undefined ? "" : textOf("demo-owner", "api-key");
        return drive.world.owner?.apiKey === apiKey && drive.condition("OwnerSecretReady").startsWith("True");
      });
      drive.world.revive();
    }
  });

  it("shows a password that members refuse", async () => {
    await drive.founded(1);
    drive.world.advance(1_000);
    const data = { password: Buffer.from("short").toString("base64") };
    drive.world.api.store.create("secrets", "default", { metadata: { name: "given" }, data });
    drive.world.api.store.drop("secrets", drive.find("secrets", "demo-owner"));
    drive.edit({ spec: { access: { ownerSecretRef: { name: "given" } } } });
    await drive.until("shown", () => drive.status.blocked?.reason === "UpkeepFailed");
    expect(drive.status.blocked?.message).to.contain("BAD_FIELD");
    expect(drive.condition("OwnerSecretReady")).to.equal("False OwnerResetPending");
  });

  it("names the owner's Secret while it is missing, and founds when it exists", async () => {
    drive.create({ replicas: 1, access: { ownerEmail: "a@b.example", ownerSecretRef: { name: "given" } } });
    await drive.until("identity", () => drive.find("configmaps", "demo-identity") !== undefined);
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
    await drive.operator.reconcile("default", "demo");
    expect(drive.cluster.spec.version).to.equal("1.3.0");
  });

  it("pins nothing without the Lease: the operator that has it may be another version", async () => {
    drive.create({ replicas: 1 });
    drive.edit({ spec: { version: null } });
    drive.operator.mayWrite = false;
    expect(await drive.operator.reconcile("default", "demo")).to.be.greaterThan(0);
    expect([drive.cluster.spec.version, drive.world.writes]).to.deep.equal([undefined, []]);
    drive.operator.mayWrite = true;
    await drive.converge("founding");
  });

  it("restores what others change, deletes what is no longer wanted, and keeps what others add", async () => {
    await drive.founded();
    merge("services", "demo", {
      spec: { selector: { "quoin.dev/cluster": "other" } },
      metadata: { annotations: { theirs: "1" } },
    });
    merge("statefulsets", "demo", { spec: { template: { spec: { containers: [] } } } });
    drive.edit({ spec: { services: { client: { annotations: { mine: "1" } }, leader: { enabled: false } } } });
    await drive.converge("mended");
    expect(drive.find("services", "demo").spec.selector).to.deep.equal({ "quoin.dev/cluster": "demo" });
    expect(drive.find("services", "demo").metadata.annotations).to.include({ theirs: "1", mine: "1" });
    expect(drive.find("services", "demo-leader")).to.equal(undefined);
    expect(drive.find("statefulsets", "demo").spec.template.spec.containers).to.have.length(1);
    drive.edit({ spec: { services: { client: { annotations: null } } } });
    await drive.converge("taken back");
    expect(drive.find("services", "demo").metadata.annotations).to.include({ theirs: "1" });
    expect(drive.find("services", "demo").metadata.annotations).to.not.have.property("mine");
  });

  it("undoes what others add to selectors, ports, rights and network rules, and reports it once", async () => {
    drive.create({ replicas: 3, networkPolicy: { enabled: true } });
    await drive.converge("founding");
    const before = {
      service: drive.find("services", "demo").spec,
      budget: drive.find("poddisruptionbudgets", "demo").spec,
      role: drive.find("roles", "demo").rules,
      binding: drive.find("rolebindings", "demo").subjects,
      policy: drive.find("networkpolicies", "demo").spec,
    };
    const selector = { "quoin.dev/cluster": "demo", app: "other" };
    merge("services", "demo", { spec: { selector, ports: [...before.service.ports, { name: "admin", port: 7403 }] } });
    merge("poddisruptionbudgets", "demo", { spec: { selector: { matchLabels: selector } } });
    const rule = { apiGroups: [""], resources: ["secrets"], verbs: ["*"] };
    merge("roles", "demo", { rules: [...before.role, rule] });
    merge("rolebindings", "demo", { subjects: [...before.binding, { kind: "Group", name: "everybody" }] });
    merge("networkpolicies", "demo", { spec: { ingress: [...before.policy.ingress, {}], egress: [{}] } });
    drive.world.advance(90_000);
    const told = drive.operator.events.length;
    await drive.operator.reconcile("default", "demo");
    expect(drive.find("services", "demo").spec).to.deep.equal(before.service);
    expect(drive.find("poddisruptionbudgets", "demo").spec).to.deep.equal(before.budget);
    expect(drive.find("roles", "demo").rules).to.deep.equal(before.role);
    expect(drive.find("rolebindings", "demo").subjects).to.deep.equal(before.binding);
    expect(drive.find("networkpolicies", "demo").spec).to.deep.equal(before.policy);
    const events = drive.operator.events.slice(told);
    expect(events.map(({ reason }) => reason)).to.deep.equal(["ChangeUndone"]);
    for (const object of ["Service", "PodDisruptionBudget", "Role", "RoleBinding", "NetworkPolicy"]) {
      expect(events[0]?.note).to.include(`${object} demo`);
    }
    const writes = drive.world.writes.length;
    drive.world.advance(90_000);
    await drive.operator.reconcile("default", "demo");
    expect(writesSince(writes)).to.deep.equal([]);
  });

  it("undoes what others add to the pods of the set, and restarts no member for it", async () => {
    await drive.founded(3);
    const before = drive.find("statefulsets", "demo").spec;
    const uids = drive.world.api.store.list("pods").map(({ metadata }) => metadata.uid);
    merge("statefulsets", "demo", {
      spec: { template: { spec: { nodeSelector: { disk: "none" } } }, ordinals: { start: 1 } },
    });
    drive.world.settle();
    const writes = drive.world.writes.length;
    await drive.operator.reconcile("default", "demo");
    expect(drive.find("statefulsets", "demo").spec).to.deep.equal(before);
    await drive.converge("put back");
    expect(drive.world.api.store.list("pods").map(({ metadata }) => metadata.uid)).to.deep.equal(uids);
    expect(writesSince(writes)).to.deep.equal(["PATCH statefulsets/demo"]);
    expect(drive.operator.events.at(-1)).to.include({ reason: "ChangeUndone", type: "Warning" });
    expect(drive.operator.events.at(-1)?.note).to.include("StatefulSet demo");
  });

  it("reports no foreign change when the specification changes", async () => {
    await drive.founded(3);
    drive.edit({ spec: { podTemplate: { spec: { nodeSelector: { disk: "fast" } } } } });
    await drive.converge("rolled");
    drive.edit({ spec: { podTemplate: null, services: { client: { annotations: { mine: "1" } } } } });
    await drive.converge("rolled back");
    expect(drive.find("statefulsets", "demo").spec.template.spec).to.not.have.property("nodeSelector");
    expect(drive.operator.events.map(({ reason }) => reason)).to.not.include("ChangeUndone");
  });

  it("restarts the members one by one for kubectl rollout restart", async () => {
    await drive.founded(3);
    const annotations = { "kubectl.kubernetes.io/restartedAt": "2026-01-02T03:04:05Z" };
    merge("statefulsets", "demo", { spec: { template: { metadata: { annotations } } } });
    const uids = new Set(drive.world.api.store.list("pods").map(({ metadata }) => metadata.uid));
    await drive.converge("rolled");
    const pods = drive.world.api.store.list("pods");
    expect(pods.filter(({ metadata }) => uids.has(metadata.uid))).to.deep.equal([]);
    expect(pods.map(({ metadata }) => metadata.annotations)).to.satisfy((all: Any[]) =>
      all.every((each) => each["kubectl.kubernetes.io/restartedAt"] === "2026-01-02T03:04:05Z"),
    );
    expect(drive.operator.events.map(({ reason }) => reason)).to.not.include("ChangeUndone");
  });

  it("pauses between conflicts with a writer that insists, and restarts no member for its template", async () => {
    await drive.founded(3);
    const uids = drive.world.api.store.list("pods").map(({ metadata }) => metadata.uid);
    const insist = (): void =>
      merge("statefulsets", "demo", { spec: { template: { spec: { nodeSelector: { disk: "none" } } } } });
    const writes = drive.world.writes.length;
    for (let passes = 0; passes < 60; passes++) {
      insist();
      drive.world.settle();
      await drive.operator.reconcile("default", "demo");
      drive.world.advance(1_000);
    }
    const undone = writesSince(writes).filter((write) => write === "PATCH statefulsets/demo").length;
    expect(undone).to.be.within(4, 8);
    expect(drive.condition("Ready")).to.equal("False TemplateNotObserved");
    expect(drive.world.api.store.list("pods").map(({ metadata }) => metadata.uid)).to.deep.equal(uids);
    await drive.converge("given in");
  });

  it("keeps the number of pods, and its own notes, when it applies a new template", async () => {
    await drive.founded(3);
    drive.edit({ spec: { resources: { requests: { cpu: "1", memory: "1024Mi" } } } });
    await drive.converge("rolled");
    const { metadata, spec } = drive.find("statefulsets", "demo");
    expect(spec.replicas).to.equal(3);
    expect(metadata.annotations["quoin.dev/config-index"]).to.equal(String(drive.world.quorum.index));
  });

  it("leaves a foreign object of that name alone", async () => {
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "other", controller: true };
    drive.world.api.store.create("configmaps", "default", { metadata: { name: "other" } });
    const { uid } = drive.find("configmaps", "other").metadata;
    drive.world.api.store.create("services", "default", {
      metadata: { name: "demo", ownerReferences: [{ ...owner, uid }] },
      spec: { type: "ClusterIP" },
    });
    drive.create({ replicas: 1 });
    await drive.until("refused", () => drive.condition("SpecAccepted") === "False NameConflict");
    expect(drive.find("services", "demo").spec).to.deep.equal({ type: "ClusterIP" });
    expect(drive.find("statefulsets", "demo")).to.equal(undefined);
    drive.world.api.store.drop("services", drive.find("services", "demo"));
    await drive.converge("free again");
  });

  it("keeps the old template when the overlay, or the API server, is against the new one", async () => {
    await drive.founded();
    const before = drive.find("statefulsets", "demo").spec.template;
    drive.edit({ spec: { podTemplate: { spec: { restartPolicy: "Never" } } } });
    await drive.until("refused", () => drive.condition("SpecAccepted") === "False OverlayRejected");
    const { generation } = drive.cluster.metadata;
    drive.edit({ spec: { podTemplate: { spec: { restartPolicy: null, unknown: true } } } });
    drive.world.api.before = ({ query }) =>
      query.get("dryRun") === null
        ? null
        : { status: 422, body: '{"reason":"Invalid","message":"unknown field spec.template.spec.unknown"}' };
    const messages = (): (string | undefined)[] => (drive.status.conditions ?? []).map(({ message }) => message);
    const inForce = `generation ${(generation ?? 0) - 1} stays in force: `;
    await drive.until("refused", () => messages().includes(`${inForce}unknown field spec.template.spec.unknown`));
    const asked = drive.world.api.calls.filter(({ query }) => query.get("dryRun") !== null).length;
    await drive.operator.reconcile("default", "demo");
    expect(drive.world.api.calls.filter(({ query }) => query.get("dryRun") !== null).length).to.equal(asked);
    expect(drive.find("statefulsets", "demo").spec.template).to.deep.equal(before);
    drive.world.api.before = () => null;
    await drive.converge("taken, once no policy is against it");
    expect(drive.find("statefulsets", "demo").spec.template.spec.unknown).to.equal(true);
  });

  it("keeps a cluster as its last accepted specification asks, while the present one is refused", async () => {
    await drive.founded(3);
    const { store } = drive.world.api;
    const typo = { nodeSelectr: { disk: "fast" } };
    drive.world.api.before = ({ query }) =>
      query.get("dryRun") === null
        ? null
        : { status: 422, body: '{"reason":"Invalid","message":"unknown field spec.template.spec.nodeSelectr"}' };
    drive.edit({ spec: { replicas: 5, podTemplate: { spec: typo } } });
    await drive.until("refused", () => drive.condition("SpecAccepted") === "False OverlayRejected");
    const told = drive.operator.events.filter(({ reason }) => reason === "SpecRefused");
    expect(told.map(({ note }) => note.slice(0, 15))).to.deep.equal(["OverlayRejected"]);
    for (const [plural, name] of [
      ["services", "demo"],
      ["poddisruptionbudgets", "demo"],
      ["secrets", "demo-tokens"],
      ["statefulsets", "demo"],
    ] as const) {
      store.drop(plural, drive.find(plural, name));
      drive.operator.forget("default", "demo");
      await drive.until(`${plural} made again`, () => drive.find(plural, name) !== undefined);
    }
    await drive.another().then(async (operator) => {
      store.drop("services", drive.find("services", "demo"));
      await operator.reconcile("default", "demo");
      expect(drive.find("services", "demo"), "by an operator that has just started, too").to.not.equal(undefined);
      await operator.stop();
    });
    await drive.until("whole again", () => drive.status.membersSummary === "3/3");
    expect(drive.find("statefulsets", "demo").spec.replicas).to.equal(3);
    expect(drive.condition("Ready")).to.equal("False OverlayRejected");
    expect(drive.status.phase).to.equal("Refused");
    drive.world.api.before = () => null;
    drive.edit({ spec: { podTemplate: null } });
    await drive.converge("corrected, and grown");
  });

  it("undoes what others add to the set also while the specification is refused", async () => {
    await drive.founded(3);
    const before = drive.find("statefulsets", "demo").spec;
    drive.edit({ spec: { podTemplate: { spec: { restartPolicy: "Never" } } } });
    await drive.until("refused", () => drive.condition("SpecAccepted") === "False OverlayRejected");
    merge("statefulsets", "demo", { spec: { template: { spec: { nodeSelector: { disk: "none" } } } } });
    drive.world.settle();
    await drive.operator.reconcile("default", "demo");
    expect(drive.find("statefulsets", "demo").spec).to.deep.equal(before);
    expect(drive.operator.events.at(-1)).to.include({ reason: "ChangeUndone" });
  });

  it("refuses no specification that is in force already, when a policy or a webhook is against every write", async () => {
    await drive.founded(3);
    for (const [status, body] of [
      [403, '{"reason":"Forbidden","message":"denied by a policy"}'],
      [500, '{"reason":"InternalError","message":"the webhook does not answer"}'],
    ] as const) {
      // An operator that starts has not tried anything yet.
      const operator = await drive.another();
      drive.world.api.before = ({ query }) => (query.get("dryRun") === null ? null : { status, body });
      await operator.reconcile("default", "demo");
      await operator.stop();
      expect(drive.condition("SpecAccepted")).to.match(/^True /);
      expect([operator.failures, operator.plan?.blocker]).to.deep.equal([[], null]);
    }
  });

  it("keeps all other objects of a running cluster up to date while one name belongs to a foreign object", async () => {
    await drive.founded(3);
    const { store } = drive.world.api;
    store.create("networkpolicies", "default", { metadata: { name: "demo" }, spec: { theirs: true } });
    drive.edit({ spec: { networkPolicy: { enabled: true } } });
    await drive.until("refused", () => drive.condition("SpecAccepted") === "False NameConflict");
    store.drop("services", drive.find("services", "demo"));
    drive.operator.forget("default", "demo");
    await drive.until("made again", () => drive.find("services", "demo") !== undefined);
    expect(drive.find("networkpolicies", "demo").spec).to.deep.equal({ theirs: true });
    store.drop("networkpolicies", drive.find("networkpolicies", "demo"));
    await drive.converge("free");
  });

  it("only writes the status while it is paused", async () => {
    await drive.founded();
    drive.edit({ metadata: { annotations: { "quoin.dev/paused": "true" } }, spec: { replicas: 3 } });
    const before = drive.world.writes.length;
    await drive.until("paused", () => drive.condition("ReconcilePaused") === "True Annotated");
    await drive.operator.reconcile("default", "demo");
    expect(writesSince(before)).to.deep.equal([]);
    drive.edit({ metadata: { annotations: { "quoin.dev/paused": null } } });
    await drive.converge("grown");
  });

  it("writes settings when they differ, and again when someone else has changed them", async () => {
    await drive.founded();
    drive.edit({ spec: { settings: { tokenSeconds: 60 } } });
    const { quorum } = drive.world;
    await drive.until("put", () => quorum.settings.get("token.lifetime_secs") === "60");
    await drive.converge("settled");
    const before = drive.world.writes.length;
    await drive.operator.reconcile("default", "demo");
    expect(writesSince(before)).to.deep.equal([]);
    quorum.putSettings(new Map([["token.lifetime_secs", "5"]]), 0);
    await drive.until("put again", () => quorum.settings.get("token.lifetime_secs") === "60");
  });

  it("replaces a member whose disk is lost under a new id, without a hand", async () => {
    await drive.founded(3);
    const old = drive.world.quorum.slots.find(({ name }) => name === "demo-2")?.id;
    const { store } = drive.world.api;
    store.remove("persistentvolumeclaims", drive.find("persistentvolumeclaims", "data-demo-2"));
    store.remove("pods", drive.find("pods", "demo-2"));
    drive.world.settle();
    await drive.until("lost", () => !drive.world.quorum.slots.some(({ id }) => id === old));
    await drive.converge("replaced");
    const slot = drive.world.quorum.slots.find(({ name }) => name === "demo-2");
    expect(slot).to.include({ voter: true });
    expect(slot?.id).to.not.equal(old);
    expect(drive.operator.events.map(({ reason }) => reason)).to.include("MemberDataLost");
  });

  it("wastes no disruption budget on evictions that come from an old look", async () => {
    await drive.founded(3);
    const begin = drive.world.now;
    drive.edit({ metadata: { annotations: { "quoin.dev/restart": "1" } } });
    await drive.converge("rolled");
    expect(drive.world.now - begin, "within a minute").to.be.lessThan(60_000);
    const refused = drive.operator.failures.filter((text) => text.startsWith("evict") && text.includes(" 409 "));
    expect(refused).to.deep.equal([]);
  });

  it("waits for a disruption budget that is not its own, and says so", async () => {
    await drive.founded(3);
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
    drive.world.api.store.drop("poddisruptionbudgets", drive.find("poddisruptionbudgets", "strict"));
    await drive.converge("rolled");
  });

  it("stops at one pod with an image that does not exist, and can be reverted", async () => {
    await drive.founded(3);
    drive.edit({ spec: { image: { tag: "0.0.0-missing" } } });
    await drive.until("held", () => drive.status.blocked?.reason === "MemberUnhealthy");
    drive.world.advance(600_000);
    await drive.operator.reconcile("default", "demo");
    const running = drive.world.api.store.list("pods").filter((pod) => drive.world.isRunning(pod));
    expect(running).to.have.length(2);
    drive.edit({ spec: { image: { tag: null } } });
    await drive.converge("back");
  });

  it("replaces members that are ended for their memory, as soon as the limit is raised", async () => {
    await drive.founded(3);
    const { world } = drive;
    const uids = (): string[] => world.api.store.list("pods").map(({ metadata }) => metadata.uid);
    const before = uids();
    for (const pod of world.api.store.list("pods")) {
      world.stop(pod);
      const terminated = { reason: "OOMKilled", exitCode: 137, finishedAt: world.api.store.time };
      const waiting = { reason: "CrashLoopBackOff" };
      const container = {
        name: "quoin",
        restartCount: 4,
        started: false,
        state: { waiting },
        lastState: { terminated },
      };
      world.api.store.update("pods", drive.find("pods", pod.metadata.name), (copy) => {
        copy.status.containerStatuses = [container];
      });
    }
    world.settle();
    await drive.until("told", () => drive.condition("Degraded") === "True OutOfMemory");
    const rows = drive.status.members?.map(({ restarts, lastTermination }) => [restarts, lastTermination]);
    expect(rows).to.deep.equal(Array(3).fill([4, "OOMKilled"]));
    expect(uids(), "the same template would end the same way").to.have.members(before);
    drive.edit({ spec: { resources: { limits: { memory: "4Gi" } } } });
    const begin = world.now;
    await drive.until("replaced", () => uids().every((uid) => !before.includes(uid)));
    expect(world.now - begin, "not the kubelet's five minutes").to.be.lessThan(20_000);
    await drive.converge("back");
  });

  it("stops a roll at a member whose memory is too small for the template, and goes on at once with another template", async () => {
    await drive.founded(3);
    const { world } = drive;
    const limit = (memory: string): void => drive.edit({ spec: { resources: { limits: { memory } } } });
    const uids = (): string[] => world.api.store.list("pods").map(({ metadata }) => metadata.uid);
    for (const [memory, corrected] of [
      ["1Gi", "4Gi"],
      ["2Gi", "4Gi"],
    ] as const) {
      const before = uids();
      limit(memory);
      await drive.until("one is rolled", () => uids().some((uid) => !before.includes(uid)));
      const pod = world.api.store.list("pods").find(({ metadata }) => !before.includes(metadata.uid)) as Any;
      // The failure happened under a load that is over: the next process runs, and is ready.
      const terminated = { reason: "OOMKilled", exitCode: 137, finishedAt: world.api.store.time };
      world.api.store.update("pods", pod, (copy) => {
        Object.assign(copy.status.containerStatuses[0], { restartCount: 2, lastState: { terminated } });
      });
      await drive.until("held", () => drive.status.blocked?.reason === "NewTemplateFails");
      const end = world.now + 3_600_000;
      await drive.until("an hour", () => {
        world.advance(600_000);
        return world.now >= end;
      });
      expect(drive.status.blocked).to.include({ gate: "Roll", reason: "NewTemplateFails" });
      expect(drive.status.blocked?.message)
        .to.include(`${pod.metadata.name} has the new template`)
        .and.include("OOMKilled, 2 restarts")
        .and.include(`above ${memory}`);
      expect(uids().filter((uid) => before.includes(uid))).to.have.length(2);
      expect(drive.operator.events.filter(({ reason }) => reason === "Blocked").at(-1)?.note).to.include("OOMKilled");
      limit(corrected);
      const begin = world.now;
      await drive.until("goes on", () => !uids().includes(pod.metadata.uid));
      expect(world.now - begin).to.be.lessThan(5_000);
      await drive.converge("rolled");
    }
  });

  it("goes with its volumes or leaves them, as the specification says", async () => {
    await drive.founded();
    const owners = (): number =>
      ["configmaps/demo-identity", "secrets/demo-owner", "persistentvolumeclaims/data-demo-0"].filter((path) => {
        const [plural = "", name = ""] = path.split("/");
        return (drive.find(plural, name).metadata.ownerReferences ?? []).length > 0;
      }).length;
    expect(owners()).to.equal(0);
    drive.edit({ spec: { storage: { whenDeleted: "Delete" } } });
    await drive.until("owned", () => owners() === 3);
    drive.edit({ spec: { storage: { whenDeleted: "Retain" } } });
    await drive.until("free", () => owners() === 0);
    drive.edit({ spec: { storage: { whenDeleted: "Delete" } } });
    await drive.until("owned", () => owners() === 3);
    drive.delete();
    expect(await drive.operator.reconcile("default", "demo")).to.equal(null);
    for (const plural of ["configmaps", "secrets", "persistentvolumeclaims", "pods", "services", "statefulsets"]) {
      expect(drive.world.api.store.list(plural), plural).to.deep.equal([]);
    }
  });

  it("adopts the volumes of a deleted cluster, and founds nothing", async () => {
    await drive.founded(3);
    const { clusterId } = drive.status;
    drive.delete();
    expect(await drive.operator.reconcile("default", "demo")).to.equal(null);
    expect(drive.world.api.store.list("pods")).to.deep.equal([]);
    drive.create({ replicas: 3 });
    await drive.converge("taken up");
    expect(drive.status.clusterId).to.equal(clusterId);
    expect(drive.world.quorum.voterCounts).to.deep.equal([1, 3]);
    drive.world.api.store.drop("configmaps", drive.find("configmaps", "demo-identity"));
    await drive.until("identity", () => drive.find("configmaps", "demo-identity") !== undefined);
    expect(drive.find("configmaps", "demo-identity").data).to.deep.equal({
      clusterId,
      founder: "-",
      founderIncarnation: "-",
    });
  });

  it("writes nothing that came from an older look than five seconds, or without the Lease", async () => {
    await drive.founded();
    drive.edit({ spec: { replicas: 3 } });
    const before = drive.world.writes.length;
    drive.operator.mayWrite = false;
    await drive.operator.reconcile("default", "demo");
    expect(drive.world.writes.slice(before)).to.deep.equal([]);
    drive.operator.mayWrite = true;
    drive.operator.passMs = 5_001;
    await drive.operator.reconcile("default", "demo");
    expect(writesSince(before)).to.deep.equal([]);
    drive.operator.passMs = 0;
    await drive.converge("grown");
  });

  it("retries after the time that the API server asks for, when it has throttled a write", async () => {
    await drive.founded();
    drive.edit({ spec: { replicas: 3 } });
    drive.world.api.before = ({ method, plural }) =>
      method === "PATCH" && plural === "statefulsets" ? { status: 429, headers: { "retry-after": "9" } } : null;
    let pauseMs: number | null = 0;
    for (let passes = 0; passes < 10 && pauseMs !== 9_000; passes++) {
      pauseMs = await drive.operator.reconcile("default", "demo");
      drive.world.advance(1_000);
    }
    expect(pauseMs).to.equal(9_000);
    drive.world.api.before = () => null;
    await drive.converge("grown");
  });

  it("looks again at once, and sets no alert before, when its status came too late", async () => {
    await drive.founded();
    drive.edit({ metadata: { annotations: { "quoin.dev/paused": "true" } } });
    const told = drive.operator.reconcilesReported;
    let isLate = true;
    onStatus(() => {
      if (isLate) {
        isLate = false;
        drive.edit({ metadata: { annotations: { theirs: "1" } } });
      }
      return null;
    });
    expect(await drive.operator.reconcile("default", "demo")).to.equal(200);
    expect(drive.condition("ReconcilePaused")).to.equal("False NotPaused");
    expect(drive.operator.reconcilesReported - told).to.equal(0);
    expect(await drive.operator.reconcile("default", "demo")).to.be.greaterThan(200);
    expect(drive.condition("ReconcilePaused")).to.equal("True Annotated");
    expect(drive.operator.reconcilesReported - told).to.equal(1);
  });

  it("sets alerts, and writes its status again soon, while the API server does not take it", async () => {
    await drive.founded();
    drive.edit({ metadata: { annotations: { "quoin.dev/paused": "true" } } });
    const told = drive.operator.reconcilesReported;
    onStatus(() => ({ status: 500 }));
    expect(await drive.operator.reconcile("default", "demo")).to.equal(2_000);
    expect(drive.operator.reconcilesReported - told).to.equal(1);
    onStatus(() => ({ status: 429, headers: { "retry-after": "9" } }));
    expect(await drive.operator.reconcile("default", "demo")).to.equal(9_000);
    onStatus(() => null);
    expect(await drive.operator.reconcile("default", "demo")).to.be.greaterThan(2_000);
    expect(drive.condition("ReconcilePaused")).to.equal("True Annotated");
  });
});
