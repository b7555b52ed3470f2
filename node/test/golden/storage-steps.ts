/** The part of the golden log about memory regions and event logs. */

import { Payloads } from "../../src/state/index.ts";
import { GUARD_LOCK } from "./coordination-steps.ts";
import { done, type GoldenLog, refusedWith } from "./golden-log.ts";
import { ANNA, OWNER, OWNER_BY_KEY } from "./identities.ts";

const PAGE_BYTES = 4_096;
const SEGMENT_BYTES = 1_048_576;
const MINUTE_SECS = 60;
const SETTINGS = { duplicateWindowSecs: null, retentionMaxAgeSecs: null, retentionMaxBytes: null };

/** @param fencingToken of a live hold of `GUARD_LOCK` */
export function writeStorage(log: GoldenLog, fencingToken: number): void {
  writeMemory(log, fencingToken);
  writeEventLogs(log, fencingToken);
}

function writeMemory(log: GoldenLog, fencingToken: number): void {
  const guard = { lockName: GUARD_LOCK, fencingToken, rw: false };
  const allocate = { kind: "allocate-memory", namespace: "golden", label: "golden region" } as const;
  const { regionId } = done(log.client<"allocate-memory">({ ...allocate, sizeBytes: 2 * SEGMENT_BYTES }));
  refusedWith("QUOTA", log.client({ ...allocate, sizeBytes: 2 ** 40 }));
  const region = { namespace: "golden", regionId, expectedVersion: undefined } as const;
  const write = { kind: "write-memory", ...region, data: Buffer.from("over the border of two pages") } as const;
  done(log.client({ ...write, offset: PAGE_BYTES - 5, guard }));
  done(log.client({ ...write, offset: SEGMENT_BYTES - 5, expectedVersion: 2 }, ANNA));
  refusedWith("VERSION_MISMATCH", log.client({ ...write, offset: 0, expectedVersion: 1 }));
  refusedWith("MEMORY_BOUNDS", log.client({ ...write, offset: 2 * SEGMENT_BYTES }));
  done(log.client({ kind: "resize-memory", ...region, sizeBytes: SEGMENT_BYTES + PAGE_BYTES }));

  const second = { ...region, regionId: done(log.client<"allocate-memory">({ ...allocate, sizeBytes: 5e6 })).regionId };
  for (const at of [0, 1, 2]) {
    done(
      log.client({ kind: "write-memory", ...second, offset: at * SEGMENT_BYTES, data: new Uint8Array(5_000).fill(1) }),
    );
  }
  done(log.client({ kind: "free-memory", ...second }));
  refusedWith("REGION_NOT_FOUND", log.client({ kind: "free-memory", ...second }));
  // Some pages stay, to be erased later.
  log.cluster({ kind: "erase-memory", rowsMax: 3 });
}

function writeEventLogs(log: GoldenLog, fencingToken: number): void {
  const create = { kind: "create-log", namespace: "golden" } as const;
  const orders = { ...SETTINGS, duplicateWindowSecs: MINUTE_SECS, retentionMaxAgeSecs: MINUTE_SECS };
  const { logId } = done(log.client<"create-log">({ ...create, name: "orders", settings: orders })).log;
  refusedWith("LOG_EXISTS", log.client({ ...create, name: "orders", settings: SETTINGS }));
  const texts = (...all: string[]) => Payloads.of(all.map((text) => Buffer.from(text)));
  const append = { kind: "append-events", logId, expectedSequence: undefined } as const;
  const single = { ...append, isBatch: false, idempotencyKey: null } as const;
  done(log.client({ ...single, payloads: texts("without a key") }));
  done(log.client({ ...single, payloads: texts("with a key"), idempotencyKey: "order" }, OWNER_BY_KEY));
  done(log.client({ ...single, payloads: texts("not stored again"), idempotencyKey: "order" }));
  const batch = {
    ...append,
    isBatch: true,
    idempotencyKey: "batch",
    payloads: texts("one", "two", "", "four"),
  } as const;
  done(log.client(batch, ANNA));
  done(log.client({ ...batch, payloads: texts("one", "two", "", "four", "five") }, ANNA));
  done(log.client({ ...single, payloads: texts("like one of a batch"), idempotencyKey: "shelf:3" }));
  const request = log.newRequest();
  done(log.client({ ...batch, idempotencyKey: "asked", payloads: texts("with", "a request id") }, ANNA, request));
  done(log.client({ ...batch, idempotencyKey: "asked", payloads: texts("with", "a request id") }, ANNA, request));
  const other = { ...batch, idempotencyKey: "asked", payloads: texts("with another") };
  refusedWith("REQUEST_ID_REUSED", log.client(other, ANNA, request));
  refusedWith("SEQUENCE_CONFLICT", log.client({ ...single, payloads: texts("too late"), expectedSequence: 1n }));
  const guard = { namespace: "golden", lockName: GUARD_LOCK, fencingToken, rw: false };
  done(log.client({ ...single, payloads: texts("guarded"), expectedSequence: 10n, guard }));
  refusedWith("FENCED", log.client({ ...single, payloads: texts("fenced"), guard: { ...guard, fencingToken: 1 } }));

  const gone = done(log.client<"create-log">({ ...create, name: "deleted", settings: SETTINGS })).log.logId;
  for (const text of ["a", "b", "c"]) {
    done(log.client({ ...single, logId: gone, payloads: texts(text), idempotencyKey: text }));
  }
  const deletion = log.newRequest();
  done(log.client({ kind: "delete-log", logId: gone }, OWNER, deletion));
  done(log.client({ kind: "delete-log", logId: gone }, OWNER, deletion));
  refusedWith("LOG_NOT_FOUND", log.client({ ...single, logId: gone, payloads: texts("d") }));
  // Some rows stay, to be erased later.
  log.cluster({ kind: "erase-logs", rowsMax: 2 });

  log.pass(2 * MINUTE_SECS * 1_000);
  log.cluster({ kind: "prune-duplicates", countMax: 2 });
  log.cluster({ kind: "apply-retention", rowsMax: 2 });
  const changes = { duplicateWindowSecs: null, retentionMaxAgeSecs: 7 * 86_400, retentionMaxBytes: 1_000_000 };
  done(log.client({ kind: "update-log-settings", logId, changes }));
  done(log.client({ ...batch, idempotencyKey: "later", payloads: texts("six", "seven") }, ANNA));
}
