import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { readStamps } from "./stamp-log.ts";

/** In a separate thread. */
const THREAD = `
  import { channel } from "node:diagnostics_channel";
  channel("quoin:stamp").publish({ name: "log.begun", first: 7, second: 8, third: 9, text: "" });
`;

/** Stamps `turn.begun` with the numbers 1 to 5, then `log.begun` in the thread. */
const PROGRAM = `
  import { channel } from "node:diagnostics_channel";
  import { Worker } from "node:worker_threads";
  const stamps = channel("quoin:stamp");
  for (let first = 1; first <= 5; first++) {
    stamps.publish({ name: "turn.begun", first, second: 0, third: 0, text: "a request" });
  }
  new Worker(new URL(${JSON.stringify(`data:text/javascript,${encodeURIComponent(THREAD)}`)}));
`;

describe("the probe", () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "quoin-probe-"));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  function run(query: Readonly<Record<string, string>>) {
    const url = new URL("./probe.ts", import.meta.url);
    url.search = new URLSearchParams(query).toString();
    const args = ["--import", url.href, "--input-type=module", "--eval", PROGRAM];
    return spawnSync(process.execPath, args, { encoding: "utf8" });
  }

  it("writes the stamps of every thread, with times of the machine's clock", () => {
    const fromNs = Number(process.hrtime.bigint());
    const child = run({ directory, stamps: "100" });
    const untilNs = Number(process.hrtime.bigint());
    expect(child.status, child.stderr).to.equal(0);
    const stamps = readStamps(directory).get(child.pid) ?? [];
    const turns = stamps.filter(({ name }) => name === "turn.begun");
    expect(turns.map(({ first, text }) => [first, text])).to.deep.equal([1, 2, 3, 4, 5].map((at) => [at, "a request"]));
    const [begun] = stamps.filter(({ name }) => name === "log.begun");
    expect(begun).to.deep.include({ first: 7, second: 8, third: 9, text: "" });
    for (const { atNs } of stamps) {
      expect(atNs).to.be.within(fromNs, untilNs);
    }
  });

  it("keeps the newest stamps when there are more than the limit", () => {
    const child = run({ directory, stamps: "3" });
    expect(child.status, child.stderr).to.equal(0);
    const stamps = readStamps(directory).get(child.pid) ?? [];
    expect(stamps.filter(({ name }) => name === "turn.begun").map(({ first }) => first)).to.deep.equal([3, 4, 5]);
  });

  it("ends the process without a directory or a count", () => {
    for (const query of [{ directory }, { stamps: "3" }, { directory, stamps: "many" }]) {
      const child = run(query);
      expect(child.status).to.not.equal(0);
      expect(child.stderr).to.contain("probe.ts must be loaded as");
    }
  });
});
