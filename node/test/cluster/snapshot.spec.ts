import { createClient, type LogEvent } from "@quoin/client";
import { expect } from "chai";
import { appendLines, type ClusterMember, ClusterUnderTest } from "../harness/index.ts";
import { writeMebibytes, wrongKeys } from "./bulk.ts";

/** Few keys, so that the state stays small while the log grows. */
const KEYS = 16;
/** Batches that need many pieces of a snapshot: the largest one of one event, and one of very many. */
const WHOLE = Buffer.alloc(10 * 1024 * 1024, "whole ");
const MANY = 200_000;
/** Writes after which the log must have been compacted. */
const WRITES_MAX = 600;

/** The event of 10 MiB from a page and from a stream, and the last event of all, at one member. */
async function readLargeBatches(member: ClusterMember, cluster: ClusterUnderTest, logId: string): Promise<string[]> {
  const told = ({ sequence, payload }: LogEvent): string => {
    return `${sequence} ${WHOLE.equals(payload) ? "whole" : Buffer.from(payload).toString()}`;
  };
  const client = createClient({ endpoints: [member.grpc], credentials: cluster.tokens });
  try {
    const first = await client.logs.read(logId, { limit: 10 });
    const last = await client.logs.read(logId, { fromSequence: MANY, limit: 10 });
    const [page, end] = [first.events.map(told), last.events.slice(-1).map(told)];
    for await (const event of client.logs.tail(logId)) {
      return [...page, told(event), ...end];
    }
    throw new Error("the stream has ended");
  } finally {
    client.close();
  }
}

describe("a follower that was down past the start of the log", () => {
  it("catches up by a snapshot and serves all that was written meanwhile", async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const follower = await cluster.follower();
      const before = await follower.status();
      await follower.kill();
      const client = cluster.client(cluster.endpoints.filter((endpoint) => endpoint !== follower.grpc));
      const leader = await cluster.leader();
      const { logId } = await client.logs.create("large");
      const endpoint = `http://${leader.host}:${leader.ports.http}`;
      const target = { endpoint, log: logId, token: await cluster.tokens.token(), timeoutMs: 30_000 };
      await appendLines(target, "whole", WHOLE);
      await appendLines(target, "many", "event\n".repeat(MANY));
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
      await cluster.untilStable();
      const after = await follower.status();
      expect(after?.firstIndex, "the log after a snapshot begins behind it").to.be.above(lastIndex + 1);
      expect(after?.stateHash).to.equal((await leader.status())?.stateHash);
      const reader = cluster.client([follower.grpc]);
      expect(await wrongKeys(reader, written)).to.deep.equal([]);
      const events = await readLargeBatches(follower, cluster, logId);
      expect(events).to.deep.equal([...Array(2).fill("1 whole"), `${MANY + 1} event`]);
    });
  });
});
