import { expect } from "chai";
import { countTurns } from "../../../../test/harness/index.ts";
import { SequenceRuns } from "../../../state/index.ts";
import { appendedBatchText } from "./appended-batch.ts";

const MANY = 1_000_000;

describe("the answer to a batch", () => {
  it("has a sequence for each event, in order", async () => {
    const runs = SequenceRuns.of([
      { position: 0, count: 2, firstSequence: 7 },
      { position: 2, count: 1, firstSequence: 1 },
      { position: 3, count: 2, firstSequence: 9 },
    ]);
    const text = await appendedBatchText({ runs, lastSequence: 10 });
    expect(JSON.parse(text)).to.deep.equal({ success: true, sequences: [7, 8, 1, 9, 10], last_sequence: 10 });
  });

  it("S44: is written in several turns of the event loop for a million sequences", async () => {
    const runs = SequenceRuns.one(0, MANY, 1);
    const { result: text, turns } = await countTurns(() => {
      return appendedBatchText({ runs, lastSequence: MANY });
    });
    expect(turns).to.be.above(1);
    const { sequences } = JSON.parse(text) as { readonly sequences: readonly number[] };
    expect(sequences).to.have.length(MANY);
    expect(sequences.findIndex((sequence, at) => sequence !== at + 1)).to.equal(-1);
  });
});
