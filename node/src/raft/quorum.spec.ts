import { expect } from "chai";
import fc from "fast-check";
import { type Configuration, NO_CONFIGURATION } from "./configuration.ts";
import { type ElectionState, election, majorityReached, majorityVote, quorumReached } from "./quorum.ts";

type Vote = boolean | undefined;

/** All subsets of the list. */
function subsets<Value>(list: readonly Value[]): Value[][] {
  return Array.from({ length: 2 ** list.length }, (_, mask) => list.filter((_, at) => (mask & (1 << at)) !== 0));
}

function isMajority(subset: readonly unknown[], all: readonly unknown[]): boolean {
  return subset.length * 2 > all.length;
}

/** The definition: the highest value that every member of some majority has reached. */
function referenceReached(values: readonly number[]): number {
  if (values.length === 0) {
    return Number.POSITIVE_INFINITY;
  }
  const majorities = subsets(values).filter((subset) => isMajority(subset, values));
  return Math.max(...majorities.map((majority) => Math.min(...majority)));
}

/** The definition: won if some majority granted, lost if no majority can grant any more. */
function referenceVote(votes: readonly Vote[]): ElectionState {
  if (votes.length === 0) {
    return "won";
  }
  const majorities = subsets(votes).filter((subset) => isMajority(subset, votes));
  if (majorities.some((majority) => majority.every((vote) => vote === true))) {
    return "won";
  }
  return majorities.some((majority) => majority.every((vote) => vote !== false)) ? "pending" : "lost";
}

/** Ids that differ from positions, so that the code cannot confuse the two. */
function idsOf(values: readonly unknown[]): number[] {
  return values.map((_, at) => 100 + 7 * at);
}

function reached(values: readonly number[]): number {
  return majorityReached(idsOf(values), (voter) => values[(voter - 100) / 7] as number);
}

function voted(votes: readonly Vote[]): ElectionState {
  return majorityVote(idsOf(votes), (voter) => votes[(voter - 100) / 7]);
}

function joint(voters: readonly number[], outgoing: readonly number[]): Configuration {
  return { ...NO_CONFIGURATION, index: 1, voters, outgoing };
}

/** Two sets of voters among nine members, and the value of each member. */
function jointCases<Value>(value: fc.Arbitrary<Value>) {
  const set = fc.subarray([1, 2, 3, 4, 5, 6, 7, 8, 9], { minLength: 0, maxLength: 5 });
  return fc.tuple(set, set, fc.array(value, { minLength: 10, maxLength: 10 }));
}

describe("the value that a majority has reached", () => {
  for (const [values, expected] of [
    [[], Number.POSITIVE_INFINITY],
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
    [[Number.NEGATIVE_INFINITY, 4, Number.NEGATIVE_INFINITY], Number.NEGATIVE_INFINITY],
  ] as const) {
    it(`majority-commit: of ${JSON.stringify(values)} is ${expected}`, () => {
      expect(reached(values)).to.equal(expected);
    });
  }

  for (let voters = 0; voters <= 9; voters++) {
    it(`majority-commit: agrees with its definition for ${voters} voters`, () => {
      // Few different values give ties; large ones are indexes that need more than 32 bits; contact may be never.
      const value = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.maxSafeNat(), fc.constant(Number.NEGATIVE_INFINITY));
      fc.assert(
        fc.property(fc.array(value, { minLength: voters, maxLength: voters }), (values) => {
          expect(reached(values)).to.equal(referenceReached(values));
        }),
      );
    });
  }

  it("agrees with a majority of more voters than any cluster has", () => {
    const values = Array.from({ length: 41 }, (_, at) => (at * 17) % 41);
    expect(reached(values)).to.equal(20);
  });

  it("is asked of each voter once, and of no other member", () => {
    const asked: number[] = [];
    majorityReached([4, 8, 15], (voter) => {
      asked.push(voter);
      return 1;
    });
    expect(asked).to.deep.equal([4, 8, 15]);
  });

  for (const [name, voters, outgoing, expected] of [
    ["not joint", [1, 2, 3], [], 20],
    ["disjoint", [1, 2, 3], [4, 5, 6], 20],
    ["disjoint, the other half behind", [4, 5, 6], [7, 8, 9], 50],
    ["overlapping", [1, 2, 3], [2, 3, 4], 20],
    ["identical", [1, 2, 3], [1, 2, 3], 20],
    ["one leaving many", [9], [1, 2, 9], 20],
  ] as const) {
    it(`joint-commit: ${name}`, () => {
      expect(quorumReached(joint(voters, outgoing), (voter) => 10 * voter)).to.equal(expected);
    });
  }

  it("joint-commit: agrees with its definition, for acknowledged indexes, contact and read positions alike", () => {
    const value = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(Number.NEGATIVE_INFINITY));
    fc.assert(
      fc.property(jointCases(value), ([voters, outgoing, values]) => {
        const halves = [voters, outgoing].map((half) => referenceReached(half.map((id) => values[id] as number)));
        expect(quorumReached(joint(voters, outgoing), (id) => values[id] as number)).to.equal(Math.min(...halves));
      }),
      { numRuns: 300 },
    );
  });
});

describe("an election", () => {
  for (const [votes, expected] of [
    [[], "won"],
    [[undefined], "pending"],
    [[true], "won"],
    [[false], "lost"],
    [[true, undefined], "pending"],
    [[true, false], "lost"],
    [[true, true, undefined], "won"],
    [[true, false, undefined], "pending"],
    [[false, false, undefined], "lost"],
    [[true, true, false, false], "lost"],
    [[true, true, undefined, undefined], "pending"],
  ] as const) {
    it(`majority-vote: with ${JSON.stringify(votes)} is ${expected}`, () => {
      expect(voted(votes)).to.equal(expected);
    });
  }

  for (let voters = 0; voters <= 7; voters++) {
    it(`majority-vote: agrees with its definition for ${voters} voters`, () => {
      const vote = fc.constantFrom<Vote[]>(true, false, undefined);
      fc.assert(
        fc.property(fc.array(vote, { minLength: voters, maxLength: voters }), (votes) => {
          expect(voted(votes)).to.equal(referenceVote(votes));
        }),
      );
    });
  }

  it("joint-vote: is won in both halves, lost in one, agreeing with its definition", () => {
    fc.assert(
      fc.property(jointCases(fc.constantFrom<Vote[]>(true, false, undefined)), ([voters, outgoing, votes]) => {
        const halves = [voters, outgoing].map((half) => referenceVote(half.map((id) => votes[id])));
        const expected = halves.includes("lost") ? "lost" : halves.includes("pending") ? "pending" : "won";
        expect(election(joint(voters, outgoing), (id) => votes[id])).to.equal(expected);
      }),
      { numRuns: 300 },
    );
  });

  it("that is won has voters in common with every majority that has acknowledged something", () => {
    // Why commits survive elections: in each half any two majorities share a member.
    const set = fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 1 });
    fc.assert(
      fc.property(set, set, set, set, (voters, outgoing, granted, acknowledged) => {
        const configuration = joint(voters, outgoing);
        const isWon = election(configuration, (id) => granted.includes(id)) === "won";
        const isCommitted = quorumReached(configuration, (id) => (acknowledged.includes(id) ? 1 : 0)) === 1;
        if (isWon && isCommitted) {
          expect(granted.some((id) => acknowledged.includes(id))).to.equal(true);
        }
      }),
    );
  });
});
