/**
 * A process that installs a snapshot is killed at every step. The next one must find the state from before or the whole
 * one from after, never anything in between, with a matching log and nothing left of the other state.
 */

import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { importing, temporaryDirectory } from "../../../testing/index.ts";
import { INSTALL_CRASH_POINTS, type MemberData, openDataDirectory } from "../../src/storage/index.ts";
import { TestProcess } from "../harness/index.ts";
import { FOUNDING, rowsOf } from "../index.ts";
import { type KnownState, stateAfter, stateBefore } from "./installed-snapshot.ts";

const INSTALLER = fileURLToPath(new URL("./crash-installer.ts", import.meta.url));
const KILLER = fileURLToPath(new URL("./kill-at-mark.ts", import.meta.url));
/** Other points of an install, and how often a process passes them before. */
const OTHER_POINTS = [
  ["install.rows.before", 3],
  ["install.rows.after", 3],
  // The pointer is the only replaced file.
  ["file.write.before", 1],
  ["file.rename.before", 1],
  ["file.rename.after", 1],
  ["file.directory-sync.after", 1],
  // The first write of the log is that of the start, the second one lets it follow the state.
  ["log.batch.before", 2],
  ["log.batch.after", 2],
  ["mirror.write.after", 2],
  ["log.ack.after", 2],
] as const;
/** From the moment at which the pointer names it, the new state is valid. */
const PLACED = /^file\.(?:rename\.after|directory)|^log|^mirror|^install\.(?:place\.after|switch|delete)/;

describe("crash points of an install", function () {
  this.timeout(120_000);
  const running = TestProcess.ofEachTest();
  const [former, latter] = [stateBefore(), stateAfter()];
  /** What the tests have killed before the end. One process goes on with all: most of the time of a process is its start. */
  const interrupted: { readonly place: string; readonly directory: string }[] = [];
  let original: string;
  let directory: string;

  before(async () => {
    directory = join(temporaryDirectory(), "data");
    await found();
    original = directory;
  });
  beforeEach(() => {
    directory = join(temporaryDirectory(), "data");
    cpSync(original, directory, { recursive: true });
  });

  async function open(): Promise<MemberData> {
    const opened = await openDataDirectory({
      directory,
      clusterName: "spec",
      name: "q-0",
      acceptMissingFence: false,
      onFatal: (error) => {
        throw error;
      },
    });
    if (opened.phase === "member") {
      return opened.data;
    }
    if (opened.phase === "refused") {
      throw new Error(opened.reason);
    }
    return opened.found(
      { ...FOUNDING, incarnation: Buffer.from(opened.identity.incarnation, "hex") },
      { tickMs: 0, wallMs: 0 },
    );
  }

  /** Creates a member that has applied its founding. */
  async function found(): Promise<void> {
    const data = await open();
    data.state.write(former.rows);
    await data.close();
  }

  async function run(among: readonly string[], kill?: { readonly mark: string; readonly passing: number }) {
    const killing =
      kill === undefined ? {} : { NODE_OPTIONS: importing(KILLER), QUOIN_TEST_KILL: `${kill.mark}:${kill.passing}` };
    const env = { ...process.env, ...killing };
    const child = new TestProcess(INSTALLER, among, { env });
    running.push(child);
    const { signal } = await child.ended;
    return { signal, lines: child.stdout.split("\n"), output: `${child.stdout}\n${child.stderr}` };
  }

  /** The next start finds exactly this state, a matching log, and no other state. */
  async function expectState(expected: KnownState): Promise<void> {
    const data = await open();
    try {
      const texts = (state: KnownState["rows"]) => state.map(({ key }) => Buffer.from(key).toString("latin1"));
      const rows = rowsOf(data.state);
      expect(texts(rows)).to.deep.equal(texts(expected.rows));
      for (const [at, row] of rows.entries()) {
        expect(Buffer.compare(row.value, expected.rows[at]?.value as Uint8Array)).to.equal(0);
      }
      expect(data.commit).to.equal(expected.index);
      expect([data.bounds.last, data.bounds.lastTerm]).to.deep.equal([expected.index, expected.term]);
      expect(data.damaged).to.equal(false);
      expect(readdirSync(directory).filter((name) => name.startsWith("state-"))).to.have.length(1);
    } finally {
      await data.close();
    }
  }

  const points = [...INSTALL_CRASH_POINTS.map((mark) => [mark, 1] as const), ...OTHER_POINTS];
  for (const [mark, passing] of points) {
    const isPlaced = PLACED.test(mark);
    it(`${mark}, ${passing}: the state from ${isPlaced ? "after" : "before"}, whole`, async () => {
      const { signal, lines, output } = await run([directory], { mark, passing });
      expect(signal, output).to.equal("SIGKILL");
      expect(lines).to.include(`opened ${former.index}`);
      expect(lines.includes("placed") && !isPlaced, "the report is true").to.equal(false);
      await expectState(isPlaced ? latter : former);
      if (!isPlaced) {
        interrupted.push({ place: `${mark}, ${passing}`, directory });
      }
    });
  }

  it("goes on after the next start, wherever it was killed: the whole state from after", async () => {
    const { lines, output } = await run(interrupted.map((each) => each.directory));
    expect(lines.filter((line) => line === "done").length, output).to.equal(interrupted.length);
    for (const { place, directory: left } of interrupted) {
      directory = left;
      await expectState(latter).catch((error: unknown) => {
        throw new Error(`killed at ${place}`, { cause: error });
      });
    }
    expect(interrupted.length).to.be.above(0);
  });
});
