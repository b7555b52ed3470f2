import { expect } from "chai";
import { ApiServer, type Call, configOf } from "../../test/api-server/index.ts";
import { ManualTiming, until } from "../../test/index.ts";
import { KubeClient } from "./client.ts";
import { type Connection, connect } from "./connection.ts";
import { Reflector, type ReflectorOptions } from "./reflector.ts";

describe("reflector", () => {
  let server: ApiServer;
  let connection: Connection;
  let timing: ManualTiming;
  let reflector: Reflector;
  const told: string[] = [];
  const errors: unknown[] = [];

  beforeEach(async () => {
    server = new ApiServer();
    await server.listen();
    connection = await connect(configOf(server.url));
    timing = new ManualTiming();
    told.length = 0;
    errors.length = 0;
    reflector = reflectorOf({});
  });

  function reflectorOf(changes: Partial<ReflectorOptions>): Reflector {
    return new Reflector({
      client: new KubeClient(connection),
      kind: "Pod",
      namespace: "",
      labelSelector: "of=quoin",
      ignoresStatus: false,
      onChange: ({ name = "" }) => told.push(name),
      onError: (error) => errors.push(error),
      timing,
      ...changes,
    });
  }

  afterEach(async () => {
    await reflector.stop();
    await connection.close();
    await server.close();
  });

  function make(name: string, of = "quoin"): void {
    server.store.create("pods", "default", { kind: "Pod", metadata: { name, labels: { of } } });
  }

  function drop(name: string): void {
    server.store.drop("pods", server.store.get("pods", "default", name));
  }

  const isList = ({ query }: Call): boolean => query.get("watch") === null;

  async function started(): Promise<void> {
    reflector.start();
    await until(() => server.watches === 1);
  }

  /** Its pause after an end is over, and it watches again. */
  async function again(): Promise<void> {
    await until(() => server.watches === 0 && timing.due.length === 1);
    timing.advance(30_000);
    await until(() => server.watches === 1);
  }

  it("reports existing objects and changes", async () => {
    make("a");
    make("b", "another");
    expect(reflector.synced).to.equal(false);
    await started();
    expect(reflector.synced).to.equal(true);
    make("c");
    make("d", "another");
    drop("a");
    await until(() => told.length === 3);
    expect(told).to.deep.equal(["a", "c", "a"]);
  });

  for (const ignoresStatus of [false, true]) {
    it(`reports a changed status ${ignoresStatus ? "only with another change, if it ignores the status" : "by itself"}`, async () => {
      reflector = reflectorOf({ ignoresStatus });
      make("a");
      await started();
      const { store } = server;
      const change = (fields: object): void => {
        store.update("pods", store.get("pods", "default", "a"), (pod) => Object.assign(pod, fields));
      };
      told.length = 0;
      change({ status: { phase: "Running" } });
      const { metadata } = store.get("pods", "default", "a");
      change({ metadata: { ...metadata, annotations: { "quoin.dev/paused": "true" } } });
      change({ status: { phase: "Failed" } });
      change({ spec: { nodeName: "node-1" } });
      store.remove("pods", store.get("pods", "default", "a"));
      make("b");
      await until(() => told.includes("b"));
      expect(told.filter((name) => name === "a")).to.have.length(ignoresStatus ? 3 : 5);
    });
  }

  it("continues from the last version when a watch ends, without a new list", async () => {
    make("a");
    await started();
    server.deliverEvents("BOOKMARK", { metadata: { resourceVersion: "123456" } });
    make("b");
    await until(() => told.length === 2);
    server.cutWatches();
    await again();
    expect(server.calls.filter(isList)).to.have.length(1);
    expect(server.calls.at(-1)?.query.get("resourceVersion")).to.equal(String(server.store.version));
    expect(told).to.deep.equal(["a", "b"]);
  });

  it("takes from a bookmark where to go on", async () => {
    await started();
    server.deliverEvents("BOOKMARK", { metadata: { resourceVersion: "4711" } });
    await until(() => reflector.ageMs === 0);
    make("a");
    server.store.version = 5_000;
    await until(() => told.length === 1);
    server.deliverEvents("BOOKMARK", { metadata: { resourceVersion: "4712" } });
    make("b");
    await until(() => told.length === 2);
    server.cutWatches();
    await again();
    expect(Number(server.calls.at(-1)?.query.get("resourceVersion"))).to.be.greaterThan(4_712);
  });

  for (const how of ["an error in the watch", "410 for the watch"]) {
    it(`lists again after ${how}, and reports what vanished meanwhile`, async () => {
      make("a");
      make("b");
      await started();
      if (how === "410 for the watch") {
        server.store.oldest = Number.MAX_SAFE_INTEGER;
        server.cutWatches();
        await until(() => timing.due.length === 1);
        timing.advance(30_000);
        await until(() => errors.length >= 2 && timing.due.length === 1);
        server.store.oldest = 0;
      } else {
        server.deliverEvents("ERROR", { code: 500, message: "etcd is sick" });
        await until(() => errors.length === 1);
        server.cutWatches();
      }
      told.length = 0;
      drop("a");
      await again();
      expect(told.toSorted()).to.deep.equal(["a", "b"]);
      expect(server.calls.filter(isList)).to.have.length(2);
    });
  }

  it("goes on whatever the API server answers, with pauses that grow to 30 s", async () => {
    server.before = () => ({ status: 500 });
    timing.chance = 0.999;
    reflector.start();
    const pauses: number[] = [];
    for (let at = 0; at < 8; at++) {
      timing.advance((timing.due[0] ?? timing.nowMs) - timing.nowMs);
      await until(() => timing.due.length === 1);
      pauses.push(Math.round(((timing.due[0] ?? 0) - timing.nowMs) / 1_000));
    }
    expect(pauses).to.deep.equal([1, 2, 4, 8, 16, 30, 30, 30]);
    server.before = () => null;
    make("a");
    timing.advance(30_000);
    await until(() => told.length === 1);
    expect(reflector.synced).to.equal(true);
  });

  it("tells that it may no longer read, until it may again", async () => {
    await started();
    expect(reflector.refusal).to.equal(null);
    server.before = () => ({ status: 403 });
    server.deliverEvents("ERROR", { code: 410, message: "too old" });
    await until(() => timing.due.length === 1);
    timing.advance(1_000);
    await until(() => reflector.refusal !== null);
    expect([reflector.synced, reflector.refusal]).to.deep.equal([true, (errors.at(-1) as Error).message]);
    server.before = () => null;
    await until(() => timing.due.length === 1);
    timing.advance(30_000);
    await until(() => reflector.refusal === null);
  });

  it("reports all objects every ten minutes, and how long it has received nothing", async () => {
    make("a");
    await started();
    told.length = 0;
    timing.advance(600_000);
    expect(reflector.ageMs).to.equal(600_000);
    server.deliverEvents("BOOKMARK", { metadata: { resourceVersion: String(server.store.version) } });
    await until(() => told.length === 1);
    expect(told).to.deep.equal(["a"]);
    expect(reflector.ageMs).to.equal(0);
  });

  it("counts the begin of a watch as a sign of life and reports all then: without changes no line comes", async () => {
    make("a");
    await started();
    told.length = 0;
    timing.advance(599_999);
    expect(reflector.ageMs).to.equal(599_999);
    server.endWatches();
    await again();
    await until(() => told.length === 1);
    expect(told).to.deep.equal(["a"]);
    expect(reflector.ageMs).to.equal(0);
    expect(errors).to.deep.equal([]);
    expect(server.calls.filter(isList)).to.have.length(1);
  });

  it("asks for watches of four to five minutes, with bookmarks", async () => {
    await started();
    const query = server.calls.at(-1)?.query;
    expect(query?.get("timeoutSeconds")).to.equal("270");
    expect(query?.get("allowWatchBookmarks")).to.equal("true");
  });
});
