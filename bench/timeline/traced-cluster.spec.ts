import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { PutClient } from "./puts.ts";
import { type CaseSummary, summarize } from "./summary.ts";
import { TracedCluster } from "./traced-cluster.ts";

const PUTS = 9;
const DISK = ["the log thread is sent the write", "both ways between the threads", "synced, and the mirror is written"];
const APPLY = ["committed, may be applied", "applied, written to the state"];
const ARRIVAL = [
  "the client's HTTP/2 session has the request",
  "the asked member has the headers",
  "the headers are checked",
  "the request is there whole",
  "decoded, authorised, queued as a command",
];
const APPENDED = "a turn has appended it in the leader's memory";
const FIRST_FOLLOWER = ["the follower has decoded the append", ...DISK, "the leader has decoded the acknowledgement"];
const ANSWER = [
  ...APPLY,
  "the outcome meets its call",
  "the answer is encoded",
  "the client has the headers",
  "the client has the trailers",
  "the client has the answer",
];

/** The names of all steps, by leg. */
function stepsOf({ steps }: CaseSummary): Readonly<Record<string, readonly string[]>> {
  const byLeg = Map.groupBy(steps, ({ leg }) => leg);
  return Object.fromEntries([...byLeg].map(([leg, ofLeg]) => [leg, ofLeg.map(({ step }) => step)]));
}

describe("a traced cluster", () => {
  const never = new AbortController().signal;
  let directory: string;
  let traced: TracedCluster;

  before(async () => {
    directory = temporaryDirectory();
    traced = await TracedCluster.start(3, directory);
  });

  after(() => traced.stop());

  it("has every step of every put, from the spans that its members export", async () => {
    const client = await PutClient.open(traced.cluster, 256);
    const puts = await client.run({ ms: Infinity, operations: PUTS }, never);
    client.close();
    const cases = summarize(await traced.timelines(puts, never));
    expect(cases.map(({ askedAt, puts: count }) => [askedAt, count])).to.deep.equal([
      ["leader", PUTS / 3],
      ["follower", (PUTS * 2) / 3],
    ]);
    const [leader, follower] = cases as [CaseSummary, CaseSummary];
    expect(stepsOf(leader)).to.deep.equal({
      request: [...ARRIVAL, APPENDED],
      "leader's disk": DISK,
      "first follower": FIRST_FOLLOWER,
      answer: ANSWER,
    });
    expect(stepsOf(follower)).to.deep.equal({
      request: [...ARRIVAL, "a turn has handed it to the connection", "the leader has decoded the forward", APPENDED],
      "leader's disk": DISK,
      "first follower": FIRST_FOLLOWER,
      "commit index": ["the leader has committed", "the asked follower knows the commit index"],
      "leader applies": APPLY,
      answer: ANSWER,
    });
    for (const { steps, kinds, total } of cases) {
      for (const { leg, step, sinceStep } of steps) {
        expect(sinceStep.p10Us, `${leg}: ${step}`).to.be.at.least(0);
      }
      expect(kinds.reduce((sum, { meanUs }) => sum + meanUs, 0)).to.be.closeTo(total.meanUs, 1e-3);
      expect(kinds.filter(({ meanUs }) => meanUs <= 0)).to.deep.equal([]);
    }
  });
});
