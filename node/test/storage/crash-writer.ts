/**
 * Members that are written to, one after the other, until they are killed. A program, started by crash-points.spec.ts.
 *
 *     node crash-writer.ts <task as JSON>…
 *
 * Each writer has a key of its own and puts 1, 2, 3, … one after the other, each only if the last one is still there.
 * It begins with the last acknowledged and the last tried value of its predecessors, under the same request ids. It
 * prints a line at once for each step: `opened` with the phase, `founding` and `founded`, the `state` at the start and
 * at the end, the last answer `again`, each value before its put (`try`) and after (`ack`), `done`; or `fatal`.
 */

import { createHash } from "node:crypto";
import { writeSync } from "node:fs";
import { DEFAULT_REPLICA_LIMITS, Member, type Replica, systemClock, systemScheduler } from "../../src/replica/index.ts";
import { CoordinationError, listKeys, type RequestIdentity } from "../../src/state/index.ts";
import { measureDisk } from "../../src/storage/index.ts";
import { FOUNDING, OWNER, putOf } from "../index.ts";
import type { FoundState, WriterState, WriterTask } from "./writer-task.ts";

const DEADLINE_MS = 30_000;
const PAGE = { entriesMax: 1_000, bytesMax: Number.MAX_SAFE_INTEGER, keysOnly: false };
/** Small enough for every durable step to happen within a few writes. */
const SMALL_LIMITS = {
  ...DEFAULT_REPLICA_LIMITS,
  compaction: { keptEntries: 5, keptBytes: 2_000, dueEntries: 5, dueBytes: 1_000, neededBytes: 0 },
  syncBytes: 2_000,
};

function print(line: string): void {
  writeSync(process.stdout.fd, `${line}\n`);
}

function requestOf(writer: number, value: number): RequestIdentity {
  const payloadHash = createHash("sha256").update(`${writer}:${value}`).digest();
  return { requestId: payloadHash.subarray(0, 16), payloadHash };
}

/** Resolves to the mod revision, and whether the answer came from its row. */
function put(replica: Replica, writer: number, value: number, expected: number): Promise<readonly [number, string]> {
  const operation = putOf(`writer-${writer}`, String(value).padStart(200, " "), { expectedModRevision: expected });
  const command = { principal: OWNER, request: requestOf(writer, value), operation };
  return new Promise((resolve, reject) => {
    replica.propose(command, performance.now() + DEADLINE_MS, (error, outcome) => {
      const answer = error ?? outcome?.answer;
      if (
        outcome === null ||
        answer === undefined ||
        answer instanceof CoordinationError ||
        answer.kind !== "put-key"
      ) {
        reject(new Error(`writer ${writer} could not put ${value}: ${answer instanceof Error ? answer.message : ""}`));
      } else {
        resolve([answer.modRevision, outcome.replayed]);
      }
    });
  });
}

function readAll(replica: Replica): Promise<FoundState> {
  return new Promise((resolve, reject) => {
    replica.readBarrier(performance.now() + DEADLINE_MS, (error) => {
      if (error !== null) {
        reject(error);
        return;
      }
      const { keys } = listKeys(replica.state, "default", new Uint8Array(0), undefined, PAGE);
      resolve({
        revision: replica.revision,
        keys: keys.map(({ key, value, version, modRevision }) => ({
          key: Buffer.from(key).toString(),
          value: Number(Buffer.from(value).toString()),
          version,
          modRevision,
        })),
      });
    });
  });
}

async function write(replica: Replica, writer: number, task: WriterTask): Promise<void> {
  const { tried, acknowledged } = task.writers[writer] as WriterState;
  let previous = acknowledged.at(-1)?.modRevision ?? 0;
  // First the last answer again, then open values, then new ones.
  const last = acknowledged.at(-1);
  if (last !== undefined) {
    const [modRevision, replayed] = await put(replica, writer, last.value, acknowledged.at(-2)?.modRevision ?? 0);
    print(`again ${writer} ${last.value} ${modRevision} ${replayed}`);
  }
  const first = (last?.value ?? 0) + 1;
  for (let value = first; value < first + task.values || value <= tried; value++) {
    print(`try ${writer} ${value}`);
    const [modRevision] = await put(replica, writer, value, previous);
    print(`ack ${writer} ${value} ${modRevision}`);
    previous = modRevision;
  }
}

function die(reason: string): never {
  print(`fatal ${reason}`);
  process.exit(71);
}

for (const argument of process.argv.slice(2)) {
  const task = JSON.parse(argument) as WriterTask;
  const member = await Member.open({
    directory: task.directory,
    clusterName: "spec",
    name: "q-0",
    acceptMissingFence: false,
    clock: systemClock,
    scheduler: systemScheduler,
    limits: task.isCompacting ? SMALL_LIMITS : DEFAULT_REPLICA_LIMITS,
    segmentBytes: task.isCompacting ? 2_000 : undefined,
    version: "0.0.0",
    peering: null,
    log: { info: () => undefined, warn: () => undefined },
    record: null,
    measureDisk,
    hasReserve: false,
    onRole: () => undefined,
    onFatal: (error) => die(error.message),
    onEnd: (_end, reason) => die(reason),
    onDiskStuck: () => die("a write does not come back"),
  });
  print(`opened ${member.state} ${member.incarnation} ${member.reason}`);
  if (member.state === "EMPTY") {
    print("founding");
    await member.bootstrap({ ...FOUNDING, incarnation: Buffer.from(member.incarnation, "hex") });
    print("founded");
  }
  const { replica } = member;
  if (replica !== null) {
    print(`state ${JSON.stringify(await readAll(replica))}`);
    await Promise.all(task.writers.map((_, writer) => write(replica, writer, task)));
    print(`state ${JSON.stringify(await readAll(replica))}`);
  }
  await member.stop();
  print("done");
}
