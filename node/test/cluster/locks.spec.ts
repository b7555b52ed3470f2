import { randomUUID } from "node:crypto";
import {
  type AcquireLockResponse,
  ForceReleaseLockRequest,
  PutKeyRequest,
  ReleaseLockRequest,
  serviceDefinitions,
} from "@quoin/proto";
import { expect } from "chai";
import { type Answer, type ClusterMember, ClusterUnderTest, GrpcCaller, until } from "../harness/index.ts";

const { LockService, KeyValueService } = serviceDefinitions;
const LONG_MS = 50_000n;

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
});
