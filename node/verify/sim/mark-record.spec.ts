import { existsSync } from "node:fs";
import { expect } from "chai";
import { marksOfProgram, readMarkRecord, SIMULATOR, specOf } from "./mark-record.ts";

describe("the marks of the program", () => {
  const record = readMarkRecord();

  it("are all on record", () => {
    const advice = "npm run sim -- --seeds 300 --record-marks";
    expect([...record.keys()].sort(), advice).to.deep.equal(marksOfProgram());
  });

  it("are all reached", () => {
    expect([...record].filter(([, by]) => by === "")).to.deep.equal([]);
  });

  it("are reached by something that is there", () => {
    const specs = [...record.values()].filter((by) => by !== SIMULATOR);
    expect(specs.filter((by) => !existsSync(specOf(by)))).to.deep.equal([]);
  });
});
