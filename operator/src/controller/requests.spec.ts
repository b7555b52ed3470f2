/**
 * How many requests an operator sends to the API server while nothing happens: watches report changes, so it need not
 * poll.
 */
import { expect } from "chai";
import { until } from "../../../testing/index.ts";
import { type Call, configOf, installDefinitions } from "../../test/api-server/index.ts";
import { ManualTiming } from "../../test/index.ts";
import { Drive } from "../../test/world/index.ts";
import { type Connection, connect } from "../kube/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { Operator } from "./operator.ts";

const NAMES = Array.from({ length: 10 }, (_, at) => `c${at}`);
/** Of one cluster. */
const MEMBERS = 3;
const REST_SECONDS = 300;
/** For less than Secrets are cached. */
const REFUSED_SECONDS = 60;
const STEP_MS = 2_000;
const PASS_SECONDS = 10;
const PATIENCE = { limitMs: 120_000, pollMs: 20 };

describe("operator of ten clusters", function () {
  this.timeout(180_000);
  let drive: Drive;
  let connection: Connection;
  let operator: Operator;
  let timing: ManualTiming;
  let url: string;

  before(async () => {
    drive = new Drive();
    await drive.begin(2 * (NAMES.length + MEMBERS));
    installDefinitions(drive.world.api.store);
    timing = new ManualTiming();
    connection = await connect(configOf(drive.world.api.url));
    await startOperator();
  });

  async function startOperator(): Promise<void> {
    operator = new Operator({
      connection,
      instance: "one",
      leaseName: "quoin-operator",
      watchNamespaces: [],
      timing,
      settings: { operatorNamespace: "quoin-system", clusterDomain: "cluster.local", manualUrl: "" },
      defaults: { version: "1.4.0", repository: "quoin" },
      planCertificates: async () => ({ writes: [], problem: null, tls: null, renewed: false }),
      endpointOf: ({ metadata }) => {
        const port = drive.world.portOf(metadata?.uid ?? "");
        return port === null ? null : `127.0.0.1:${port}`;
      },
      logger: createLogger("silent", "one"),
    });
    url = `http://127.0.0.1:${await operator.listen("127.0.0.1", 0)}`;
    void operator.run();
  }

  after(async () => {
    await operator.stop();
    await connection.close();
    await drive.end();
  });

  function isReady(name: string): boolean {
    const { status } = drive.world.api.store.get("coordinationclusters", "default", name);
    return (status?.conditions ?? []).some(
      ({ type, status: is }: { type: string; status: string }) => type === "Ready" && is === "True",
    );
  }

  /** Advances the operator's time in steps, and lets it work in each. */
  async function goOn(what: string, condition: () => boolean | Promise<boolean>, stepMs: number): Promise<void> {
    const attempt = async (): Promise<boolean> => {
      timing.advance(stepMs);
      drive.world.advance(Math.max(0, Date.now() - drive.world.now));
      return await condition();
    };
    await until(what, attempt, PATIENCE);
  }

  async function passes(): Promise<number> {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(/quoin_operator_reconcile_total\{result="done"\} (\d+)/.exec(text)?.[1] ?? 0);
  }

  /** Nothing happens any more: the operator sends few requests. */
  async function expectRest(): Promise<void> {
    const { api } = drive.world;
    // The operator reads its last writes once more.
    const settled = (await passes()) + 3 * NAMES.length;
    await goOn("further passes", async () => (await passes()) >= settled, STEP_MS);
    const [begin, beginMs, passesBefore] = [api.calls.length, timing.nowMs, await passes()];
    await goOn("time to pass", () => timing.nowMs - beginMs >= REST_SECONDS * 1_000, STEP_MS);
    const calls = api.calls.slice(begin);
    const kinds = Object.groupBy(calls, ({ method, plural }) => `${method} ${plural}`);
    const counts = Object.entries(kinds).map(([kind, asked = []]) => `${kind}: ${asked.length}`);
    console.log(`      in ${REST_SECONDS} s: ${calls.length} requests, ${counts.join(", ")}`);
    expect(calls.length).to.be.below(REST_SECONDS);
    expect(calls.filter(({ plural }) => plural === "leases").length, "renewals").to.be.above(REST_SECONDS / 10);
    const due = (REST_SECONDS / PASS_SECONDS) * NAMES.length;
    expect((await passes()) - passesBefore, "passes all the same").to.be.above(due / 2);
  }

  it("sends less than one request a second at rest, also after a restart, and still corrects changes of others at once", async () => {
    const { api } = drive.world;
    for (const name of NAMES) {
      drive.create({ replicas: name === "c4" ? MEMBERS : 1 }, name);
    }
    await goOn("all to be ready", () => NAMES.every(isReady), 200);
    await expectRest();
    await operator.stop();
    await startOperator();
    await goOn("the other operator to lead", async () => (await passes()) > 0, STEP_MS);
    await expectRest();

    const before = api.store.get("roles", "default", "c4");
    api.store.merge("roles", before, { rules: [...(before.rules as []), { resources: ["secrets"], verbs: ["*"] }] });
    const isBack = (): boolean =>
      JSON.stringify(api.store.get("roles", "default", "c4").rules) === JSON.stringify(before.rules);
    await goOn("the Role to be put back", isBack, 200);
  });

  function conditionOf(name: string, type: string): string {
    const { status } = drive.world.api.store.get("coordinationclusters", "default", name);
    return status.conditions.find((each: { type: string }) => each.type === type).status;
  }

  /** Answers requests for this kind with 403. */
  function forbid(is: (call: Call) => boolean): void {
    drive.world.api.before = (call) =>
      is(call) ? { status: 403, body: '{"kind":"Status","reason":"Forbidden","message":"no right"}' } : null;
  }

  it("notices within seconds that the Secret of an owner is deleted, though it may not watch Secrets", async () => {
    const { store } = drive.world.api;
    const settled = (await passes()) + 3 * NAMES.length;
    await goOn("further passes", async () => (await passes()) >= settled, STEP_MS);
    const [begin, beginMs] = [drive.world.api.calls.length, timing.nowMs];
    store.drop("secrets", store.get("secrets", "default", "c4-owner"));
    await goOn("the loss to be shown", () => conditionOf("c4", "OwnerSecretReady") === "False", 200);
    const tookMs = timing.nowMs - beginMs;
    console.log(`      noticed after ${tookMs / 1_000} s`);
    expect(tookMs, "a second or so, and this operator's time runs ahead on a busy machine").to.be.at.most(20_000);
    const secrets = drive.world.api.calls.slice(begin).filter(({ plural }) => plural === "secrets");
    expect(secrets.filter(({ name }) => name === "")).to.deep.equal([]);
  });

  it("shows a refusal while it lasts, and not again once it is over", async () => {
    const { api } = drive.world;
    /** The conditions Ready and ReconcileSucceeded over time. */
    const watch = async (seconds: number): Promise<string[]> => {
      const said = new Set<string>();
      const beginMs = timing.nowMs;
      const isOver = (): boolean => {
        said.add(`${conditionOf("c5", "Ready")} ${conditionOf("c5", "ReconcileSucceeded")}`);
        return timing.nowMs - beginMs >= seconds * 1_000;
      };
      await goOn("time to pass", isOver, STEP_MS);
      return [...said];
    };
    forbid(({ method, plural, name }) => method === "GET" && plural === "secrets" && name === "c5-tokens");
    await goOn("the refusal", () => conditionOf("c5", "ReconcileSucceeded") === "False", STEP_MS);
    const begin = api.calls.length;
    expect(await watch(REFUSED_SECONDS), "it does not flap").to.deep.equal(["Unknown False"]);
    expect(api.calls.length - begin, "requests").to.be.below(REFUSED_SECONDS);
    api.before = () => null;
    const goneMs = timing.nowMs;
    await goOn("the end of it", () => isReady("c5"), 500);
    console.log(`      over ${(timing.nowMs - goneMs) / 1_000} s after its cause`);
    expect(timing.nowMs - goneMs).to.be.at.most(60_000);
    expect(await watch(REST_SECONDS), "it does not come back").to.deep.equal(["True True"]);
  });

  it("notices soon that a kind is served, and asks for it at most once a second until then", async () => {
    const { api } = drive.world;
    for (const name of NAMES) {
      const monitoring = { podMonitor: { enabled: true } };
      api.store.merge("coordinationclusters", api.store.get("coordinationclusters", "default", name), {
        spec: { monitoring },
      });
    }
    const are = (status: string): boolean => NAMES.every((name) => conditionOf(name, "MonitoringReady") === status);
    await goOn("all to miss it", () => are("False"), 500);
    const settled = (await passes()) + 3 * NAMES.length;
    await goOn("further passes", async () => (await passes()) >= settled, STEP_MS);
    const [begin, beginMs] = [api.calls.length, timing.nowMs];
    await goOn("time to pass", () => timing.nowMs - beginMs >= REST_SECONDS * 1_000, STEP_MS);
    expect(api.calls.length - begin, "requests").to.be.below(REST_SECONDS);
    api.served.add("podmonitors");
    const servedMs = timing.nowMs;
    await goOn("all to have one", () => are("True"), 500);
    console.log(`      made ${(timing.nowMs - servedMs) / 1_000} s after the kind was served`);
    expect(timing.nowMs - servedMs).to.be.at.most(120_000);
  });
});
