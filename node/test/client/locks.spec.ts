/** Locks through the SDK, on three real members. */

import { type Client, QuoinError } from "@quoin/client";
import { expect } from "chai";
import { type ClusterMember, ClusterUnderTest, until } from "../harness/index.ts";

const NAMESPACE = "default";
/** Longer than any wait here takes; the awaited event ends each wait. */
const WAIT_MS = 120_000;

async function reasonOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "success",
    (error: unknown) => {
      if (error instanceof QuoinError) {
        return error.reason;
      }
      throw error;
    },
  );
}

describe("locks of the SDK on three members", function () {
  // Starts and kills dozens of processes; the limit is for a busy machine.
  this.timeout(240_000);

  let cluster: ClusterUnderTest;
  let clients: readonly Client[];

  before(async () => {
    cluster = await ClusterUnderTest.start(3);
    clients = cluster.members.map(({ grpc }) => cluster.client([grpc]));
  });

  ClusterUnderTest.describeFailures(() => cluster);

  after(() => cluster.dispose());

  function at(member: number): Client {
    return clients[member] as Client;
  }

  async function untilWaiting(name: string, waiters: number): Promise<void> {
    await until(`${waiters} to wait`, async () => {
      return (await at(0).locks.describe(NAMESPACE, name)).waiters === waiters;
    });
  }

  it("are handed over in order, and mirror late writes, from member to member", async () => {
    await at(0).locks.create(NAMESPACE, "order");
    const first = await at(0).locks.hold(NAMESPACE, "order");
    const second = at(1).locks.hold(NAMESPACE, "order", { waitMs: WAIT_MS });
    await untilWaiting("order", 1);
    const third = at(2).locks.hold(NAMESPACE, "order", { waitMs: WAIT_MS });
    await untilWaiting("order", 2);
    expect(await reasonOf(at(0).locks.hold(NAMESPACE, "order", { waitMs: 0 }))).to.equal("NOT_ACQUIRED");
    await at(2).keyValue.put(NAMESPACE, "order", "first", { guard: first.guard });
    expect(await first.release()).to.equal(true);
    const next = await second;
    expect(next.token).to.be.greaterThan(first.token);
    expect(await reasonOf(at(2).keyValue.put(NAMESPACE, "order", "late", { guard: first.guard }))).to.equal("FENCED");
    await at(1).keyValue.delete(NAMESPACE, "order", { guard: next.guard });
    expect(await next.release()).to.equal(true);
    expect(await (await third).release()).to.equal(true);
    expect((await at(0).locks.describe(NAMESPACE, "order")).state).to.equal("FREE");
  });

  it("report a lost hold to its holder, by force or without a renewal", async () => {
    await at(0).locks.create(NAMESPACE, "loss");
    const forced = await at(0).locks.hold(NAMESPACE, "loss", { ttlSeconds: 3 });
    const previous = await at(1).locks.forceRelease(NAMESPACE, "loss", { fencingToken: forced.token, reason: "test" });
    expect(previous.previous?.owner).to.equal(forced.owner);
    await until("the loss", () => forced.signal.aborted);
    expect((forced.signal.reason as QuoinError).reason).to.equal("LOCK_LOST");

    const { fencingToken } = await at(0).locks.acquire(NAMESPACE, "loss", { ttlSeconds: 1 });
    await at(1)
      .locks.hold(NAMESPACE, "loss", { waitMs: WAIT_MS })
      .then((handle) => handle.release());
    expect(await reasonOf(at(0).locks.renew(NAMESPACE, "loss", fencingToken))).to.equal("LOCK_LOST");
  });

  it("S23: report the loss to a holder that cannot renew, before another client gets the lock", async () => {
    await at(0).locks.create(NAMESPACE, "deadline");
    for (let round = 0; round < 3; round++) {
      const doomed = cluster.client();
      const held = await doomed.locks.hold(NAMESPACE, "deadline", { ttlSeconds: 1, waitMs: WAIT_MS });
      const next = at(round).locks.hold(NAMESPACE, "deadline", { waitMs: WAIT_MS });
      doomed.close();
      const handle = await next;
      expect(held.isHeld).to.equal(false);
      await until("the loss", () => held.signal.aborted);
      expect(await held.release()).to.equal(false);
      await handle.release();
    }
  });

  it("are held by readers or a writer, downgraded, and upgraded when the reader is alone", async () => {
    const locks = clients.map(({ readWriteLocks }) => readWriteLocks);
    const [one, two] = [locks[0] as Client["readWriteLocks"], locks[1] as Client["readWriteLocks"]];
    await one.create(NAMESPACE, "rw");
    const writer = await one.hold(NAMESPACE, "rw", "WRITE");
    const waiting = two.hold(NAMESPACE, "rw", "READ", { waitMs: WAIT_MS });
    await until("the reader to wait", async () => (await one.describe(NAMESPACE, "rw")).waitingReaders === 1);
    await at(2).keyValue.put(NAMESPACE, "rw", "written", { guard: writer.guard });
    const { token } = writer;
    await writer.downgrade();
    expect(writer).to.include({ mode: "READ", token });
    const reader = await waiting;
    expect((await one.describe(NAMESPACE, "rw")).holders).to.have.length(2);
    expect(await reasonOf(reader.upgrade())).to.equal("UPGRADE_WOULD_DEADLOCK");
    expect(await writer.release()).to.equal(true);
    const before = reader.token;
    await reader.upgrade();
    expect(reader.token).to.be.greaterThan(before);
    await at(2).keyValue.put(NAMESPACE, "rw", "again", { guard: reader.guard });
    expect(await reader.release()).to.equal(true);
    expect((await two.describe(NAMESPACE, "rw")).state).to.equal("FREE");
  });

  it("S24, S30: keep holders and their places in the queue when the leader is killed", async () => {
    const everywhere = cluster.client();
    await everywhere.locks.create(NAMESPACE, "failover");
    const leader = await cluster.leader();
    const held = await everywhere.locks.hold(NAMESPACE, "failover", { ttlSeconds: 20 });
    const order: string[] = [];
    const wait = async (member: ClusterMember, label: string): Promise<void> => {
      const others = cluster.endpoints.filter((endpoint) => endpoint !== member.grpc);
      // The SDK starts at any member: this one waits at the member that dies, or at one that forwards to it.
      const client = cluster.client([member.grpc, ...others]);
      const handle = await client.locks.hold(NAMESPACE, "failover", { waitMs: WAIT_MS, owner: label });
      order.push(label);
      await handle.release();
    };
    const waiting: Promise<void>[] = [];
    for (const [turn, label] of ["one", "two", "three"].entries()) {
      waiting.push(wait(leader, label));
      await until(`${label} to wait`, async () => {
        return (await everywhere.locks.describe(NAMESPACE, "failover")).waiters === turn + 1;
      });
    }
    await leader.kill();
    const renewedMs = held.deadlineMs;
    await until("a renewal under the next leader", () => held.deadlineMs > renewedMs || held.signal.aborted);
    expect(held.isHeld).to.equal(true);
    expect(await held.release()).to.equal(true);
    await Promise.all(waiting);
    expect(order).to.deep.equal(["one", "two", "three"]);
    leader.start();
    await leader.untilReady();
  });
});
