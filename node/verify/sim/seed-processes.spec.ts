import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "chai";
import { until } from "../../test/harness/index.ts";
import { runInProcesses } from "./seed-processes.ts";
import type { SeedReport } from "./seed-run.ts";

/** A killed process is gone in milliseconds. */
const LIMIT_MS = 20_000;
/** The first of two beyond 31 bits whose runs take less than a second. */
const LARGE = 4_000_000_011;
/** The first of three seeds whose runs take less than a second. */
const SHORT = 7;
/**
 * Calls `look` with each seed just before the program gets it. A listener of its own would take the messages that come
 * while the program still loads: they wait only as long as nothing listens.
 */
function beforeEachSeed(look: string): string {
  return `
    const emit = process.emit;
    process.emit = function (name, seed, ...rest) {
      if (name === "message") {
        (${look})(seed);
      }
      return emit.call(this, name, seed, ...rest);
    };
    // What comes while the program loads must wait for it.
    await new Promise((resolve) => setTimeout(resolve, 200));
  `;
}

/** Ends a process when it gets the second of them. */
const DIES_OF_SECOND = beforeEachSeed(`(seed) => seed === ${SHORT + 1} && process.exit(7)`);
/** Leaves a temporary folder for each seed, like a process that is killed while it rebuilds a state. */
const LEAVES_FOLDERS = `
  import { mkdtempSync } from "node:fs";
  import { tmpdir } from "node:os";
  ${beforeEachSeed(`(seed) => mkdtempSync(tmpdir() + "/left-of-" + seed + "-")`)}
`;

/** Processes that start from now on load this module first. */
function preload(code: string): void {
  process.env.NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

async function all(reports: AsyncIterable<SeedReport>): Promise<SeedReport[]> {
  const found: SeedReport[] = [];
  for await (const report of reports) {
    found.push(report);
  }
  return found;
}

function childrenAlive(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length;
}

describe("processes that run seeds", function () {
  // A run takes one or two seconds of a processor, which may be busy.
  this.timeout(60_000);

  const options = process.env.NODE_OPTIONS;

  afterEach(async () => {
    if (options === undefined) {
      delete process.env.NODE_OPTIONS;
    } else {
      process.env.NODE_OPTIONS = options;
    }
    await until("no process is left", () => childrenAlive() === 0, LIMIT_MS);
  });

  // That a run in another process is the same as here: see determinism.spec.ts.
  it("report each seed in its order, also beyond 31 bits", async () => {
    const reports = await all(runInProcesses({ first: LARGE, count: 2, isShrunk: false }, 2));
    expect(reports.map(({ seed }) => seed)).to.deep.equal([LARGE, LARGE + 1]);
    for (const { words, isFailed, seed, tally } of reports) {
      expect(words).to.contain(`seed ${seed} `);
      expect(isFailed).to.equal(false);
      expect(tally?.cpuMs).to.be.above(0);
    }
  });

  it("are at most as many as the seeds", async () => {
    const reports = runInProcesses({ first: SHORT, count: 1, isShrunk: false }, 9);
    await reports.next();
    expect(childrenAlive()).to.equal(1);
    await reports.return(undefined);
  });

  it("fail a seed whose process dies, and go on with the others", async () => {
    preload(DIES_OF_SECOND);
    const reports = await all(runInProcesses({ first: SHORT, count: 3, isShrunk: false }, 2));
    expect(reports.map(({ isFailed }) => isFailed)).to.deep.equal([false, true, false]);
    const words = `^FAIL .*\nseed ${SHORT + 1} .*exit code 7\nrepeat {2}npm run sim -- --seed ${SHORT + 1} --seeds 1`;
    expect(reports[1]?.words).to.match(new RegExp(words));
  });

  it("end when the caller stops asking, and take their temporary files with them", async () => {
    preload(LEAVES_FOLDERS);
    const leftFolders = () =>
      readdirSync(tmpdir(), { recursive: true }).filter((name) => `${name}`.includes("left-of-"));
    for await (const { seed } of runInProcesses({ first: SHORT, count: 1_000, isShrunk: false }, 2)) {
      expect(seed).to.equal(SHORT);
      expect(childrenAlive()).to.equal(2);
      expect(leftFolders().length).to.be.above(0);
      break;
    }
    expect(leftFolders()).to.deep.equal([]);
  });
});
