/**
 * A disk that becomes full during the work: the process ends at the first refusal (P32), and the next one, with free
 * space again, finds every acknowledged write.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { programOf, temporaryDirectory } from "../../../testing/index.ts";
import { TestProcess } from "../harness/index.ts";
import { WriterLedger } from "./writer-ledger.ts";

const WRITER = fileURLToPath(new URL("./crash-writer.ts", import.meta.url));
/** The exit code of a member when a store failed. */
const EXIT_STORE = 71;
/** The shell could not set a limit. */
const EXIT_NO_LIMIT = 3;

describe("a disk that refuses a write", function () {
  this.timeout(120_000);
  const running = TestProcess.ofEachTest();

  for (const blocks of [100, 170, 240]) {
    it(`ends the process with files of at most ${blocks} blocks, and takes nothing acknowledged away`, async function () {
      const directory = join(temporaryDirectory(), "data");
      const ledger = new WriterLedger();
      const limited = `ulimit -f ${blocks} 2>/dev/null || exit ${EXIT_NO_LIMIT}; exec "$@"`;
      const task = JSON.stringify(ledger.task(directory, 5_000));
      const refused = spawnSync("sh", ["-c", limited, "sh", process.execPath, programOf(WRITER), task], {
        encoding: "utf8",
      });
      if (refused.status === EXIT_NO_LIMIT) {
        this.skip();
      }
      expect(refused.status, refused.stderr).to.equal(EXIT_STORE);
      const lines = refused.stdout.split("\n").filter((line) => line !== "");
      expect(lines.at(-1)).to.match(
        /^fatal (the log thread failed: EFBIG|the store failed to write: IO error: .*File too large)/,
      );
      expect(lines.filter((line) => line.startsWith("ack")).length).to.be.greaterThan(20);
      ledger.read(lines);

      const next = new TestProcess(WRITER, [JSON.stringify(ledger.task(directory, 5))]);
      running.push(next);
      expect((await next.ended).code, next.stderr).to.equal(0);
      ledger.read(next.stdout.split("\n").filter((line) => line !== ""));
    });
  }
});
