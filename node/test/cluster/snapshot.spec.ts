import { expect } from "chai";
import { ClusterUnderTest } from "../harness/index.ts";
import { writeMebibytes, wrongKeys } from "./bulk.ts";

/** Few enough that the state stays small while the log grows. */
const KEYS = 16;
/** Writes after which the log must have been compacted. */
const WRITES_MAX = 600;

describe("a follower that was down past the start of the log", () => {
  it("catches up by a snapshot and serves all that was written meanwhile", async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const follower = await cluster.follower();
      const before = await follower.status();
      await follower.kill();
      const client = cluster.client(cluster.endpoints.filter((endpoint) => endpoint !== follower.grpc));
      const leader = await cluster.leader();
      const lastIndex = before?.lastIndex ?? 0;
      let isCompacted = false;
      const written = await writeMebibytes(client, KEYS, async (writes) => {
        if (writes % KEYS === 0) {
          isCompacted ||= ((await leader.status())?.firstIndex ?? 0) > lastIndex + 1;
        }
        return isCompacted || writes >= WRITES_MAX;
      });
      expect(isCompacted, `the log reaches back to ${lastIndex} after ${WRITES_MAX} MiB`).to.equal(true);

      const committed = (await leader.status())?.commitIndex ?? 0;
      follower.start();
      await follower.untilReady();
      expect((await follower.status())?.appliedIndex, "ready only with all of it").to.be.at.least(committed);
      await cluster.untilSettled();
      const after = await follower.status();
      expect(after?.firstIndex, "the log after a snapshot begins behind it").to.be.above(lastIndex + 1);
      expect(after?.stateHash).to.equal((await leader.status())?.stateHash);
      const reader = cluster.client([follower.grpc]);
      expect(await wrongKeys(reader, written)).to.deep.equal([]);
    });
  });
});
