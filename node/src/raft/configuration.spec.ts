import { crc32 } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { StoredLog } from "../../verify/scenarios/index.ts";
import { InvariantViolation } from "../primitives/index.ts";
import {
  type Configuration,
  type ConfigurationChange,
  changeConfiguration,
  isJoint,
  members,
  NO_CONFIGURATION,
} from "./configuration.ts";
import { RaftCore } from "./core.ts";
import { EntryType } from "./entry.ts";
import { DEFAULT_CORE_LIMITS } from "./limits.ts";

const BOOTSTRAP = { type: "bootstrap" } as const;
const ADD = { type: "add-slot" } as const;
const LEAVE = { type: "leave" } as const;

interface Roles {
  readonly promote?: readonly number[];
  readonly demote?: readonly number[];
  readonly remove?: readonly number[];
}

function reconfigure({ promote = [], demote = [], remove = [] }: Roles): ConfigurationChange {
  return { type: "reconfigure", promote, demote, remove };
}

/** The configuration after the change, which must be allowed. */
function changed(before: Configuration, change: ConfigurationChange, index = before.index + 1): Configuration {
  const after = changeConfiguration(before, index, change, 0);
  if (typeof after === "string") {
    throw new Error(`refused: ${after}`);
  }
  return after;
}

function refused(before: Configuration, change: ConfigurationChange, expectIndex = 0): string {
  const after = changeConfiguration(before, before.index + 1, change, expectIndex);
  expect(after).to.be.a("string");
  return after as string;
}

/** Voters and learners as given, not joint. */
function simple(voters: readonly number[], learners: readonly number[] = []): Configuration {
  return { ...NO_CONFIGURATION, index: 20, voters, learners };
}

/** The rules that every configuration must keep. */
function checkValid(configuration: Configuration): void {
  const { voters, outgoing, learners, learnersNext, autoLeave } = configuration;
  expect(voters).to.have.lengthOf.above(0);
  for (const list of [voters, outgoing, learners, learnersNext]) {
    expect([...new Set(list)].sort((a, b) => a - b)).to.deep.equal(list);
  }
  for (const id of learners) {
    expect([...voters, ...outgoing, ...learnersNext]).not.to.include(id);
  }
  for (const id of learnersNext) {
    expect(outgoing).to.include(id);
    expect(voters).not.to.include(id);
  }
  expect(autoLeave).to.equal(isJoint(configuration));
  expect(isJoint(configuration) || learnersNext.length === 0).to.equal(true);
}

/** Two consecutive configurations: every quorum of one meets every quorum of the other. */
function checkNeighbours(before: Configuration, after: Configuration): void {
  const halves = ({ voters, outgoing }: Configuration) => [voters, ...(outgoing.length > 0 ? [outgoing] : [])];
  const isShared = halves(before).some((one) => {
    return halves(after).some((other) => {
      const both = new Set([...one, ...other]);
      // Two majorities share a member if their sizes together exceed the size of the union.
      return Math.floor(one.length / 2) + 1 + Math.floor(other.length / 2) + 1 > both.size;
    });
  });
  expect(isShared, `${JSON.stringify(before)} ${JSON.stringify(after)}`).to.equal(true);
}

const someChange = fc.oneof(
  { weight: 2, arbitrary: fc.constant(ADD as ConfigurationChange) },
  { weight: 4, arbitrary: fc.constant(LEAVE as ConfigurationChange) },
  { weight: 1, arbitrary: fc.constant(BOOTSTRAP as ConfigurationChange) },
  {
    weight: 8,
    arbitrary: fc
      .tuple(
        fc.array(fc.nat(30), { maxLength: 3 }),
        fc.array(fc.nat(30), { maxLength: 2 }),
        fc.array(fc.nat(30), { maxLength: 2 }),
      )
      .map(([promote, demote, remove]) => reconfigure({ promote, demote, remove })),
  },
);

