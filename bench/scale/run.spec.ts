import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { failureOf } from "../test/index.ts";
import { runScale } from "./run.ts";

const OPTIONS = {
  keys: 2_000,
  valueBytes: 20,
  inFlight: 4,
  diskGib: 10,
  restSeconds: 0.2,
  burdens: { locks: 20, sessions: 30, watches: 25, logs: 5 },
};

describe("members with many keys", () => {
  const never = new AbortController().signal;
  const quietly = (): void => undefined;

  it("are measured while they grow, after it, and at rest", async () => {
    const directory = temporaryDirectory();
    const files = { markdown: join(directory, "scale.md"), json: join(directory, "scale.json") };
    const { failure, measured } = await runScale({ ...OPTIONS, ...files }, never, quietly);
    expect(failure).to.equal(null);
    expect(measured.growth.map(({ keys }) => keys)).to.deep.equal([400, 800, 1_200, 1_600, 2_000]);
    for (const { putsPerSecond, residentBytes, stateBytes } of measured.growth) {
      expect(Math.min(putsPerSecond, ...residentBytes, ...stateBytes)).to.be.above(0);
    }
    expect(measured.backup?.bytes).to.be.above(OPTIONS.keys * OPTIONS.valueBytes);
    expect(measured.replacement?.ms).to.be.above(0);
    expect(Math.min(measured.restartOneMs ?? 0, measured.restartAllMs ?? 0)).to.be.above(0);
    expect(measured.burdens.map(({ name, count }) => [name, count])).to.deep.equal([
      ["keys alone", 0],
      ["held locks", 20],
      ["sessions", 30],
      ["watches", 25],
      ["event logs", 5],
    ]);
    expect(readFileSync(files.markdown, "utf8")).to.include("20 held locks");
    expect(JSON.parse(readFileSync(files.json, "utf8")).measured.growth).to.have.lengthOf(5);
  });

  it("are measured only as far as the disk allows", async () => {
    const markdown = join(temporaryDirectory(), "scale.md");
    // The backup alone would need more.
    const large = { ...OPTIONS, valueBytes: 1_024, diskGib: 0.08, markdown, json: null };
    expect(await failureOf(runScale(large, never, quietly))).to.match(/stopped before .*--disk-gib allows 0.1 GiB/);
    expect(readFileSync(markdown, "utf8")).to.include("ENDED EARLY: stopped before");
  });
});
