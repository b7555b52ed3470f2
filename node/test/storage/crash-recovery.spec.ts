/**
 * A recovery is killed at every step. The next start finds the former member unchanged, or is refused until the
 * recovery runs again. In the end there is the complete new cluster, and the complete former data beside it.
 */

import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { importing, temporaryDirectory } from "../../../testing/index.ts";
import { readCluster } from "../../src/state/index.ts";
import { StoppedMember, SUCCESSION_CRASH_POINTS } from "../../src/storage/index.ts";
import { JOINED_MEMBER, makeJoinedMember, openJoined, openJoinedMember, TestProcess } from "../harness/index.ts";

const RECOVERER = fileURLToPath(new URL("./crash-recoverer.ts", import.meta.url));
const KILLER = fileURLToPath(new URL("./kill-at-mark.ts", import.meta.url));
const NEXT_ID = "11111111-2222-4333-8444-555555555555";
/** Moved away: mirror, log, pointer and state; moved into their place: the same, and the identity. */
const MOVES = 4 + 5;
/** Replaced files: the pointer and the identity of the new data, and the identity of the former one. */
const FILES = 3;
const ALL_FILES = ["fence", "identity", "log", "state", "state-1"];
const DECIDED = /^successor\.(?:made\.after|move|retired|away|placing|placed)/;

describe("crash points of a recovery", function () {
  this.timeout(240_000);
  const running = TestProcess.ofEachTest();
  /** What the tests have killed. One process completes all of it: most of the time of a process is its start. */
  const interrupted: { readonly place: string; readonly directory: string; readonly isComplete: boolean }[] = [];
  let original: string;

  before(async () => {
    original = join(temporaryDirectory(), "data");
    await makeJoinedMember(original);
  });

  async function run(among: readonly string[], kill?: { readonly mark: string; readonly passing: number }) {
    const killing =
      kill === undefined ? {} : { NODE_OPTIONS: importing(KILLER), QUOIN_TEST_KILL: `${kill.mark}:${kill.passing}` };
    const child = new TestProcess(RECOVERER, [NEXT_ID, ...among], { env: { ...process.env, ...killing } });
    running.push(child);
    const { signal } = await child.ended;
    return { signal, lines: child.stdout.split("\n"), output: `${child.stdout}\n${child.stderr}` };
  }

  async function expectFormer(directory: string): Promise<void> {
    const data = await openJoinedMember(directory);
    try {
      expect(data.identity.clusterId).to.equal(JOINED_MEMBER.clusterId);
      expect(data.damaged).to.equal(false);
      expect(data.bounds.last).to.equal(JOINED_MEMBER.applied);
      expect(readdirSync(directory).sort()).to.deep.equal(ALL_FILES);
    } finally {
      await data.close();
    }
  }

  async function expectSuccessor(directory: string): Promise<void> {
    const data = await openJoinedMember(directory);
    try {
      expect(data.identity.clusterId).to.equal(NEXT_ID);
      expect(data.damaged).to.equal(false);
      expect(data.commit).to.equal(JOINED_MEMBER.applied + 1);
      expect(readCluster(data.state)?.clusterId).to.equal(NEXT_ID);
    } finally {
      await data.close();
    }
    const away = `former-cluster-${JOINED_MEMBER.clusterId}`;
    expect(readdirSync(directory).sort()).to.deep.equal([...ALL_FILES, away].sort());
    const former = await StoppedMember.open(join(directory, away), { acceptRetired: true });
    await former.close();
    expect(former.facts.lastIndex).to.equal(JOINED_MEMBER.applied);
    expect(former.facts.clusterId).to.equal(JOINED_MEMBER.clusterId);
  }

  // What is there after a move is there before the next one.
  const points = SUCCESSION_CRASH_POINTS.flatMap((mark) => {
    const moves = mark === "successor.move.after" ? [MOVES] : Array.from({ length: MOVES }, (_, at) => at + 1);
    return (mark.startsWith("successor.move") ? moves : [1]).map((passing) => [mark, passing] as const);
  });
  const files = ["file.rename.before", "file.rename.after"].flatMap((mark) => {
    return Array.from({ length: FILES }, (_, at) => [mark, at + 1] as const);
  });
  for (const [mark, passing] of [...points, ...files]) {
    it(`${mark}, ${passing}: the former member, or a refused start`, async () => {
      const directory = join(temporaryDirectory(), "data");
      cpSync(original, directory, { recursive: true });
      const { signal, lines, output } = await run([directory], { mark, passing });
      expect(signal, output).to.equal("SIGKILL");
      expect(lines).to.not.include("done");
      const isDecided = DECIDED.test(mark) || (mark.startsWith("file.") && passing === FILES);
      expect(lines.includes("decided") && !isDecided, "the report is true").to.equal(false);
      if (isDecided && mark !== "successor.placed.after") {
        const opened = await openJoined(directory);
        expect(opened.phase).to.equal("refused");
        expect((opened as { reason: string }).reason).to.contain("quoin-node recover");
      } else if (!isDecided) {
        await expectFormer(directory);
        expect(existsSync(join(directory, "successor.new"))).to.equal(false);
      }
      interrupted.push({ place: `${mark}, ${passing}`, directory, isComplete: mark === "successor.placed.after" });
    });
  }

  it("is complete after the next run of the recovery, wherever it was killed", async () => {
    const incomplete = interrupted.filter(({ isComplete }) => !isComplete);
    const { lines, output } = await run(incomplete.map(({ directory }) => directory));
    expect(lines.filter((line) => line === "done").length, output).to.equal(incomplete.length);
    for (const { place, directory } of interrupted) {
      await expectSuccessor(directory).catch((error: unknown) => {
        throw new Error(`killed at ${place}`, { cause: error });
      });
    }
    expect(interrupted.length).to.be.above(0);
  });
});
