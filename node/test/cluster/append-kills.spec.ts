import { expect } from "chai";
import { drawnSeed } from "../../../testing/index.ts";
import { logCheck } from "../../verify/history/index.ts";
import { AppendLoad, ClusterUnderTest } from "../harness/index.ts";

const CLIENTS = 50;
const KILLS_MIN = 3;
const APPENDS = 100;
/** Shorter than some elections: outcomes stay unknown, and keys are sent again. */
const IMPATIENT_MS = 1_500;
/** Pause between two appends of a client: the time to judge a history grows with the square of its length. */
const REST_MS = 300;

describe("event logs under leader kills", () => {
  it(`hold each acknowledged event of ${CLIENTS} clients once, dense and in order (S1, S2, S03, S5, S6)`, async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const seed = drawnSeed("append kills");
      const load = new AppendLoad({
        cluster,
        seed,
        clients: CLIENTS,
        logs: 2,
        name: "kills",
        timeoutMs: IMPATIENT_MS,
        restMs: REST_MS,
      });
      try {
        load.start();
        let kills = 0;
        // Without a race for one sequence, the history would prove little.
        while (kills < KILLS_MIN || load.counts.conflicts === 0) {
          await cluster.untilReady();
          await load.untilAcknowledged(APPENDS);
          const leader = await cluster.leader();
          await leader.kill();
          await load.untilAcknowledged(APPENDS);
          leader.start();
          kills++;
        }
        await cluster.untilReady();
        await load.stop();
        await load.readAll();
        const { stored, conflicts, notExecuted, unknown } = load.counts;
        console.log(
          `      ${kills} kills: ${stored} stored, ${conflicts} conflicts, ${notExecuted} not executed, ${unknown} unknown`,
        );
        expect(logCheck(load.history.operations)).to.deep.equal([]);
      } finally {
        load.abandon();
        await load.ended;
      }
    });
  });
});
