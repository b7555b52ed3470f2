import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { UsageError } from "../../src/command-line/index.ts";
import { readOptions } from "./options.ts";

const MAIN = path.join(import.meta.dirname, "main.ts");

describe("the options of the simulator", () => {
  it("are twenty seeds on all processors by default", () => {
    expect(readOptions([])).to.deep.equal({
      first: 1,
      count: 20,
      jobs: availableParallelism(),
      script: null,
      isTraced: false,
      isTwice: false,
      isShrunk: false,
      isQuiet: false,
      keepsGoing: false,
      recordsMarks: false,
    });
  });

  it("are what the arguments say", () => {
    const all = ["--seeds", "7", "--seed", "4294967289", "--jobs", "3", "--twice", "--shrink", "--keep-going"];
    expect(readOptions([...all, "--quiet", "--record-marks"])).to.deep.equal({
      first: 4_294_967_289,
      count: 7,
      jobs: 3,
      script: null,
      isTraced: false,
      isTwice: true,
      isShrunk: true,
      isQuiet: true,
      keepsGoing: true,
      recordsMarks: true,
    });
    expect(readOptions(["--script", "one.json", "--shrink"])).to.include({ script: "one.json", isShrunk: true });
  });

  it("use one process if all events are printed", () => {
    expect(readOptions(["--trace"])).to.include({ isTraced: true, jobs: 1 });
  });

  for (const wrong of [
    ...["--seeds x", "--seeds 0", "--seeds -1", "--seeds 1.5", "--seeds 1e3", "--seeds", "--seed -1", "--seed"],
    ...["--seed 4294967296", "--seed 4294967295 --seeds 2", "--seeds 4294967297", "--jobs 0", "--jobs 1000"],
    ...["--sedes 3", "--hashes", "3", "--script a.json --seed 3", "--script a.json --twice", "--script"],
    ...["--trace --jobs 2", "--trace --twice"],
  ]) {
    it(`do not exist with ${wrong}`, () => {
      expect(() => readOptions(wrong.split(" "))).to.throw(UsageError);
    });
  }

  it("are refused in one line, with the exit code 2", () => {
    for (const wrong of ["--seeds x", "--unknown", "--script no-such-script.json", `--script ${MAIN}`]) {
      const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, ...wrong.split(" ")], { encoding: "utf8" });
      expect({ stdout, status }, wrong).to.deep.equal({ stdout: "", status: 2 });
      expect(stderr, wrong).to.match(/^[^\n]+\n$/);
    }
  });
});
