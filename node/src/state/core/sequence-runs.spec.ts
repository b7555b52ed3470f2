import { expect } from "chai";
import fc from "fast-check";
import { type SequenceRun, SequenceRuns, SequenceRunsWriter, withLaterSequences } from "./sequence-runs.ts";
import { allAtOnce, STEP_ITEMS } from "./steps.ts";

/** The sequence of each position; consecutive ones form runs. */
const sequences = fc.dictionary(fc.nat(40).map(String), fc.integer({ min: 1, max: 30 }));

function runsOf(bySequence: Record<string, number>): SequenceRuns {
  const writer = new SequenceRunsWriter();
  const positions = Object.keys(bySequence).map(Number);
  for (const position of positions.sort((one, other) => one - other)) {
    writer.join(position, 1, bySequence[position] as number);
  }
  return writer.finish();
}

function listed(runs: SequenceRuns): SequenceRun[] {
  return Array.from({ length: runs.length }, (_, run) => {
    return { position: runs.positionOf(run), count: runs.countOf(run), firstSequence: runs.firstSequenceOf(run) };
  });
}

function bySequence(runs: SequenceRuns): Record<string, number> {
  return Object.fromEntries(
    listed(runs).flatMap(({ position, count, firstSequence }) =>
      Array.from({ length: count }, (_, at) => [String(position + at), firstSequence + at]),
    ),
  );
}

describe("runs of sequences", () => {
  it("are the added ones, in as few runs as possible", () => {
    const writer = new SequenceRunsWriter(0);
    writer.join(2, 1, 5);
    writer.join(3, 2, 6);
    writer.join(5, 1, 9);
    writer.join(7, 1, 10);
    writer.push(8, 1, 11);
    const runs = writer.finish();
    expect(runs).to.deep.equal(
      SequenceRuns.of([
        { position: 2, count: 3, firstSequence: 5 },
        { position: 5, count: 1, firstSequence: 9 },
        { position: 7, count: 1, firstSequence: 10 },
        { position: 8, count: 1, firstSequence: 11 },
      ]),
    );
    expect([runs.endOf(0), new SequenceRunsWriter().finish().length]).to.deep.equal([5, 0]);
  });

  it("are merged to the later sequence of each position", () => {
    fc.assert(
      fc.property(sequences, sequences, (some, others) => {
        const expected = { ...some };
        for (const [position, sequence] of Object.entries(others)) {
          expected[position] = Math.max(sequence, expected[position] ?? 0);
        }
        const merged = allAtOnce(withLaterSequences(runsOf(some), runsOf(others)));
        expect(bySequence(merged)).to.deep.equal(expected);
        expect(merged).to.deep.equal(runsOf(expected));
      }),
    );
  });

  it("are merged in steps if there are many", () => {
    const many = runsOf(Object.fromEntries(Array.from({ length: STEP_ITEMS + 1 }, (_, at) => [2 * at, 7])));
    const steps = withLaterSequences(many, SequenceRuns.one(1, 1, 3));
    expect(steps.next().done).to.equal(false);
    expect(allAtOnce(steps).length).to.equal(STEP_ITEMS + 2);
  });
});
