import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect } from "chai";
import { UsageError } from "../../../src/command-line/index.ts";
import { readOptions } from "./options.ts";

const MAIN = path.join(import.meta.dirname, "main.ts");

describe("the options of mutants", () => {
  it("are to try all of them by default", () => {
    expect(readOptions([])).to.deep.equal({ only: null, choice: null, search: null });
  });

  it("are what the arguments say", () => {
    expect(readOptions(["--only", "vote-not-written", "--only", "restart-not-told"])).to.deep.equal({
      only: ["vote-not-written", "restart-not-told"],
      choice: null,
      search: null,
    });
    expect(readOptions(["--choose", "12", "--by", "a text"])?.choice).to.deep.equal({ count: 12, by: "a text" });
    expect(readOptions(["--search"])?.search).to.deep.equal({ among: "all", seeds: 60, isForUnknown: false });
    const simulated = ["--search", "--unknown", "--among", "simulator", "--seeds", "2000"];
    expect(readOptions(simulated)?.search).to.deep.equal({ among: "simulator", seeds: 2_000, isForUnknown: true });
  });

  for (const wrong of [
    ...["--search --seeds x", "--search --seeds 0", "--search --seeds -1", "--search --among nowhere", "--choose 0"],
    ...["--seeds 100", "--unknown", "--among specs", "--only no-such-mutant", "--only", "--serach", "a"],
  ]) {
    it(`do not exist with ${wrong}`, () => {
      expect(() => readOptions(wrong.split(" "))).to.throw(UsageError);
    });
  }

  it("are refused in one line, with the exit code 2", () => {
    for (const wrong of ["--choose x", "--unknown-option"]) {
      const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, ...wrong.split(" ")], { encoding: "utf8" });
      expect({ stdout, status }, wrong).to.deep.equal({ stdout: "", status: 2 });
      expect(stderr, wrong).to.match(/^[^\n]+\n$/);
    }
  });
});
