import { expect } from "chai";
import { pairOf } from "./coverage.ts";
import { marksOfProgram, readMarkRecord, SIMULATOR } from "./mark-record.ts";
import { describeUncovered, pairsOfProgram, REASONS } from "./uncovered.ts";

describe("the marks that runs never reach", () => {
  const all = [...marksOfProgram(), ...pairsOfProgram()];

  it("have a reason only if they exist", () => {
    expect([...REASONS.keys()].filter((name) => !all.includes(name))).to.deep.equal([]);
  });

  it("have a reason if only specs reach them", () => {
    const bySpecs = [...readMarkRecord()].filter(([, by]) => by !== SIMULATOR).map(([mark]) => mark);
    expect(bySpecs.filter((mark) => !REASONS.has(mark))).to.deep.equal([]);
  });

  it("include the frames of every type that a member reads, by each role", () => {
    expect(pairsOfProgram()).to.include.members(
      ["follower", "candidate", "leader"].flatMap((role) => [
        pairOf(role, "Vote of an older log"),
        pairOf(role, "Append that conflicts"),
        pairOf(role, "HeartbeatReply"),
      ]),
    );
    expect(pairsOfProgram()).not.to.include(pairOf("leader", "Vote"));
  });

  it("are listed line by line, each with its reason", () => {
    const [withReason = ""] = REASONS.keys();
    const without = all.find((name) => !REASONS.has(name)) ?? "";
    const others = all.filter((name) => name !== withReason && name !== without);
    const [title, ...lines] = describeUncovered(new Map(others.map((name) => [name, 1]))).split("\n");
    expect(title).to.match(/^never reached: 2 of \d+ marks and \d+ pairs together$/);
    expect(lines.sort()).to.deep.equal(
      [
        `    ${withReason}: ${REASONS.get(withReason)}`,
        `    ${without}: no reason is known, or there were too few runs`,
      ].sort(),
    );
  });

  it("are none if all were reached", () => {
    const reached = new Map(all.map((name) => [name, 1]));
    expect(describeUncovered(reached)).to.match(/^never reached: 0 of [^\n]*$/);
  });
});
