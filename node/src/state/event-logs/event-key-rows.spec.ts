import { expect } from "chai";
import fc from "fast-check";
import { InvariantViolation } from "../../primitives/index.ts";
import { allAtOnce, SequenceRuns, SequenceRunsWriter } from "../core/index.ts";
import { EventKeyRow, mergedRow, NOTHING_ADDED } from "./event-key-rows.ts";

const WINDOW_MS = 100;
const always = () => true;
/** The append that stores each position: the first, the second, or none. */
const places = fc.array(fc.constantFrom("first", "second", "none"), { maxLength: 30 });

function runsAt(all: readonly string[], which: string, firstSequence: number): SequenceRuns {
  const writer = new SequenceRunsWriter();
  let sequence = firstSequence;
  for (const [position, one] of all.entries()) {
    if (one === which) {
      writer.join(position, 1, sequence++);
    }
  }
  return writer.finish();
}

function merged(
  before: EventKeyRow | undefined,
  isStored: (tickMs: number) => boolean,
  runs: SequenceRuns,
  tickMs: number,
) {
  return allAtOnce(mergedRow(before, isStored, { runs, shift: 0, tickMs }, WINDOW_MS)) ?? undefined;
}

describe("a row of remembered keys", () => {
  it("has the sequence of each position in it that is still remembered", () => {
    fc.assert(
      fc.property(places, (all) => {
        const first = merged(undefined, always, runsAt(all, "first", 1), 5);
        const row = merged(first, always, runsAt(all, "second", 100), 9);
        let [one, two] = [1, 100];
        for (const [position, which] of [...all, "none"].entries()) {
          const sequence = which === "none" ? undefined : which === "first" ? one++ : two++;
          expect(row?.sequenceAt(position, always), `${position}`).to.equal(sequence);
          const isNew = which === "second" ? sequence : undefined;
          expect(
            row?.sequenceAt(position, (tickMs) => tickMs > 5),
            `${position} of the second`,
          ).to.equal(isNew);
        }
        const earliestMs = all.includes("first") ? 5 : 9;
        expect(row?.dueMs).to.equal(all.some((which) => which !== "none") ? earliestMs + WINDOW_MS : undefined);
        // Without the ended runs, the row equals one that only ever had the rest.
        const rest = merged(row, (tickMs) => tickMs > 5, SequenceRuns.NONE, 0);
        expect(rest?.bytes).to.deep.equal(merged(undefined, always, runsAt(all, "second", 100), 9)?.bytes);
      }),
    );
  });

  it("does not exist without any run", () => {
    const row = merged(undefined, always, SequenceRuns.one(0, 3, 1), 5);
    expect(allAtOnce(mergedRow(row, () => false, NOTHING_ADDED, WINDOW_MS))).to.equal(null);
  });

  it("is as long as its runs, whose positions are those of a batch", () => {
    const { bytes } = merged(undefined, always, SequenceRuns.one(999_999, 1, 1), 5) as EventKeyRow;
    for (const wrong of [bytes.subarray(0, -1), Uint8Array.of(...bytes, 0), bytes.subarray(0, 4)]) {
      expect(() => new EventKeyRow(wrong)).to.throw(InvariantViolation);
    }
    const beyond = bytes.slice();
    beyond[bytes.length - 17] = 2;
    expect(() => new EventKeyRow(beyond).countOf(0)).to.throw(InvariantViolation, "positions are those of a batch");
  });
});
