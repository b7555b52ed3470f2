import { expect } from "chai";
import fc from "fast-check";
import { RecordReader, RecordWriter } from "../core/index.ts";
import { PositionCursor, PositionRuns } from "./position-runs.ts";

const gaps = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 5 })), { maxLength: 6 });

/** Runs of these lengths, each after a gap. */
function runsOf(parts: readonly (readonly [number, number])[]): PositionRuns {
  let end = 0;
  const numbers = parts.flatMap(([gap, count]) => {
    const position = end + gap;
    end = position + count;
    return [position, count];
  });
  return new PositionRuns(Uint32Array.from(numbers));
}

function listed(runs: PositionRuns): number[] {
  const cursor = new PositionCursor(runs);
  const positions: number[] = [];
  for (let position = cursor.next(); position !== undefined; position = cursor.next()) {
    positions.push(position);
  }
  return positions;
}

describe("runs of positions", () => {
  it("are iterated one by one, and can drop their first positions", () => {
    expect(listed(new PositionRuns(Uint32Array.of(3, 2, 9, 1)))).to.deep.equal([3, 4, 9]);
    fc.assert(
      fc.property(gaps, fc.nat(30), (parts, count) => {
        const runs = runsOf(parts);
        const rest = runs.without(count);
        expect(listed(rest)).to.deep.equal(listed(runs).slice(count));
        expect(listed(runs), "the original runs are unchanged").to.deep.equal(listed(runsOf(parts)));
      }),
    );
  });

  it("come back as written", () => {
    fc.assert(
      fc.property(gaps, (parts) => {
        const writer = new RecordWriter();
        runsOf(parts).write(writer);
        const reader = new RecordReader(writer.finish());
        expect(PositionRuns.read(reader)).to.deep.equal(runsOf(parts));
        reader.end();
      }),
    );
  });
});
