/** A leader that is stopped while everything is in use (S47). */

import type { MethodDefinition } from "@grpc/grpc-js";
import { serviceDefinitions, WatchKeysRequest } from "@quoin/proto";
import { expect } from "chai";
import { service as healthService } from "grpc-health-check";
import { type ClusterMember, ClusterUnderTest, GrpcCaller, until } from "../harness/index.ts";

const { putKey } = serviceDefinitions.KeyValueService;
const { watchKeys } = serviceDefinitions.WatchService;
const { createLock, acquireLock, releaseLock } = serviceDefinitions.LockService;
const watchHealth = healthService.Watch as unknown as MethodDefinition<{ service: string }, { status: string }>;

const LOCK = { namespace: "default", name: "held" };
const WRITERS = 4;
/** The time that Kubernetes gives a container to end. */
const GRACE_MS = 30_000;

describe("a leader that is stopped", function () {
  this.timeout(120_000);
  let cluster: ClusterUnderTest;
  let callers: GrpcCaller[];

  beforeEach(async () => {
    callers = [];
    cluster = await ClusterUnderTest.start(3);
  });

  afterEach(async () => {
    for (const caller of callers) {
      caller.close();
    }
    await cluster.dispose();
  });

  async function callerAt(member: ClusterMember): Promise<GrpcCaller> {
    const metadata = new Map([
      ["authorization", `Bearer ${await cluster.tokens.token()}`],
      ["api-version", "v1"],
    ]);
    const caller = new GrpcCaller(member.ports.grpc, metadata);
    callers.push(caller);
    return caller;
  }

  /** Writes one value after the other under a key until one is not acknowledged. */
  async function writeOn(caller: GrpcCaller, key: string) {
    for (let acknowledged = 0; ; acknowledged++) {
      const value = Buffer.from(String(acknowledged + 1));
      const answer = await caller.ask(putKey, { namespace: "default", key, value });
      if (answer.code !== "OK") {
        return { key, acknowledged, answer };
      }
    }
  }

  async function readiness(member: ClusterMember): Promise<{ status: number; text: string }> {
    const response = await fetch(`http://${member.host}:${member.ports.health}/readyz?verbose`);
    return { status: response.status, text: await response.text() };
  }

  it("S47: reports it, hands over, finishes open calls, ends watches where they can resume, and exits with 0", async () => {
    const leader = await cluster.leader();
    const [caller, elsewhere] = await Promise.all([leader, await cluster.follower()].map(callerAt));
    if (caller === undefined || elsewhere === undefined) {
      throw new Error("there are two members at least");
    }
    await caller.ask(createLock, LOCK);
    const held = await elsewhere.ask(acquireLock, { ...LOCK, ttlSeconds: 60n });

    const health = caller.stream(watchHealth, { service: "" });
    await health.until("SERVING", (messages) => messages.at(-1)?.status === "SERVING");
    const request = { namespace: "default", prefix: "w", progressIntervalMs: 100n };
    const watch = caller.stream(watchKeys, WatchKeysRequest.fromPartial(request));
    await watch.until("the watch to be open", (messages) => messages.length > 0);
    let isAnswered = false;
    const waiting = caller.ask(acquireLock, { ...LOCK, waitMs: 60_000n });
    void waiting.then(() => {
      isAnswered = true;
    });
    const writing = Array.from({ length: WRITERS }, (_, at) => writeOn(caller, `w${at}`));
    await watch.until("writes to arrive", (messages) => messages.flatMap(({ events }) => events).length > WRITERS);
    expect((await readiness(leader)).status).to.equal(200);

    const stoppedMs = performance.now();
    const stopped = leader.stop();
    await health.until("NOT_SERVING", (messages) => messages.at(-1)?.status === "NOT_SERVING");
    const { status, text } = await readiness(leader);
    expect([status, text]).to.deep.equal([503, text]);
    expect(text).to.include("[-]draining failed: the member is stopping");
    expect((await fetch(`http://${leader.host}:${leader.ports.health}/livez`)).status).to.equal(200);
    expect(isAnswered, "a call that runs").to.equal(false);

    const end = await watch.ended();
    expect([end.code, end.reason]).to.deep.equal(["UNAVAILABLE", "SHUTTING_DOWN"]);
    const last = watch.messages.at(-1);
    expect(last).to.deep.include({ progress: true, events: [] });
    const resumeRevision = BigInt(end.details?.metadata.get("resume_revision") ?? 0);
    expect(resumeRevision).to.equal((last?.revision ?? 0n) + 1n);
    // Still there, for the one open call, and still reporting that it is not ready.
    expect((await readiness(leader)).status).to.equal(503);
    const release = { ...LOCK, fencingToken: held.response?.fencingToken ?? 0n };
    expect((await elsewhere.ask(releaseLock, release)).code).to.equal("OK");
    const granted = await waiting;
    expect([granted.code, granted.response?.acquired]).to.deep.equal(["OK", true]);

    expect(await stopped).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - stoppedMs).to.be.lessThan(GRACE_MS);
    const messages = leader.logLines.map(({ msg, role }) => (msg === "role changed" ? role : msg));
    expect(messages.indexOf("stopping")).to.be.greaterThan(-1);
    expect(messages.slice(messages.indexOf("stopping"))).to.include.members(["follower", "stopped"]);
    expect(messages.at(-1)).to.equal("stopped");
    await cluster.forget(leader.name);
    expect((await cluster.leader()).name).to.not.equal(leader.name);

    const resumed = elsewhere.stream(
      watchKeys,
      WatchKeysRequest.fromPartial({ ...request, startRevision: resumeRevision }),
    );
    const ends = await Promise.all(writing);
    await until("the watch to go on", () => resumed.messages.some(({ progress }) => progress));
    const told = new Map<string, number[]>();
    for (const { kv } of [...watch.messages, ...resumed.messages].flatMap(({ events }) => events)) {
      const values = told.get(kv?.key ?? "") ?? [];
      values.push(Number(Buffer.from(kv?.value ?? []).toString()));
      told.set(kv?.key ?? "", values);
    }
    for (const { key, acknowledged, answer } of ends) {
      expect(answer.code, answer.message).to.equal("UNAVAILABLE");
      const outcome = String(answer.trailers.get("outcome")[0] ?? "");
      expect(outcome, `${key}: ${answer.reason} ${answer.message}`).to.be.oneOf(["", "not-executed"]);
      expect(told.get(key), key).to.deep.equal(Array.from({ length: acknowledged }, (_, at) => at + 1));
    }
    resumed.cancel();
  });
});

describe("a leader that is stopped and lingers", function () {
  this.timeout(120_000);

  it("serves new connections as a follower after the handover, and reports all the time that it is not ready", async () => {
    const cluster = await ClusterUnderTest.start(3, { placementOf: async () => ({ flags: ["--linger-ms", "4000"] }) });
    try {
      const leader = await cluster.leader();
      const others = cluster.members.filter(({ name }) => name !== leader.name);
      const id = (await leader.status())?.id;
      const stopped = leader.stop();
      await until("another leader", async () => {
        const status = await others[0]?.status();
        return status !== null && status?.leaderId !== "" && status?.leaderId !== id;
      });
      for (let at = 0; at < 3; at++) {
        // Each has connections of its own, and knows no other member.
        const client = cluster.client([leader.grpc]);
        await client.keyValue.put("default", `lingering-${at}`, "1");
        client.close();
        expect(await leader.isReady()).to.equal(false);
      }
      expect(leader.isAlive).to.equal(true);
      expect(await stopped).to.deep.equal({ code: 0, signal: null });
      const messages = leader.logLines.map(({ msg }) => msg);
      expect(messages.slice(messages.lastIndexOf("stopping"))).to.not.include("leads");
    } finally {
      await cluster.dispose();
    }
  });
});
