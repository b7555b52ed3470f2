import { expect } from "chai";
import { appendLines, ClusterUnderTest, until } from "../harness/index.ts";

const ROUNDS = 4;
const EVENTS = 200_000;
/**
 * In every second round, the kill comes after some looks at the member, more in each such round: before the entry or
 * behind it.
 */
const LOOKS_PER_ROUND = 12;
const TIMEOUT_MS = 60_000;

describe("a member that is killed while it takes a large batch", function () {
  this.timeout(300_000);

  it(`has stored all of its events or none, ${ROUNDS} times, and a retry stores what is missing`, async () => {
    await ClusterUnderTest.with(1, async (cluster) => {
      const [member] = cluster.members;
      if (member === undefined) {
        throw new Error("the cluster has no member");
      }
      const client = cluster.client();
      const { logId } = await client.logs.create("large");
      const kept: boolean[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const payloads = Array.from({ length: EVENTS }, (_, at) => `${round} ${at}`);
        const append = async () =>
          appendLines(
            {
              endpoint: `http://${member.host}:${member.ports.http}`,
              log: logId,
              token: await cluster.tokens.token(),
              timeoutMs: TIMEOUT_MS,
            },
            key,
            payloads.join("\n"),
          );
        const key = `round-${round}`;
        const lastIndex = (await member.status())?.lastIndex ?? 0;
        const appended = append().catch(() => null);
        if (round % 2 === 0) {
          for (let looks = round * LOOKS_PER_ROUND; looks > 0; looks--) {
            await member.status();
          }
        } else {
          const isLogged = async () => ((await member.status())?.lastIndex ?? 0) > lastIndex;
          await until("the entry of the batch is in the log", isLogged);
        }
        await member.kill();
        member.start();
        await member.untilReady();
        const stored = await client.logs.describe(logId, { timeoutMs: TIMEOUT_MS });
        const what = `round ${round}`;
        expect(stored.eventCount % EVENTS, what).to.equal(0);
        kept.push(stored.eventCount === (round + 1) * EVENTS);
        await appended;
        const again = await append();
        const last = (round + 1) * EVENTS;
        expect([again.length, again[0], again.at(-1)], what).to.deep.equal([...[EVENTS, last - EVENTS + 1, last]]);
        const { events } = await client.logs.read(logId, { fromSequence: last - 1, limit: 10 });
        expect(events.map(({ payload }) => Buffer.from(payload).toString())).to.deep.equal(payloads.slice(-2));
      }
      console.log(`      stored when it was started again: ${kept.filter(Boolean).length} of ${ROUNDS}`);
    });
  });
});
