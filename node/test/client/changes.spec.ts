/** Watches, memory regions and elections through the SDK, on three real members. */

import { type Client, CompactedError, QuoinError } from "@quoin/client";
import { expect } from "chai";
import { ClusterUnderTest, until } from "../harness/index.ts";

const NAMESPACE = "default";
const WRITES = 40;
/** Larger than what one call may carry. */
const REGION_BYTES = 9 * 1024 * 1024;

describe("the SDK on three members", function () {
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

  it("writes a region at one member, and reads it at the others", async () => {
    const { regionId } = await at(0).memory.allocate(NAMESPACE, REGION_BYTES, { label: "frames" });
    const data = new Uint8Array(REGION_BYTES).map((_byte, index) => index % 251);
    const version = await at(0).memory.open(NAMESPACE, regionId).write(data, { expectedVersion: 1 });
    for (const client of clients) {
      const region = client.memory.open(NAMESPACE, regionId);
      expect(Buffer.compare(await region.read(REGION_BYTES), data)).to.equal(0);
      expect(await region.seek(-1, "end")).to.equal(REGION_BYTES - 1);
      expect(await reasonOf(region.read(2))).to.equal("MEMORY_BOUNDS");
    }
    await at(0).locks.create(NAMESPACE, "region");
    const hold = await at(0).locks.hold(NAMESPACE, "region");
    await at(1).memory.write(NAMESPACE, regionId, 0, "guarded", { guard: hold.guard });
    await hold.release();
    expect(await reasonOf(at(1).memory.write(NAMESPACE, regionId, 0, "late", { guard: hold.guard }))).to.equal(
      "FENCED",
    );
    expect(await reasonOf(at(1).memory.resize(NAMESPACE, regionId, 1, { expectedVersion: version }))).to.equal(
      "VERSION_MISMATCH",
    );
    const pages = await Array.fromAsync(at(2).memory.pages(NAMESPACE, { pageSize: 1 }));
    expect(pages.flatMap(({ regions }) => regions).map(({ label }) => label)).to.deep.equal(["frames"]);
    await at(2).memory.free(NAMESPACE, regionId);
    expect(await reasonOf(at(0).memory.describe(NAMESPACE, regionId))).to.equal("REGION_NOT_FOUND");
  });

  it("S37: reports every change of keys and locks once and in order while members die and come back", async () => {
    const everywhere = cluster.client();
    await everywhere.locks.create(NAMESPACE, "watched");
    const keys = await everywhere.watch.keys(NAMESPACE, { prefix: "watched/", progressIntervalMs: 200 });
    const locks = await everywhere.watch.locks(NAMESPACE, { namePrefix: "watched", progressIntervalMs: 200 });
    const toldKeys: number[] = [];
    const toldLocks: string[] = [];
    const reading = Promise.all([
      (async () => {
        for await (const { events } of keys) {
          toldKeys.push(...events.map(({ kv }) => kv.modRevision));
        }
      })(),
      (async () => {
        for await (const { events } of locks) {
          toldLocks.push(...events.map(({ action, fencingToken }) => `${action} ${fencingToken}`));
        }
      })(),
    ]);
    const wantedKeys: number[] = [];
    const wantedLocks: string[] = [];
    for (let write = 0; write < WRITES; write++) {
      const { modRevision } = await everywhere.keyValue.put(NAMESPACE, `watched/${write % 7}`, `${write}`, {
        timeoutMs: 60_000,
      });
      wantedKeys.push(modRevision);
      if (write % 10 === 0) {
        const { fencingToken } = await everywhere.locks.acquire(NAMESPACE, "watched", { waitMs: 60_000 });
        await everywhere.locks.release(NAMESPACE, "watched", { fencingToken, timeoutMs: 60_000 });
        wantedLocks.push(`ACQUIRED ${fencingToken}`, `RELEASED ${fencingToken}`);
      }
      if (write % 20 === 10) {
        const leader = await cluster.leader();
        await leader.kill();
        await until("another leader", async () => {
          const { members, leaderId } = await everywhere.cluster.getCluster({ timeoutMs: 60_000 });
          return members.find(({ id }) => id === leaderId)?.name !== leader.name;
        });
        leader.start();
        await leader.untilReady();
      }
    }
    await until("all changes to arrive", () => toldKeys.length >= WRITES && toldLocks.length >= wantedLocks.length);
    await Promise.all([keys.return(), locks.return()]);
    await reading;
    expect(toldKeys).to.deep.equal(wantedKeys);
    expect(toldLocks).to.deep.equal(wantedLocks);
    expect(keys.revision).to.be.at.least(wantedKeys.at(-1) ?? 0);
  });

  it("throws a CompactedError when the history has been compacted", async () => {
    const { modRevision } = await at(0).keyValue.put(NAMESPACE, "compacted", "1");
    await at(0).keyValue.put(NAMESPACE, "compacted", "2");
    const { revision } = await at(0).keyValue.get(NAMESPACE, "compacted");
    await cluster.change((admin) => admin.compact(revision));
    const error = await at(1)
      .watch.keys(NAMESPACE, { startRevision: modRevision })
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(CompactedError);
    expect((error as CompactedError).compactRevision).to.equal(revision);
  });

  it("elects one leader after the other, also when the leader's client and the leader of the cluster are gone", async () => {
    const election = cluster.client().election(NAMESPACE, "scheduler");
    const observed: (string | undefined)[] = [];
    const observation = election.observe();
    const observing = (async () => {
      for await (const leader of observation) {
        observed.push(leader?.value);
      }
    })();
    const doomed = cluster.client();
    const first = await doomed.election(NAMESPACE, "scheduler").campaign("one", { ttlSeconds: 2 });
    const { guard } = first;
    const second = election.campaign("two");
    await until("the first", () => observed.includes("one"));
    doomed.close();
    const killed = await cluster.leader();
    await killed.kill();
    const next = await second;
    expect(next.token).to.be.greaterThan(first.token);
    expect(await election.leader()).to.deep.equal({ value: "two", fencingToken: next.token });
    expect(await reasonOf(cluster.client().keyValue.put(NAMESPACE, "task", "late", { guard }))).to.equal("FENCED");
    await until("the second", () => observed.includes("two"));
    expect(await next.resign()).to.equal(true);
    await until("no leader", () => observed.at(-1) === undefined);
    await observation.return();
    await observing;
    expect(observed.filter((value) => value !== undefined)).to.deep.equal(["one", "two"]);
    killed.start();
    await killed.untilReady();
  });
});
