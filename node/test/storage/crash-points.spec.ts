/**
 * A process is killed at every crash point, including those of the founding. The next one must find every acknowledged
 * write, none of them twice, and no error.
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { drawnSeed, importing, temporaryDirectory } from "../../../testing/index.ts";
import { seededRandom } from "../../src/replica/index.ts";
import { CRASH_POINTS } from "../../src/storage/index.ts";
import { TestProcess } from "../harness/index.ts";
import { WriterLedger } from "./writer-ledger.ts";
import type { WriterTask } from "./writer-task.ts";

const WRITER = fileURLToPath(new URL("./crash-writer.ts", import.meta.url));
const KILLER = fileURLToPath(new URL("./kill-at-mark.ts", import.meta.url));
/** Values per writer and process: enough for several syncs of the state and compactions of the log. */
const VALUES = 25;
/** Points that only the founding passes, and how often. */
const IN_FOUNDING = new Map([
  ["file.write.before", 3],
  ["file.link.before", 1],
  ["file.link.after", 1],
  ["file.rename.before", 2],
  ["file.rename.after", 2],
  ["file.directory-sync.after", 2],
  ["found.log.before", 1],
  ["found.log.after", 1],
  ["found.state.after", 1],
  ["found.identity.after", 1],
]);
/** Points that the driver passes between two batches; a crash there loses only answers. */
const DRIVER_POINTS = ["replica.answers.before", "replica.answers.after", "replica.compacted"];

interface Run {
  readonly signal: NodeJS.Signals | null;
  readonly lines: readonly string[];
  readonly output: string;
}

describe("crash points", function () {
  this.timeout(120_000);
  const running = TestProcess.ofEachTest();
  /** What the tests have killed. One process goes on with all of it: most of the time of a process is its start. */
  const interrupted: { readonly what: string; readonly directory: string; readonly ledger: WriterLedger }[] = [];

  before(async () => {
    // Its compiled code is cached for the others, where there is a cache; a killed process caches nothing.
    const { signal, output } = await run([new WriterLedger().task(join(temporaryDirectory(), "data"), 1)]);
    expect(signal, output).to.equal(null);
  });

  async function run(
    tasks: readonly WriterTask[],
    kill?: { readonly mark: string; readonly passing: number },
  ): Promise<Run> {
    const killing = kill === undefined ? {} : killEnvironment(kill.mark, kill.passing);
    const child = new TestProcess(
      WRITER,
      tasks.map((task) => JSON.stringify(task)),
      { env: { ...process.env, ...killing } },
    );
    running.push(child);
    const { signal } = await child.ended;
    const lines = child.stdout.split("\n").filter((line) => line !== "");
    return { signal, lines, output: `${child.stdout}\n${child.stderr}` };
  }

  function killEnvironment(mark: string, passing: number): NodeJS.ProcessEnv {
    return { NODE_OPTIONS: importing(KILLER), QUOIN_TEST_KILL: `${mark}:${passing}` };
  }

  /** Kills a process in the directory at that point and records its output. Fails if it never gets there. */
  async function killAt(directory: string, ledger: WriterLedger, mark: string, passing: number): Promise<void> {
    const { signal, lines, output } = await run([ledger.task(directory, VALUES)], { mark, passing });
    expect(signal, `${mark} was not passed ${passing} times:\n${output}`).to.equal("SIGKILL");
    ledger.read(lines);
  }

  for (const mark of [...CRASH_POINTS, ...DRIVER_POINTS]) {
    const foundingPassings = IN_FOUNDING.get(mark);
    it(`${mark}: nothing acknowledged is lost, nothing is applied twice, the founding is there or can be repeated`, async () => {
      for (let passing = 1; passing <= (foundingPassings ?? 1); passing++) {
        const directory = join(temporaryDirectory(), "data");
        const ledger = new WriterLedger();
        await killAt(directory, ledger, mark, passing);
        if (foundingPassings === undefined) {
          const later = 2 + seededRandom(drawnSeed(`a crash at ${mark}`))(5);
          await killAt(directory, ledger, mark, mark.startsWith("mirror.sync") ? 2 : later);
        }
        interrupted.push({ what: `${mark}, ${passing}`, directory, ledger });
      }
    });
  }

  it("survives many kills at random places of one directory", async () => {
    const directory = join(temporaryDirectory(), "data");
    const ledger = new WriterLedger();
    const places = CRASH_POINTS.filter((mark) => !IN_FOUNDING.has(mark));
    const below = seededRandom(drawnSeed("crashes at random places"));
    const kills = Array.from({ length: 6 }, () => {
      const mark = places[below(places.length)] as string;
      return { mark, passing: 1 + below(mark.startsWith("mirror.sync") ? 2 : 11) };
    });
    for (const { mark, passing } of kills) {
      const { lines } = await run([ledger.task(directory, VALUES)], { mark, passing });
      try {
        ledger.read(lines);
      } catch (error) {
        throw new Error(`after kills at ${JSON.stringify(kills)}`, { cause: error });
      }
    }
    interrupted.push({ what: `kills at ${JSON.stringify(kills)}`, directory, ledger });
  });

  it("are all followed by a process that runs to its end, and finds everything", async () => {
    const { signal, lines, output } = await run(interrupted.map(({ directory, ledger }) => ledger.task(directory, 1)));
    expect(signal, output).to.equal(null);
    const ends = lines.flatMap((line, at) => (line === "done" ? [at + 1] : []));
    expect(ends.length, output).to.equal(interrupted.length);
    for (const [at, { what, ledger }] of interrupted.entries()) {
      try {
        ledger.read(lines.slice(ends[at - 1] ?? 0, ends[at]));
        expect(Math.min(...ledger.acknowledged.map(({ length }) => length))).to.be.at.least(1);
      } catch (error) {
        throw new Error(`killed at: ${what}`, { cause: error });
      }
    }
    expect(interrupted.length).to.be.above(0);
  });
});
