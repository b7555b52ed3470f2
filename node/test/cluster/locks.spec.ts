import { randomUUID } from "node:crypto";
import {
  type AcquireLockResponse,
  type AcquireSemaphoreResponse,
  ForceReleaseLockRequest,
  PutKeyRequest,
  ReleaseLockRequest,
  ReleaseSemaphoreRequest,
  serviceDefinitions,
} from "@quoin/proto";
import { expect } from "chai";
import { type Answer, type ClusterMember, ClusterUnderTest, GrpcCaller, until } from "../harness/index.ts";

const { LockService, KeyValueService } = serviceDefinitions;
const LONG_MS = 50_000n;
const TTL_SECONDS = 2n;
const TTL_MS = 2_000;
/** How late a hold may expire, and how long the grants before a request may take, in milliseconds of the cluster. */
const LATE_MS = 500;
const GRANTS_MS = 1_000;

describe("locks of three members", () => {
  let cluster: ClusterUnderTest;
  const callers = new Map<string, GrpcCaller>();

  beforeEach(async () => {
    cluster = await ClusterUnderTest.start(3);
    const metadata = new Map([
      ["authorization", `Bearer ${await cluster.tokens.token()}`],
      ["api-version", "v1"],
    ]);
    for (const { name, grpc } of cluster.members) {
      callers.set(name, new GrpcCaller(Number(grpc.split(":").at(-1)), metadata));
    }
  });

  ClusterUnderTest.describeFailures(() => cluster);
  afterEach(async () => {
    for (const caller of callers.values()) {
      caller.close();
    }
    callers.clear();
    await cluster.dispose();
  });

  function at({ name }: ClusterMember): GrpcCaller {
    return callers.get(name) as GrpcCaller;
  }

  function ok<Response>(answer: Answer<Response>): Response {
    expect(answer.code, answer.message).to.equal("OK");
    return answer.response as Response;
  }

  const lock = (name: string) => ({ namespace: "default", name });
  function acquire(
    member: ClusterMember,
    fields: object,
    requestId = randomUUID(),
  ): Promise<Answer<AcquireLockResponse>> {
    const metadata = new Map([["request-id", requestId]]);
    return at(member).ask(LockService.acquireLock, fields, { metadata });
  }

  async function waiters(member: ClusterMember, name: string): Promise<number> {
    return ok(await at(member).ask(LockService.describeLock, lock(name))).waiters;
  }

  it("can be acquired, waited for, used as guards, forced and released at any of them", async () => {
    const { members } = cluster;
    const [first, second, third] = members as [ClusterMember, ClusterMember, ClusterMember];
    for (const [turn, member] of members.entries()) {
      const named = lock(`lock ${turn}`);
      ok(await at(member).ask(LockService.createLock, named));
    }
    const named = lock("lock 1");
    const held = ok(await acquire(first, named));
    const waiting = acquire(second, { ...named, waitMs: LONG_MS });
    await until("it waits", async () => (await waiters(third, named.name)) === 1);
    const guard = { lockName: named.name, fencingToken: held.fencingToken };
    const put = PutKeyRequest.fromPartial({ namespace: "default", key: "k", guard });
    ok(await at(third).call(KeyValueService.putKey, put));
    const release = ReleaseLockRequest.fromPartial({ ...named, fencingToken: held.fencingToken });
    ok(await at(third).call(LockService.releaseLock, release));
    const next = ok(await waiting);
    expect([next.acquired, next.fencingToken > held.fencingToken]).to.deep.equal([true, true]);
    expect((await at(first).call(KeyValueService.putKey, put)).reason).to.equal("FENCED");
    const forced = ForceReleaseLockRequest.fromPartial({ ...named, fencingToken: next.fencingToken });
    expect(ok(await at(first).call(LockService.forceReleaseLock, forced)).released).to.equal(true);
    expect(ok(await acquire(third, named)).fencingToken > next.fencingToken).to.equal(true);
  });

  it("S24: keep their waiters, at another member, when the called member is killed, leader or not", async () => {
    const leader = await cluster.leader();
    const others = cluster.members.filter((member) => member !== leader);
    const [asked, survivor] = [leader, others[0] as ClusterMember];
    const named = lock("l");
    ok(await at(survivor).ask(LockService.createLock, named));
    const held = ok(await acquire(survivor, { ...named, ttlSeconds: 600n }));
    const requestId = randomUUID();
    const lost = acquire(asked, { ...named, waitMs: LONG_MS }, requestId);
    await until("it waits", async () => (await waiters(survivor, named.name)) === 1);
    await asked.kill();
    expect((await lost).code).to.equal("UNAVAILABLE");
    await until("there is a leader", async () => {
      const answer = await at(survivor).ask(LockService.describeLock, named);
      return answer.response?.waiters === 1;
    });
    const again = acquire(survivor, { ...named, waitMs: LONG_MS }, requestId);
    const release = ReleaseLockRequest.fromPartial({ ...named, fencingToken: held.fencingToken });
    const other = others[1] as ClusterMember;
    ok(await at(other).call(LockService.releaseLock, release));
    const granted = ok(await again);
    expect(granted.acquired).to.equal(true);
    expect(ok(await acquire(other, named)).holder?.fencingToken, "one hold").to.equal(granted.fencingToken);
  });

  it("S21: give the permits of dead holders to the next, never early and at most 0.5 s late, also after an election", async () => {
    const leader = await cluster.leader();
    const [survivor] = cluster.members.filter((member) => member !== leader) as [ClusterMember];
    const named = lock("s");
    ok(await at(survivor).ask(LockService.createSemaphore, { ...named, permits: 3 }));
    const ask = (fields: object): Promise<Answer<AcquireSemaphoreResponse>> => {
      const metadata = new Map([["request-id", randomUUID()]]);
      return at(survivor).ask(LockService.acquireSemaphore, { ...named, ...fields }, { metadata });
    };
    const held = async (): Promise<number> => {
      const answer = await at(survivor).ask(LockService.describeSemaphore, named);
      return answer.response?.heldPermits ?? Number.NaN;
    };
    // No client renews these holds.
    for (const permits of [1, 2]) {
      expect(ok(await ask({ permits, ttlSeconds: TTL_SECONDS })).acquired).to.equal(true);
    }
    const sentMs = performance.now();
    const next = ok(await ask({ permits: 3, waitMs: LONG_MS, ttlSeconds: 600n }));
    const waitedMs = performance.now() - sentMs;
    expect([next.acquired, next.heldPermits]).to.deep.equal([true, 3]);
    // The holds were granted before the request was sent, each in its own entry.
    expect(Number(next.waitedMs), "milliseconds of the cluster").to.be.within(TTL_MS - GRANTS_MS, TTL_MS + LATE_MS);
    expect(waitedMs).to.be.at.least(TTL_MS - GRANTS_MS);
    const release = ReleaseSemaphoreRequest.fromPartial({ ...named, fencingToken: next.fencingToken });
    ok(await at(survivor).call(LockService.releaseSemaphore, release));

    const dying = ok(await ask({ permits: 3, ttlSeconds: TTL_SECONDS }));
    const waiting = ask({ permits: 2, waitMs: LONG_MS, ttlSeconds: 600n });
    await leader.kill();
    const granted = await waiting.then((answer) =>
      answer.code === "OK" ? answer : ask({ permits: 2, waitMs: LONG_MS, ttlSeconds: 600n }),
    );
    const after = ok(granted);
    expect([after.acquired, after.fencingToken > dying.fencingToken]).to.deep.equal([true, true]);
    // A request whose answer was lost with the leader may have got permits too; it is undone.
    await until("only the live hold has permits", async () => (await held()) === 2);
  });
});