describe("configurations", () => {
  it("begin without members, so that none can vote", () => {
    expect(members(NO_CONFIGURATION)).to.deep.equal([]);
    expect(refused(NO_CONFIGURATION, ADD)).to.equal("not-founded");
    expect(refused(NO_CONFIGURATION, LEAVE)).to.equal("not-founded");
  });

  it("are founded with one voter, whose id is the index of the founding entry", () => {
    expect(changed(NO_CONFIGURATION, BOOTSTRAP)).to.deep.equal({ ...NO_CONFIGURATION, index: 1, voters: [1] });
  });

  it("P48: are founded again above a restored backup, so that no id is used twice", () => {
    expect(changed(NO_CONFIGURATION, BOOTSTRAP, 4711)).to.deep.include({ index: 4711, voters: [4711] });
  });

  it("P47: are not founded a second time", () => {
    expect(refused(simple([1]), BOOTSTRAP)).to.equal("not-founded");
  });

  it("change in the order of the log", () => {
    for (const index of [19, 20]) {
      expect(() => changeConfiguration(simple([1]), index, ADD, 0)).to.throw(InvariantViolation, "order");
    }
  });

  it("are left as they were: a change makes a new one", () => {
    const before = simple([1, 2, 3], [4]);
    changed(before, reconfigure({ promote: [4], demote: [3] }));
    expect(before).to.deep.equal(simple([1, 2, 3], [4]));
  });

  it("take a slot as a learner, under the index of its entry", () => {
    expect(changed(simple([1, 2], [5]), ADD, 31)).to.deep.include({ voters: [1, 2], learners: [5, 31] });
  });

  it("change only for a caller that knows them: it gives the index of the current one, or none", () => {
    expect(refused(simple([1]), ADD, 19)).to.equal("config-changed");
    expect(changeConfiguration(simple([1]), 21, ADD, 20)).to.deep.include({ learners: [21] });
  });

  for (const [name, before, change, after] of [
    ["promote one", simple([1, 2], [3]), { promote: [3] }, simple([1, 2, 3])],
    ["demote one", simple([1, 2, 3]), { demote: [3] }, simple([1, 2], [3])],
    ["remove a voter", simple([1, 2, 3]), { remove: [3] }, simple([1, 2])],
    ["remove a learner", simple([1], [3]), { remove: [3] }, simple([1])],
    ["remove learners and promote one", simple([1], [3, 4, 5]), { promote: [3], remove: [4, 5] }, simple([1, 3])],
    ["promote a voter", simple([1, 2]), { promote: [2] }, simple([1, 2])],
    ["demote a learner", simple([1], [2]), { demote: [2] }, simple([1], [2])],
    ["remove a member that does not exist", simple([1]), { remove: [9] }, simple([1])],
    ["name no member", simple([1]), {}, simple([1])],
  ] as const) {
    it(`simple-safety: ${name}`, () => {
      expect(changed(before, reconfigure(change))).to.deep.equal({ ...after, index: 21 });
    });
  }

  for (const [name, before, change, after] of [
    [
      "one to three",
      simple([1], [2, 3]),
      { promote: [2, 3] },
      { voters: [1, 2, 3], outgoing: [1], learners: [], learnersNext: [] },
    ],
    [
      "three to one",
      simple([1, 2, 3]),
      { remove: [2, 3] },
      { voters: [1], outgoing: [1, 2, 3], learners: [], learnersNext: [] },
    ],
    [
      "one for another",
      simple([1, 2, 3], [4]),
      { promote: [4], demote: [3] },
      { voters: [1, 2, 4], outgoing: [1, 2, 3], learners: [], learnersNext: [3] },
    ],
    [
      "all others",
      simple([1, 2, 3], [4, 5, 6]),
      { promote: [4, 5, 6], demote: [2], remove: [1, 3] },
      { voters: [4, 5, 6], outgoing: [1, 2, 3], learners: [], learnersNext: [2] },
    ],
  ] as const) {
    it(`joint: ${name}`, () => {
      const joint = changed(before, reconfigure(change));
      expect(joint).to.deep.equal({ ...after, index: 21, autoLeave: true });
      const { voters, learners, learnersNext } = joint;
      const left = [...learners, ...learnersNext].sort((a, b) => a - b);
      expect(changed(joint, LEAVE)).to.deep.equal({ ...NO_CONFIGURATION, index: 22, voters, learners: left });
    });
  }

  it("joint-orders: that are joint admit nothing but their end", () => {
    const joint = changed(simple([1], [2, 3]), reconfigure({ promote: [2, 3] }));
    for (const change of [ADD, reconfigure({ demote: [2] }), reconfigure({})]) {
      expect(refused(joint, change)).to.equal("change-in-progress");
    }
  });

  it("P22: that are not joint are left as they are: a second Leave is harmless", () => {
    expect(changed(simple([1, 2], [3]), LEAVE)).to.deep.equal({ ...simple([1, 2], [3]), index: 21 });
  });

  it("name all members, in any role", () => {
    const joint = changed(simple([1, 2, 3], [4, 9]), reconfigure({ promote: [4], demote: [3] }));
    expect(members(joint)).to.deep.equal([1, 2, 3, 4, 9]);
  });

  for (const [name, change, reason] of [
    ["no voter left", { remove: [1, 2, 3] }, "last-voter"],
    ["no voter left by demotion", { demote: [1, 2], remove: [3] }, "last-voter"],
    ["a promotion of an unknown member", { promote: [9] }, "unknown-member"],
    ["a demotion of an unknown member", { demote: [9] }, "unknown-member"],
    ["id 0", { promote: [0] }, "unknown-member"],
    ["a member twice", { promote: [4], demote: [4] }, "contradictory"],
    ["a member twice in one list", { remove: [3, 3] }, "contradictory"],
  ] as const) {
    it(`refuse ${name}: ${reason}`, () => {
      expect(refused(simple([1, 2, 3], [4]), reconfigure(change))).to.equal(reason);
    });
  }

  it("stay valid, and share a quorum with their neighbours, after any changes", () => {
    fc.assert(
      fc.property(fc.array(someChange, { maxLength: 40 }), (changes) => {
        let configuration = changed(NO_CONFIGURATION, BOOTSTRAP);
        for (const [at, change] of changes.entries()) {
          const after = changeConfiguration(configuration, at + 2, change, 0);
          if (typeof after !== "string") {
            checkValid(after);
            checkNeighbours(configuration, after);
            expect(after.index).to.equal(at + 2);
            configuration = after;
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it("random-equivalence: one joint change ends where simple ones lead", () => {
    const roles = fc.array(fc.constantFrom("voter", "learner", "gone"), { minLength: 7, maxLength: 7 });
    fc.assert(
      fc.property(roles, roles, (from, to) => {
        const withRole = (all: readonly string[], role: string) =>
          [1, 2, 3, 4, 5, 6, 7].filter((id) => all[id - 1] === role);
        const before = simple(withRole(from, "voter"), withRole(from, "learner"));
        const isMember = (id: number) => from[id - 1] !== "gone";
        const wanted = {
          promote: withRole(to, "voter").filter(isMember),
          demote: withRole(to, "learner").filter(isMember),
          remove: withRole(to, "gone").filter(isMember),
        };
        fc.pre(before.voters.length > 0 && wanted.promote.length > 0);
        const target = { voters: wanted.promote, learners: wanted.demote };

        const first = changed(before, reconfigure(wanted));
        const once = isJoint(first) ? changed(first, LEAVE) : first;
        expect({ voters: once.voters, learners: once.learners }).to.deep.equal(target);

        // One member at a time, promotions first, so that there is always a voter.
        let step = before;
        for (const [role, ids] of Object.entries(wanted)) {
          for (const id of ids) {
            step = changed(step, reconfigure({ [role]: [id] }));
            expect(isJoint(step)).to.equal(false);
          }
        }
        expect({ voters: step.voters, learners: step.learners }).to.deep.equal(target);
      }),
      { numRuns: 300 },
    );
  });

  it("record: survive storage, and a start from the stored form", () => {
    fc.assert(
      fc.property(fc.array(someChange, { maxLength: 20 }), (changes) => {
        let configuration = changed(NO_CONFIGURATION, BOOTSTRAP);
        for (const change of changes) {
          const after = changeConfiguration(configuration, configuration.index + 1, change, 0);
          configuration = typeof after === "string" ? configuration : after;
        }
        const written = JSON.parse(JSON.stringify(configuration)) as Configuration;
        const log = new StoredLog();
        log.reset(configuration.index, 1);
        const core = new RaftCore({
          id: 1,
          boot: 2,
          term: 1,
          vote: 0,
          commit: configuration.index,
          log: log.bounds,
          configuration: written,
          applied: configuration.index,
          writeSeq: 0,
          limits: DEFAULT_CORE_LIMITS,
          random: () => 0,
          reader: log,
          checksum: crc32,
        });
        expect(core.configuration).to.deep.equal(configuration);
        expect(log.add(EntryType.Empty, 1).last).to.equal(configuration.index + 1);
      }),
      { numRuns: 50 },
    );
  });
});
