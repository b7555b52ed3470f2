import { expect } from "chai";
import fc from "fast-check";
import { majorityReached } from "./quorum.ts";

/** The definition itself: the highest value that more than half of the voters have reached. */
function reference(values: readonly number[]): number {
  const reachedByMajority = values.filter(
    (candidate) => values.filter((value) => value >= candidate).length * 2 > values.length,
  );
  return Math.max(0, ...reachedByMajority);
}

function reached(values: readonly number[]): number {
  // Ids that are no positions, so that the two cannot be mixed up.
  const voters = values.map((_, at) => 100 + 7 * at);
  return majorityReached(voters, (voter) => values[(voter - 100) / 7] as number);
}

describe("the value that a majority has reached", () => {
  for (const [values, expected] of [
    [[], 0],
    [[5], 5],
    [[5, 9], 5],
    [[9, 5], 5],
    [[5, 9, 7], 7],
    [[0, 0, 9], 0],
    [[9, 9, 0], 9],
    [[1, 2, 3, 4], 2],
    [[1, 2, 3, 4, 5], 3],
    [[9, 9, 0, 0, 9], 9],
    [[3, 1, 4, 1, 5, 9, 2, 6, 5], 4],
  ] as const) {
    it(`of ${JSON.stringify(values)} is ${expected}`, () => {
      expect(reached(values)).to.equal(expected);
    });
  }

  for (let voters = 0; voters <= 9; voters++) {
    it(`agrees with its definition for ${voters} voters`, () => {
      // Few different values give ties; large ones are indexes that need more than 32 bits.
      const value = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.maxSafeNat());
      fc.assert(
        fc.property(fc.array(value, { minLength: voters, maxLength: voters }), (values) => {
          expect(reached(values)).to.equal(reference(values));
        }),
      );
    });
  }

  it("does not depend on the order of the voters", () => {
    const shuffled = fc
      .array(fc.integer({ min: 0, max: 9 }), { maxLength: 9 })
      .chain((values) =>
        fc.tuple(
          fc.constant(values),
          fc.shuffledSubarray(values, { minLength: values.length, maxLength: values.length }),
        ),
      );
    fc.assert(
      fc.property(shuffled, ([values, others]) => {
        expect(reached(others)).to.equal(reached(values));
      }),
    );
  });

  it("is asked of each voter once, and of nobody else", () => {
    const asked: number[] = [];
    majorityReached([4, 8, 15], (voter) => {
      asked.push(voter);
      return 1;
    });
    expect(asked).to.deep.equal([4, 8, 15]);
  });
});
