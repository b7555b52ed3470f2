import { expect } from "chai";
import type { Call } from "../../test/api-server/index.ts";
import { Drive } from "../../test/world/index.ts";

/** The API server's answer to the eviction of a pod that two budgets cover. */
const TWO_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";

describe("actions that fail", () => {
  let drive: Drive;

  beforeEach(async () => {
    drive = new Drive();
    await drive.begin();
  });

  afterEach(() => drive.end());

  /** Answers requests for a kind with a Status. */
  function refuse(is: (call: Call) => boolean, status: number, reason: string, message: string): void {
    drive.world.api.before = (call) =>
      is(call) ? { status, body: JSON.stringify({ kind: "Status", reason, message }) } : null;
  }

  function allow(): void {
    drive.world.api.before = () => null;
  }

  function eventsOf(wanted: string): string[] {
    return drive.operator.events.filter(({ reason }) => reason === wanted).map(({ note }) => note);
  }

  it("shows an eviction that the API server cannot do, everywhere where people look, until the wish is taken back", async () => {
    await drive.founded(3);
    refuse(({ subresource }) => subresource === "eviction", 500, "InternalError", TWO_BUDGETS);
    drive.edit({ spec: { podTemplate: { metadata: { annotations: { restarted: "1" } } } } });
    await drive.until("shown", () => drive.condition("ReconcileSucceeded") === "False StepFailed");
    const message = `evict demo-0: ${TWO_BUDGETS}`.replace("demo-0", drive.status.blocked?.target ?? "");
    expect(drive.status.blocked).to.include({ gate: "Roll", reason: "StepFailed", message });
    expect(drive.messageOf("ReconcileSucceeded")).to.equal(message);
    expect(drive.condition("Degraded")).to.equal("False Healthy");
    expect(drive.operator.failing.map(({ action }) => action)).to.deep.equal(["evict"]);
    await drive.pass(60_000);
    expect(drive.condition("Degraded")).to.equal("True StepFailed");
    expect(eventsOf("StepFailed"), "once, however often it is tried").to.deep.equal([message]);
    drive.edit({ spec: { podTemplate: null } });
    await drive.converge("taken back");
    expect([drive.condition("ReconcileSucceeded"), drive.condition("Degraded")]).to.deep.equal([
      "True Succeeded",
      "False Healthy",
    ]);
    expect([drive.status.blocked, drive.operator.failing]).to.deep.equal([undefined, []]);
  });

  it("does not show a failure that the second try resolves", async () => {
    await drive.founded(3);
    let refusals = 2;
    refuse(({ subresource }) => subresource === "eviction" && refusals-- > 0, 500, "InternalError", "not yet");
    drive.edit({ metadata: { annotations: { "quoin.dev/restart": "1" } } });
    await drive.converge("rolled");
    expect(refusals).to.be.lessThan(0);
    expect(eventsOf("StepFailed")).to.deep.equal([]);
  });

  it("says which Secret is missing, and founds once the wish for it is taken back", async () => {
    drive.create({ replicas: 1, access: { ownerEmail: "a@b.example", ownerSecretRef: { name: "given" } } });
    await drive.until("shown", () => drive.status.blocked?.reason === "StepFailed");
    expect(drive.status.blocked?.message).to.contain("check that there is a Secret given");
    expect(drive.messageOf("ReconcileSucceeded")).to.contain("check that there is a Secret given");
    drive.edit({ spec: { access: { ownerSecretRef: null } } });
    await drive.converge("founded");
  });

  it("names a foreign Secret with the owner's name, and founds when it is gone", async () => {
    drive.world.api.store.create("secrets", "default", { metadata: { name: "demo-owner" }, data: {} });
    drive.create({ replicas: 1 });
    await drive.until("shown", () => drive.status.blocked?.reason === "StepFailed");
    expect(drive.status.blocked?.message).to.contain("Secret demo-owner does not hold email, password and api-key");
    drive.world.api.store.drop("secrets", drive.find("secrets", "demo-owner"));
    await drive.converge("founded");
  });

  it("names a foreign identity, and founds when it is gone", async () => {
    drive.world.api.store.create("configmaps", "default", { metadata: { name: "demo-identity" }, data: { a: "b" } });
    drive.create({ replicas: 1 });
    await drive.until("refused", () => drive.condition("SpecAccepted") === "False NameConflict");
    expect(drive.messageOf("SpecAccepted")).to.contain("ConfigMap demo-identity does not hold clusterId");
    drive.world.api.store.drop("configmaps", drive.find("configmaps", "demo-identity"));
    await drive.converge("founded");
  });

  it("shows upkeep that is refused, and does all else", async () => {
    await drive.founded(1);
    const quota =
      'persistentvolumeclaims "data-demo-0" is forbidden: exceeded quota: small, requested: requests.storage=8Gi';
    refuse(
      ({ plural, body }) => plural === "persistentvolumeclaims" && body?.spec !== undefined,
      403,
      "Forbidden",
      quota,
    );
    drive.edit({ spec: { storage: { size: "16Gi" } } });
    await drive.until("shown", () => drive.status.blocked?.reason === "UpkeepFailed");
    expect(drive.status.blocked).to.include({ gate: "Upkeep", message: `grow-claim data-demo-0: ${quota}` });
    expect(drive.condition("Ready")).to.equal("False Growing");
    expect(drive.operator.failing.map(({ action }) => action)).to.deep.equal(["grow-claim"]);
    expect(drive.status.volumeSize, "so that the size may go back").to.equal(String(8 * 1024 ** 3));
    drive.edit({ spec: { replicas: 3 } });
    await drive.until("grown", () => drive.status.membersSummary === "3/3");
    drive.edit({ spec: { storage: { size: "8Gi" } } });
    await drive.converge("taken back");
    allow();
  });

  it("shows a write that is refused again and again as too late", async () => {
    await drive.founded(1);
    const late = "the object has been modified";
    refuse(({ method, plural }) => method === "PATCH" && plural === "statefulsets", 409, "Conflict", late);
    drive.edit({ spec: { replicas: 3 } });
    await drive.pass(25_000);
    expect(drive.condition("ReconcileSucceeded"), "another look may help").to.equal("True Succeeded");
    await drive.pass(10_000);
    expect(drive.messageOf("ReconcileSucceeded")).to.contain(late);
    allow();
    await drive.converge("grown");
  });

  it("shows why it cannot observe the cluster, and keeps the last status", async () => {
    await drive.founded(3);
    const denied = 'secrets "demo-tokens" is forbidden';
    refuse(({ plural }) => plural === "secrets", 403, "Forbidden", denied);
    await drive.until("shown", () => drive.condition("ReconcileSucceeded") === "False PassFailed");
    expect(drive.status).to.deep.include({ membersSummary: "3/3", voters: 3 });
    expect([drive.condition("Ready"), drive.messageOf("Ready")]).to.deep.equal([
      "Unknown PassFailed",
      `observe demo: ${denied}`,
    ]);
    drive.world.advance(60_000);
    await drive.until("for long", () => drive.condition("Degraded") === "True PassFailed");
    expect(eventsOf("PassFailed")).to.have.length(1);
    allow();
    await drive.converge("again");
  });

  it("goes on when a webhook does not judge a new template, and takes the template when it does", async () => {
    await drive.founded(3);
    const silent = 'failed calling webhook "policy.example.com": connection refused';
    refuse(({ query }) => query.get("dryRun") !== null, 500, "InternalError", silent);
    drive.edit({ spec: { resources: { requests: { cpu: "1", memory: "1024Mi" } } } });
    await drive.until("refused", () => drive.condition("SpecAccepted") === "False TemplateNotTried");
    expect(drive.messageOf("SpecAccepted")).to.equal(`generation 1 stays in force: ${silent}`);
    allow();
    await drive.converge("rolled");
  });
});
