import { spawnSync } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { corpusFiles, readScript } from "./corpus.ts";
import { describeRun, Simulation } from "./index.ts";
import { decodeScript, drawScript, encodeScript } from "./script.ts";

const LOADER = pathToFileURL(path.join(import.meta.dirname, "mutants/loader.ts")).href;
/** A script that breaks its rule by its items, not by their exact times. */
const CERTAIN = "I17-b.json";
const MAIN = path.join(import.meta.dirname, "main.ts");

describe("kept scripts", function () {
  this.timeout(60_000);

  it("exist", () => {
    expect(corpusFiles()).not.to.deep.equal([]);
  });

  it("are decoded as they were encoded", () => {
    const written = { rule: "a rule", mutant: null, script: drawScript(7) };
    expect(decodeScript(encodeScript(written))).to.deep.equal(written);
  });

  for (const file of corpusFiles()) {
    const { script } = readScript(file);

    it(`${path.basename(file)} breaks no rule any more`, async () => {
      const result = await new Simulation(script).run();
      expect(result.failure, describeRun(result)).to.equal(null);
    });
  }

  it("break their rule again where the program is broken again", () => {
    const file = corpusFiles().find((one) => path.basename(one) === CERTAIN) ?? "";
    const { rule, mutant } = readScript(file);
    const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, "--script", file], {
      encoding: "utf8",
      env: { ...process.env, NODE_OPTIONS: `--import=${LOADER}`, QUOIN_MUTANT: mutant ?? "" },
    });
    expect(stdout.split("\n")[0], stderr).to.equal(`FAIL ${rule}`);
    expect(status).to.equal(1);
  });
});
