import { expect } from "chai";
import fc from "fast-check";
import { allAtOnce, SequenceRunsWriter } from "../core/index.ts";
import { appendedSequences } from "./appended-sequences.ts";
import { sequencesOf } from "./event-logs.ts";
import { Payloads } from "./payloads.ts";

/** The stored sequence of each event; null if it is not stored. */
const stored = fc.array(fc.option(fc.integer({ min: 1, max: 40 })), { minLength: 1, maxLength: 20 });
const NEXT = 50;

describe("the sequences of an append", () => {
  it("are the old ones for stored events, and the next ones in order for the others", () => {
    fc.assert(
      fc.property(stored, (events) => {
        const found = new SequenceRunsWriter();
        for (const [position, sequence] of events.entries()) {
          if (sequence !== null) {
            found.join(position, 1, sequence);
          }
        }
        let next = NEXT;
        const expected = events.map((sequence) => sequence ?? next++);
        const fresh = events.map((_, at) => at).filter((at) => events[at] === null);
        // The payload at a position has as many bytes as its position.
        const payloads = Payloads.of(events.map((_, at) => new Uint8Array(at)));
        const sequences = allAtOnce(appendedSequences(found.finish(), payloads, NEXT));
        expect([...sequencesOf(sequences.runs)]).to.deep.equal(expected);
        expect([...sequencesOf(sequences.fresh)]).to.deep.equal(fresh.map((_, at) => NEXT + at));
        expect(sequences).to.include({
          lastSequence: Math.max(...expected),
          appendedEvents: fresh.length,
          appendedBytes: fresh.reduce((sum, at) => sum + at, 0),
        });
        let position = 0;
        for (let run = 0; run < sequences.runs.length; run++) {
          expect(sequences.runs.positionOf(run)).to.equal(position);
          position = sequences.runs.endOf(run);
        }
        expect(position).to.equal(events.length);
      }),
    );
  });
});
