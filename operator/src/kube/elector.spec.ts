import { expect } from "chai";
import { ApiServer, configOf } from "../../test/api-server/index.ts";
import { ManualTiming, until } from "../../test/index.ts";
import { KubeClient } from "./client.ts";
import { type Connection, connect } from "./connection.ts";
import { Elector } from "./elector.ts";

describe("elector", () => {
  let server: ApiServer;
  let connection: Connection;
  let timing: ManualTiming;
  let errors: unknown[];
  const stop = new Set<AbortController>();

  beforeEach(async () => {
    server = new ApiServer();
    await server.listen();
    connection = await connect(configOf(server.url));
    timing = new ManualTiming();
    errors = [];
  });

  afterEach(async () => {
    for (const controller of stop) {
      controller.abort();
    }
    stop.clear();
    await connection.close();
    await server.close();
  });

  function elector(identity: string): Elector {
    const client = new KubeClient(connection);
    const onError = (error: unknown): unknown => errors.push(error);
    return new Elector({ client, namespace: "system", name: "operator", identity, onError, timing });
  }

  function signal(): AbortController {
    const controller = new AbortController();
    stop.add(controller);
    return controller;
  }

  function holder(): string {
    return server.store.get("leases", "system", "operator").spec.holderIdentity;
  }

  /** This many tries of each elector; a try is at most one get and one write. */
  async function tick(electors = 1, durationMs = 2_000): Promise<void> {
    await until(() => timing.due.length === electors);
    timing.advance(durationMs);
    await until(() => timing.due.length === electors);
  }

  it("takes a Lease that is not there, and renews it", async () => {
    const one = elector("one");
    await one.acquire(signal().signal);
    expect([holder(), one.remainingMs]).to.deep.equal(["one", 15_000]);
    void one.hold(signal().signal);
    await until(() => timing.due.length === 1);
    timing.advance(1_000);
    expect(one.remainingMs).to.equal(14_000);
    const asked = server.calls.length;
    await tick(1, 3_000);
    expect(
      server.calls.slice(asked).map(({ method }) => method),
      "what it knows it does not ask",
    ).to.deep.equal(["PATCH"]);
    expect(one.remainingMs).to.equal(15_000);
    const { spec } = server.store.get("leases", "system", "operator");
    expect(spec).to.include({ leaseDurationSeconds: 15, leaseTransitions: 0 });
  });

  it("waits until the record of another has not changed for its duration, whatever its times say", async () => {
    const spec = { holderIdentity: "other", leaseDurationSeconds: 15, renewTime: "2001-01-01T00:00:00.000000Z" };
    server.store.create("leases", "system", { kind: "Lease", metadata: { name: "operator" }, spec });
    const one = elector("one");
    const acquired = one.acquire(signal().signal);
    for (let at = 0; at < 7; at++) {
      await tick();
      expect(holder()).to.equal("other");
    }
    server.store.merge("leases", server.store.get("leases", "system", "operator"), { spec: { renewTime: "later" } });
    for (let at = 0; at < 8; at++) {
      await tick();
      expect(holder()).to.equal("other");
    }
    await until(() => timing.due.length === 1);
    timing.advance(2_000);
    await acquired;
    expect(holder()).to.equal("one");
    expect(server.store.get("leases", "system", "operator").spec.leaseTransitions).to.equal(1);
  });

  it("has lost it when it cannot renew for ten seconds, five before anybody may take it", async () => {
    const one = elector("one");
    await one.acquire(signal().signal);
    const held = one.hold(signal().signal);
    server.before = () => ({ status: 500 });
    let result = "";
    void held.then((end) => {
      result = end;
    });
    await tick(1, 4_000);
    for (let at = 0; at < 2; at++) {
      await tick();
      expect(result).to.equal("");
    }
    expect(one.remainingMs).to.equal(7_000);
    await until(() => timing.due.length === 1);
    timing.advance(2_000);
    expect(await held).to.equal("lost");
    expect(one.remainingMs).to.equal(0);
    expect(errors.length).to.equal(4);
  });

  it("has lost it when another holds it", async () => {
    const one = elector("one");
    await one.acquire(signal().signal);
    const held = one.hold(signal().signal);
    server.store.merge("leases", server.store.get("leases", "system", "operator"), {
      spec: { holderIdentity: "other" },
    });
    await until(() => timing.due.length === 1);
    timing.advance(4_000);
    expect(await held).to.equal("lost");
    expect(holder()).to.equal("other");
  });

  it("releases it on stop, so that another elector takes it at once", async () => {
    const [one, two] = [elector("one"), elector("two")];
    await one.acquire(signal().signal);
    const stopping = signal();
    const held = one.hold(stopping.signal);
    stopping.abort();
    expect(await held).to.equal("released");
    await two.acquire(signal().signal);
    expect(holder()).to.equal("two");
    expect(one.remainingMs).to.equal(0);
  });

  it("is one of two that ask at the same moment", async () => {
    const [one, two] = [elector("one"), elector("two")];
    const acquired = [one.acquire(signal().signal), two.acquire(signal().signal)];
    await Promise.race(acquired);
    await until(() => timing.due.length === 1);
    expect([one, two].filter(({ remainingMs }) => remainingMs > 0)).to.have.length(1);
    expect(errors).to.deep.equal([]);
  });
});
