import type { Client } from "@quoin/client";
import { expect } from "chai";
import { ClusterUnderTest } from "../harness/index.ts";

const GOING = "going";
const STAYS = "stays";
const GOING_KEYS = 20_000;
const STAYING_KEYS = 500;
/** Kill the leader when so many keys are left: in the middle. */
const KILL_BELOW = 14_000;
const SLOW_MS = 60_000;

async function fill(client: Client, namespace: string, count: number): Promise<void> {
  await client.keyValue.createNamespace(namespace);
  const puts = Array.from({ length: count }, (_, at) => ({ put: { key: `key/${at}`, value: `value ${at}` } }));
  await client.batch(namespace, puts, { timeoutMs: SLOW_MS });
}

/** Writes of one client, one after the other, until the work is done. Returns how long each took, ascending. */
async function putsWhile(client: Client, work: Promise<unknown>): Promise<number[]> {
  let isDone = false;
  void work.finally(() => {
    isDone = true;
  });
  const tookMs: number[] = [];
  for (let at = 0; !isDone; at++) {
    const startMs = performance.now();
    await client.keyValue.put(STAYS, `written/${at % 100}`, String(at), { timeoutMs: SLOW_MS });
    tookMs.push(performance.now() - startMs);
  }
  return tookMs.sort((one, other) => one - other);
}

describe("three members that delete a namespace", () => {
  it(`erase ${GOING_KEYS} keys while another namespace is in use and the leader is killed in the middle (S49)`, async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const client = cluster.client();
      await fill(client, GOING, GOING_KEYS);
      await fill(client, STAYS, STAYING_KEYS);
      const leader = await cluster.leader();
      await client.keyValue.deleteNamespace(GOING, { recursive: true });
      const left: number[] = [];
      let killed: Promise<void> | null = null;
      const deleted = client.keyValue.untilNamespaceDeleted(GOING, {
        onProgress: ({ quotas }) => {
          const keys = quotas.find(({ name }) => name === "keys")?.used ?? 0;
          left.push(keys);
          if (keys < KILL_BELOW) {
            killed ??= leader.kill();
          }
        },
      });
      const tookMs = await putsWhile(client, deleted);
      await deleted;
      console.log(`      keys left: ${left.join(", ")}`);
      console.log(
        `      ${tookMs.length} writes of another client, p99 ${Math.round(tookMs.at(-Math.ceil(tookMs.length / 100)) ?? 0)} ms`,
      );
      expect(killed, "the leader was killed before the end").not.to.equal(null);
      expect(left.some((keys) => keys > 0 && keys < KILL_BELOW)).to.equal(true);
      await killed;
      leader.start();
      await cluster.untilReady();
      await cluster.untilStable();
      for (const { name, grpc } of cluster.members) {
        const own = cluster.client([grpc]);
        expect((await own.keyValue.count(STAYS, { prefix: "key/" })).keys, name).to.equal(STAYING_KEYS);
        const found = new TextDecoder().decode((await own.keyValue.get(STAYS, "key/7")).value);
        expect(found).to.equal("value 7");
        const { namespaces } = await own.keyValue.listNamespaces({ namesOnly: true });
        expect(namespaces.map((one) => one.name)).to.deep.equal(["default", STAYS]);
      }
      await client.keyValue.createNamespace(GOING);
      expect((await client.keyValue.count(GOING)).keys).to.equal(0);
    });
  });

  it("go on after all of them were killed at once and started again", async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const client = cluster.client();
      await fill(client, GOING, GOING_KEYS);
      await client.keyValue.deleteNamespace(GOING, { recursive: true });
      await Promise.all(cluster.members.map((member) => member.kill()));
      for (const member of cluster.members) {
        member.start();
      }
      await cluster.untilReady();
      await client.keyValue.untilNamespaceDeleted(GOING);
      const { namespaces } = await client.keyValue.listNamespaces({ namesOnly: true });
      expect(namespaces.map((one) => one.name)).to.deep.equal(["default"]);
    });
  });
});
