/** Transactions of the SDK and of quoinctl at three real members, whose leader is killed. */

import { randomUUID } from "node:crypto";
import { type BatchWrite, type Client, isQuoinError, QuoinError } from "@quoin/client";
import { expect } from "chai";
import { ClusterUnderTest, QUOINCTL_PROGRAM, TestProcess } from "../harness/index.ts";

const NAMESPACE = "default";
/** Increments, and those that run at a time. */
const INCREMENTS = 200;
const CONCURRENT = 20;
/** More than one transaction may write or delete. */
const MANY_KEYS = 10_500;

describe("transactions on three members", function () {
  // Processes are started and killed: a limit for a busy machine.
  this.timeout(240_000);
  let cluster: ClusterUnderTest;
  let client: Client;

  before(async () => {
    cluster = await ClusterUnderTest.start(3);
    client = cluster.client();
  });

  afterEach(async function () {
    if (this.currentTest?.state === "failed") {
      console.log(await cluster.describe());
    }
  });

  after(() => cluster.dispose());

  async function textOf(key: string): Promise<string> {
    return new TextDecoder().decode((await client.keyValue.get(NAMESPACE, key)).value);
  }

  /** Runs works, some at a time. */
  async function inTurns(works: readonly (() => Promise<void>)[], atATime: number): Promise<void> {
    const left = works.values();
    const runNext = async (): Promise<void> => {
      for (const work of left) {
        await work();
      }
    };
    await Promise.all(Array.from({ length: atATime }, runNext));
  }

  /** Repeats an operation, with its request id while the outcome is not known, until it is executed. */
  async function untilExecuted(operation: (requestId: string) => Promise<unknown>): Promise<void> {
    const requestId = randomUUID();
    for (;;) {
      try {
        await operation(requestId);
        return;
      } catch (error) {
        if (!(error instanceof QuoinError) || !["UNAVAILABLE", "DEADLINE_EXCEEDED"].includes(error.code)) {
          throw error;
        }
      }
    }
  }

  it("count exactly, while the leader is killed and lost answers are asked for again", async () => {
    let done = 0;
    let killed: Promise<void> | undefined;
    const leader = await cluster.leader();
    const increment = client.transaction(NAMESPACE).then({ increment: { key: "exact", delta: 1 } });
    const work = async (): Promise<void> => {
      await untilExecuted((requestId) => increment.commit({ requestId }));
      done += 1;
      if (done >= INCREMENTS / 4) {
        killed ??= leader.kill().then(() => leader.start());
      }
    };
    await inTurns(
      Array.from({ length: INCREMENTS }, () => work),
      CONCURRENT,
    );
    await killed;
    expect(await textOf("exact")).to.equal(String(INCREMENTS));
    await cluster.untilReady();
  });

  it("of functions conflict, run again, and lose no change", async () => {
    await client.batch(NAMESPACE, [{ put: { key: "from", value: "100" } }, { put: { key: "to", value: "0" } }]);
    let runs = 0;
    const move = () =>
      client.transact(
        NAMESPACE,
        async (transaction) => {
          runs += 1;
          const numberOf = async (key: string) => Number(new TextDecoder().decode(await transaction.get(key)));
          const [from, to] = [await numberOf("from"), await numberOf("to")];
          transaction.put("from", String(from - 1));
          transaction.put("to", String(to + 1));
        },
        { maxAttempts: 1_000, timeoutMs: 60_000 },
      );
    await inTurns(
      Array.from({ length: 30 }, () => move),
      5,
    );
    expect([await textOf("from"), await textOf("to")]).to.deep.equal(["70", "30"]);
    expect(runs).to.be.at.least(30);
  });

  it("see a new key with a prefix that they have listed as a conflict", async () => {
    const work = client.transact(
      NAMESPACE,
      async (transaction) => {
        const listed = await transaction.list("phantom/");
        await client.keyValue.put(NAMESPACE, "phantom/new", "");
        transaction.put("phantoms", String(listed.length));
      },
      { maxAttempts: 1 },
    );
    const error = await work.catch((thrown: unknown) => thrown);
    expect(isQuoinError(error, "TRANSACTION_CONFLICT"), String(error)).to.equal(true);
    const counted = await client.transact(NAMESPACE, async (transaction) => {
      const { length } = await transaction.list("phantom/");
      transaction.put("phantoms", String(length));
      return length;
    });
    expect([counted, await textOf("phantoms")]).to.deep.equal([1, "1"]);
  });

  it("add to any number of 64 bits", async () => {
    await client.keyValue.put(NAMESPACE, "most", String(2n ** 63n - 2n));
    const increment = client.transaction(NAMESPACE).then({ increment: { key: "most", delta: 1 } });
    expect((await increment.commit()).results[0].value).to.equal(2n ** 63n - 1n);
    const error = await increment.commit().catch((thrown: unknown) => thrown);
    expect(isQuoinError(error, "NUMBER_OVERFLOW"), String(error)).to.equal(true);
  });

  it("leave out large values only in the answer to a repetition, and say so", async () => {
    await client.keyValue.put(NAMESPACE, "large", "x".repeat(10_000));
    const requestId = randomUUID();
    const read = client.transaction(NAMESPACE).then({ get: { key: "large" } }, { put: { key: "beside", value: "" } });
    const first = await read.commit({ requestId });
    expect([first.valuesOmitted, first.results[0].kv?.value?.length]).to.deep.equal([false, 10_000]);
    const again = await read.commit({ requestId });
    expect([again.valuesOmitted, again.results[0].kv?.value, again.revision]).to.deep.equal([
      true,
      undefined,
      first.revision,
    ]);
  });

  it("write and delete many keys in parts", async () => {
    function* writes(): Generator<BatchWrite> {
      for (let at = 0; at < MANY_KEYS; at++) {
        yield { put: { key: `many/${at}`, value: "v" } };
      }
    }
    const parts = await client.batch(NAMESPACE, writes(), { timeoutMs: 60_000 });
    expect(parts.map((part) => part.writes)).to.deep.equal([10_000, MANY_KEYS - 10_000]);
    expect(parts[1]?.revision).to.be.above(parts[0]?.revision ?? 0);
    const env = {
      ...process.env,
      QUOIN_ENDPOINTS: cluster.endpoints.join(","),
      QUOIN_TOKEN: await cluster.tokens.token(),
    };
    const parameters = ["kv", "delete", "--prefix", `${NAMESPACE}/many/`, "--timeout", "60s"];
    const child = new TestProcess(QUOINCTL_PROGRAM, parameters, { env });
    try {
      expect((await child.ended).code, child.stderr).to.equal(0);
      expect(child.stdout).to.equal(`DELETED\n${MANY_KEYS}\n`);
    } finally {
      await child.dispose();
    }
    expect((await client.keyValue.list(NAMESPACE, { prefix: "many/" })).items).to.deep.equal([]);
  });
});
