/**
 * A restore is killed at every step: that of a member that founds its cluster from a backup, and that of `quoin-node
 * restore`. Before the decision the directory is as empty as before, and the restore begins again. After it the next
 * start completes the rest.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { importing, temporaryDirectory } from "../../../testing/index.ts";
import { readCluster, readFormerCluster, readProgress } from "../../src/state/index.ts";
import { SUCCESSION_CRASH_POINTS } from "../../src/storage/index.ts";
import { MEMBER_PROGRAM, TestProcess } from "../harness/index.ts";
import { expectedOfBackup, openOrRestore, RESTORED } from "./restored-member.ts";

const RESTORER = fileURLToPath(new URL("./crash-restorer.ts", import.meta.url));
const STORE = fileURLToPath(new URL("../golden/0.1.0/backup/plain", import.meta.url));
const KILLER = fileURLToPath(new URL("./kill-at-mark.ts", import.meta.url));
/** Moved into place: mirror, log, pointer, state and identity. There is no former data to move away. */
const MOVES = 5;
const ALL_FILES = ["fence", "identity", "log", "state", "state-1"];
const DECIDED = /^successor\.(?:made\.after|move|away|placing|placed)/;
const POINTS = SUCCESSION_CRASH_POINTS.filter((point) => point !== "successor.retired.after");
const OFFLINE_POINTS = [
  "successor.begin.after",
  "successor.state.after",
  "successor.made.after",
  "successor.placing.after",
];

describe("crash points of a restore", function () {
  this.timeout(240_000);
  const running = TestProcess.ofEachTest();

  async function killAt(mark: string, passing: number, program: string, args: readonly string[]) {
    const env = { ...process.env, NODE_OPTIONS: importing(KILLER), QUOIN_TEST_KILL: `${mark}:${passing}` };
    const child = new TestProcess(program, args, { env });
    running.push(child);
    const { signal } = await child.ended;
    expect(signal, `${child.stdout}\n${child.stderr}`).to.equal("SIGKILL");
    return child.stdout.split("\n");
  }

  /** The next start. Returns whether it had to restore. */
  async function restart(directory: string): Promise<boolean> {
    let isRestored = false;
    const { memberId, revision } = await expectedOfBackup(STORE);
    const data = await openOrRestore(directory, STORE, () => {
      isRestored = true;
    });
    try {
      expect(data.damaged).to.equal(false);
      expect(data.identity).to.include({ clusterId: RESTORED.clusterId, memberId, phase: "member" });
      expect(data.commit).to.equal(memberId);
      expect(readCluster(data.state)?.configuration.voters).to.deep.equal([memberId]);
      expect(readFormerCluster(data.state, RESTORED.formerId)?.cause).to.equal("restore");
      expect(readProgress(data.state).revision).to.equal(revision);
      expect(readdirSync(directory).sort()).to.deep.equal(ALL_FILES);
    } finally {
      await data.close();
    }
    return isRestored;
  }

  const cases = POINTS.flatMap((mark) => {
    const passings = mark.startsWith("successor.move") ? MOVES : 1;
    return Array.from({ length: passings }, (_, at) => [mark, at + 1] as const);
  });
  for (const [mark, passing] of cases) {
    it(`${mark}, ${passing}: a member begins again, or is complete at its next start`, async () => {
      const directory = join(temporaryDirectory(), "data");
      const lines = await killAt(mark, passing, RESTORER, [directory, STORE]);
      expect(lines).to.not.include("done");
      const isDecided = DECIDED.test(mark);
      expect(lines.includes("decided") && !isDecided, "the report is true").to.equal(false);
      expect(await restart(directory), "whether it was restored again").to.equal(!isDecided);
      expect(await restart(directory)).to.equal(false);
    });
  }

  for (const mark of OFFLINE_POINTS) {
    it(`${mark}: the command begins again, or a start completes what it left`, async () => {
      const directory = join(temporaryDirectory(), "data");
      const names = ["--name", RESTORED.name, "--cluster-name", RESTORED.clusterName];
      const ids = ["--new-cluster-id", RESTORED.clusterId, "--keep-signing-keys"];
      const args = ["restore", STORE, "--data-dir", directory, ...names, ...ids];
      await killAt(mark, 1, MEMBER_PROGRAM, args);
      if (!DECIDED.test(mark)) {
        const again = new TestProcess(MEMBER_PROGRAM, args);
        running.push(again);
        expect((await again.ended).code, again.stderr).to.equal(0);
        expect(again.stdout).to.contain(
          `cluster ${RESTORED.formerId} (golden) was restored as cluster ${RESTORED.clusterId}`,
        );
      }
      expect(await restart(directory)).to.equal(false);
    });
  }
});
