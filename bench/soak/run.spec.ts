import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { runSoak } from "./run.ts";

const SECONDS = 8;

describe("a load of three members", () => {
  it("samples them while members end and return, and finds every acknowledged change at the end", async () => {
    const directory = temporaryDirectory();
    const output = join(directory, "samples.jsonl");
    const markdown = join(directory, "summary.md");
    const svg = join(directory, "picture.svg");
    const options = { seconds: SECONDS, eventSeconds: SECONDS / 2, sampleSeconds: 1, output, markdown, svg };
    const report = await runSoak(options, new AbortController().signal, () => undefined);
    expect(report.failure).to.equal(null);
    expect(report.events.map(({ name }) => name)).to.deep.equal(["follower killed", "leader moved"]);
    const lines = readFileSync(output, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ kind }) => kind)).to.include.members(["setup", "sample", "event", "summary"]);
    const samples = lines.filter(({ kind }) => kind === "sample");
    for (const figure of ["residentBytes", "logBytes", "stateBytes"]) {
      const steady = samples.map(({ members }) => members[2]?.[figure]);
      expect(Math.min(...steady), figure).to.be.above(0);
    }
    const kinds = Object.keys(Object.assign({}, ...samples.map(({ calls }) => calls)));
    expect(kinds).to.include.members(["put", "get", "transact", "append", "memory-write", "lock-hand-over"]);
    expect(readFileSync(markdown, "utf8")).to.include("every acknowledged change was there");
    expect(readFileSync(svg, "utf8")).to.include("leader moved");
  });
});
