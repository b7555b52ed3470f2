import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";

const MAIN = path.join(import.meta.dirname, "main.ts");
const LOADER = pathToFileURL(path.join(import.meta.dirname, "mutants/loader.ts")).href;
/** The first seeds catch it, early in their runs. */
const MUTANT = {
  NODE_OPTIONS: `--import=${LOADER}`,
  QUOIN_MUTANT: "vote-reply-before-durable",
};
/** The first of three seeds whose runs take less than a second. */
const SHORT = "7";
const CAUGHT = "FAIL I11 votes are durable before they are sent";

interface Ended {
  readonly output: string;
  readonly status: number | null;
}

describe("npm run sim", function () {
  // A run takes one or two seconds of a processor, which may be busy.
  this.timeout(60_000);

  let child: ChildProcess | null = null;
  let temporary: string;

  beforeEach(() => {
    temporary = temporaryDirectory();
  });

  afterEach(() => {
    child?.kill("SIGKILL");
  });

  function start(args: readonly string[], environment: Record<string, string> = {}): ChildProcess {
    child = spawn(process.execPath, [MAIN, ...args], {
      env: { ...process.env, TMPDIR: temporary, ...environment },
      stdio: ["ignore", "pipe", "ignore"],
    });
    return child;
  }

  /** Resolves when no process holds its output open: neither the command nor its children. */
  async function ended(started: ChildProcess): Promise<Ended> {
    const [output] = await Promise.all([started.stdout === null ? "" : text(started.stdout), once(started, "close")]);
    return { output, status: started.exitCode };
  }

  it("prints the same with one process and with several, except for the time that it took", async () => {
    const one = await ended(start(["--seeds", "2", "--seed", SHORT, "--jobs", "1"]));
    const two = await ended(start(["--seeds", "2", "--seed", SHORT, "--jobs", "2"]));
    const untimed = (output: string): string =>
      output.replace(/^CPU time .*$/m, "").replace(/, \d+ per second.*$/m, "");
    expect(untimed(one.output)).to.equal(untimed(two.output));
    expect(one.status).to.equal(0);
    expect(one.output).to.match(/^never reached: \d+ of/m);
    expect(one.output).to.match(/^runs +2$/m);
    expect(one.output).to.match(/^lived through +entries [1-9]/m);
    expect(one.output.trimEnd().split("\n").at(-1)).to.equal(`2 seeds from ${SHORT} on: every rule held`);
  });

  it("ends with the first failing seed, with the full report about it", async () => {
    const { output, status } = await ended(start(["--seeds", "1000", "--jobs", "2", "--quiet"], MUTANT));
    const lines = output.split("\n");
    expect(status).to.equal(1);
    expect(lines[0]).to.equal(CAUGHT);
    expect(lines[1]).to.match(/^seed 1 /);
    expect(output).to.contain("repeat  npm run sim -- --seed 1 --seeds 1 --trace");
    expect(output).to.match(/^runs +1$/m);
    expect(lines.at(-2)).to.equal("1000 seeds from 1 on: 1 failed: 1");
  });

  it("goes on after a failure with --keep-going", async () => {
    const { output, status } = await ended(start(["--seeds", "2", "--jobs", "2", "--quiet", "--keep-going"], MUTANT));
    expect(status).to.equal(1);
    expect(output).to.match(/^runs +2$/m);
    expect(output.match(/^seed \d+ /gm)).to.have.length.above(1);
  });

  it("compares two processes", async () => {
    const { output, status } = await ended(start(["--seeds", "1", "--seed", SHORT, "--twice", "--quiet"]));
    expect(status, output).to.equal(0);
    expect(output).to.contain(`1 seeds from ${SHORT} on: every rule held`);
  });

  it("ends its processes on a signal, and leaves no file", async () => {
    const started = start(["--seeds", "100000", "--seed", SHORT, "--jobs", "2"]);
    started.stdout?.once("data", () => started.kill("SIGTERM"));
    const { status } = await ended(started);
    expect(status).to.equal(143);
    expect(readdirSync(temporary)).to.deep.equal([]);
  });

  it("leaves neither a process nor a file behind when it is killed", async () => {
    const started = start(["--seeds", "100000", "--seed", SHORT, "--jobs", "2"]);
    started.stdout?.once("data", () => started.kill("SIGKILL"));
    await ended(started);
    expect(started.signalCode).to.equal("SIGKILL");
    expect(readdirSync(temporary)).to.deep.equal([]);
  });
});
