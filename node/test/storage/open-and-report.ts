/**
 * Opens data directories one after the other and prints the result of each in a line. A program, started by
 * damage.spec.ts. It ends early, after the line, where an error of a store would end a member.
 *
 *     node open-and-report.ts <directory>...
 */

import { writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { DEFAULT_REPLICA_LIMITS, Member, type Replica, systemClock, systemScheduler } from "../../src/replica/index.ts";
import { measureDisk, StoreError } from "../../src/storage/index.ts";
import type { ReportedState } from "./reported-state.ts";

const DEADLINE_MS = 60_000;
/** The table of the state's progress, which the content leaves out because each start changes it. */
const PROGRESS_TABLE = 0x61;
const FIRST_TABLE_OF_THE_STORE = 0x79;

function report(told: ReportedState): void {
  writeSync(process.stdout.fd, `${JSON.stringify(told)}\n`);
}

function endWith(error: unknown): never {
  if (error instanceof StoreError) {
    report({ kind: "error", error: error.kind, message: error.message });
    process.exit(0);
  }
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}

/** A summary of everything that the member serves. */
function contentOf(replica: Replica): Promise<ReportedState> {
  return new Promise((resolve, reject) => {
    replica.readBarrier(performance.now() + DEADLINE_MS, (error) => {
      if (error !== null) {
        reject(error);
        return;
      }
      let [rows, checksum] = [0, 0];
      replica.state.scan(Uint8Array.of(0), Uint8Array.of(FIRST_TABLE_OF_THE_STORE), ({ key, value }) => {
        if (key[0] !== PROGRESS_TABLE) {
          rows++;
          checksum = crc32(value, crc32(key, checksum));
        }
        return true;
      });
      const { revision, digest } = replica.status();
      resolve({ kind: "served", revision, digest, rows, checksum });
    });
  });
}

process.on("uncaughtException", endWith);
process.on("unhandledRejection", endWith);
for (const directory of process.argv.slice(2)) {
  const member = await Member.open({
    directory,
    clusterName: "spec",
    name: "q-0",
    acceptMissingFence: false,
    clock: systemClock,
    scheduler: systemScheduler,
    limits: DEFAULT_REPLICA_LIMITS,
    version: "0.0.0",
    peering: null,
    log: { info: () => undefined, warn: () => undefined },
    record: null,
    measureDisk,
    hasReserve: false,
    onRole: () => undefined,
    onFatal: endWith,
    onEnd: (_end, reason) => endWith(new Error(reason)),
    onDiskStuck: () => endWith(new Error("a write does not come back")),
  });
  if (member.replica === null) {
    report({ kind: "refused", state: member.state, reason: member.reason });
  } else {
    report(await contentOf(member.replica));
  }
  await member.stop();
}
