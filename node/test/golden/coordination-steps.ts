/** The part of the golden log about keys and locks. */

import { dueLockTimers, expiredKeys, type Guard, type LockMode } from "../../src/state/index.ts";
import { done, type GoldenLog, refusedWith } from "./golden-log.ts";
import { ANNA, BEN_LATER, CARL, idBytes, OWNER, OWNER_BY_KEY } from "./identities.ts";

const HOUR_SECS = 3_600;
const DUE_MAX = 10;
const PUT = {
  kind: "put-key",
  namespace: "golden",
  value: Buffer.from("value"),
  ttlSeconds: 0,
  expectedModRevision: undefined,
  returnPrevious: false,
} as const;
const SWAP = {
  kind: "compare-and-swap",
  namespace: "golden",
  expectedValue: undefined,
  expectedModRevision: undefined,
  ttlSeconds: 0,
} as const;
const DELETE = {
  kind: "delete-key",
  namespace: "golden",
  expectedModRevision: undefined,
  returnPrevious: true,
} as const;

const TOUCH = {
  kind: "touch-key",
  namespace: "golden",
  ttlSeconds: HOUR_SECS,
  expectedModRevision: undefined,
} as const;

/** The lock whose hold guards other writes at the end of the script. */
export const GUARD_LOCK = "guard";

/** @returns the token of the owner's hold of `GUARD_LOCK` */
export function writeCoordination(log: GoldenLog): number {
  const token = writeLocks(log);
  writeKeys(log, token);
  return token;
}

function writeKeys(log: GoldenLog, fencingToken: number): void {
  const key = (text: string) => Buffer.from(text);
  const request = log.newRequest();
  const first = { ...PUT, key: key("first"), value: Buffer.from("as it was put"), returnPrevious: true };
  const { modRevision } = done(log.client<"put-key">(first, OWNER, request));
  log.client(first, OWNER, request);
  refusedWith("REQUEST_ID_REUSED", log.client({ ...first, value: key("other") }, OWNER, request));
  done(log.client({ ...PUT, key: key("first"), expectedModRevision: modRevision, returnPrevious: true }, ANNA));
  refusedWith("REVISION_MISMATCH", log.client({ ...PUT, key: key("first"), expectedModRevision: 0 }));
  done(log.client({ ...PUT, key: Buffer.from("schlüssel/ключ/鍵"), value: Buffer.from([0, 255, 1, 254]) }));
  done(log.client({ ...PUT, key: key("empty"), value: new Uint8Array(0), expectedModRevision: 0 }, OWNER_BY_KEY));
  done(log.client({ ...PUT, key: key("large"), value: new Uint8Array(4_200).fill(0x4c) }));
  const large = { ...PUT, key: key("large"), value: new Uint8Array(4_200).fill(0x4d), returnPrevious: true };
  done(log.client(large));
  done(log.client({ ...PUT, key: key("for an hour"), ttlSeconds: HOUR_SECS }));
  done(log.client({ ...PUT, key: key("short"), ttlSeconds: 1 }));
  done(log.client({ ...PUT, key: key("short too"), ttlSeconds: 1 }));
  done(log.client({ ...PUT, namespace: "default", key: key("elsewhere") }));
  refusedWith("NAMESPACE_NOT_FOUND", log.client({ ...PUT, namespace: "nowhere", key: key("k") }));
  refusedWith("TOKEN_REVOKED", log.client({ ...PUT, key: key("k") }, CARL));
  refusedWith("NAMESPACE_DENIED", log.client({ kind: "create-namespace", namespace: "annas" }, ANNA));
  refusedWith("NAMESPACE_EXISTS", log.client({ kind: "create-namespace", namespace: "golden" }));
  done(log.client({ ...SWAP, key: key("swapped"), newValue: key("1"), ttlSeconds: HOUR_SECS }));
  log.client({ ...SWAP, key: key("swapped"), expectedValue: key("0"), newValue: key("2") });
  done(log.client({ ...SWAP, key: key("swapped"), expectedValue: key("1"), newValue: key("2") }, ANNA));
  log.client({ ...SWAP, key: key("swapped"), expectedModRevision: 1, newValue: key("3") });
  const guard = { lockName: GUARD_LOCK, fencingToken, rw: false };
  done(log.client({ ...PUT, key: key("guarded"), guard }));
  refusedWith("FENCED", log.client({ ...PUT, key: key("guarded"), guard: { ...guard, fencingToken: 1 } }));
  done(log.client({ ...SWAP, key: key("guarded"), newValue: key("swapped"), guard }));
  done(log.client({ ...PUT, key: key("deleted") }));
  done(log.client({ ...DELETE, key: key("deleted"), guard }));
  refusedWith("KEY_NOT_FOUND", log.client({ ...DELETE, key: key("deleted") }));
  writeTouches(log, guard);
  log.pass(1_500);
  // The second one is not due: apply decides.
  const notDue = { namespace: "golden", key: key("for an hour"), modRevision: 1 };
  log.cluster({ kind: "expire-keys", keys: [...expiredKeys(log.store, log.tickMs, 1), notDue] });
}

function writeTouches(log: GoldenLog, guard: Guard): void {
  const key = Buffer.from("touched");
  const request = log.newRequest();
  const { modRevision } = done(log.client<"put-key">({ ...PUT, key, ttlSeconds: 1 }));
  done(log.client({ ...TOUCH, key }, OWNER, request));
  log.client({ ...TOUCH, key }, OWNER, request);
  done(log.client({ ...TOUCH, key, ttlSeconds: 0, expectedModRevision: modRevision, guard }, ANNA));
  done(log.client({ ...TOUCH, key, ttlSeconds: 2 * HOUR_SECS }));
  refusedWith("REVISION_MISMATCH", log.client({ ...TOUCH, key, expectedModRevision: 1 }));
  refusedWith("FENCED", log.client({ ...TOUCH, key, guard: { ...guard, fencingToken: 1 } }));
  refusedWith("KEY_NOT_FOUND", log.client({ ...TOUCH, key: Buffer.from("deleted") }));
}

function writeLocks(log: GoldenLog): number {
  const lock = { namespace: "golden", rw: false } as const;
  const acquire = { kind: "acquire-lock", namespace: "golden", ttlSeconds: 0, owner: "", waitMs: 0 } as const;
  const ask = (name: string, changes: object = {}, by = OWNER, request = log.newRequest()) => {
    const mode: LockMode = "exclusive";
    return log.client<"acquire-lock">({ ...acquire, name, mode, fencingToken: 0, ...changes }, by, request);
  };
  done(log.client({ kind: "create-lock", ...lock, name: GUARD_LOCK, ttlSeconds: HOUR_SECS, lockDelaySeconds: 0 }));
  done(log.client({ kind: "create-lock", ...lock, name: "shared", rw: true, ttlSeconds: 30, lockDelaySeconds: 0 }));
  refusedWith(
    "QUOTA",
    log.client({ kind: "create-lock", ...lock, name: "third", ttlSeconds: 30, lockDelaySeconds: 0 }),
  );
  const elsewhere = { ...lock, namespace: "default", name: "delayed" };
  done(log.client({ kind: "create-lock", ...elsewhere, ttlSeconds: 5, lockDelaySeconds: HOUR_SECS }));

  const { hold } = done(ask(GUARD_LOCK, { owner: "the holder" }));
  const fencingToken = hold?.token ?? 0;
  // Anna waits, asks again under the same request id, and goes.
  const request = log.newRequest();
  ask(GUARD_LOCK, { waitMs: 60_000 }, ANNA, request);
  ask(GUARD_LOCK, { waitMs: 60_000 }, ANNA, request);
  const attempt = log.attempt;
  ask(GUARD_LOCK, { waitMs: 1_000_000 }, BEN_LATER);
  log.cluster({ kind: "cancel-acquisition", subject: ANNA.subject, requestId: idBytes(request), attempt });
  done(ask(GUARD_LOCK, { fencingToken, ttlSeconds: 2 * HOUR_SECS }));
  refusedWith("LOCK_LOST", ask(GUARD_LOCK, { fencingToken: 1 }, ANNA));

  const read = { mode: "read", ttlSeconds: HOUR_SECS };
  done(ask("shared", { ...read, owner: "reader" }));
  done(ask("shared", read, ANNA));
  ask("shared", { mode: "write", waitMs: 500 }, BEN_LATER);
  ask("shared", { ...read, waitMs: 900_000 }, BEN_LATER);
  log.pass(600);
  log.cluster({ kind: "expire-locks", timers: dueLockTimers(log.store, log.tickMs, DUE_MAX) });
  const release = { kind: "release-lock", ...lock, mode: null, owner: "", fencingToken: 0 } as const;
  done(log.client({ ...release, name: "shared", rw: true, mode: "read" }, ANNA));
  refusedWith("NOT_LOCK_HOLDER", log.client({ ...release, name: GUARD_LOCK, fencingToken: 7 }));
  refusedWith("LOCK_NOT_FOUND", log.client({ ...release, name: "no such lock" }));

  done(ask("delayed", { namespace: "default" }, OWNER));
  log.pass(6_000);
  log.cluster({ kind: "expire-locks", timers: dueLockTimers(log.store, log.tickMs, DUE_MAX) });
  const force = { kind: "force-release-lock", ...lock, name: "shared", rw: true, reason: "golden" } as const;
  done(log.client({ ...force, fencingToken: 1 }));
  refusedWith("ACCESS_DENIED", log.client({ ...force, fencingToken: 0 }, ANNA));
  const { previous } = done(log.client<"force-release-lock">({ ...force, fencingToken: 0 }));
  if (previous === null) {
    throw new Error("a reader held the lock");
  }
  deleteLock(log);
  writeSemaphore(log);
  writeValues(log);
  return fencingToken;
}

/** A semaphore with two holds, and requests that wait, are refused by fewer permits, and get what they wait for. */
function writeSemaphore(log: GoldenLog): void {
  const semaphore = { namespace: "default", name: "permits" } as const;
  const acquire = { kind: "acquire-lock", ...semaphore, mode: "permits", ttlSeconds: 0, owner: "", waitMs: 0 } as const;
  const ask = (changes: object, by = OWNER) =>
    log.client<"acquire-lock">({ ...acquire, fencingToken: 0, ...changes }, by);
  done(log.client({ kind: "create-semaphore", ...semaphore, permits: 5, ttlSeconds: HOUR_SECS }));
  refusedWith("LOCK_EXISTS", log.client({ kind: "create-semaphore", ...semaphore, permits: 5, ttlSeconds: HOUR_SECS }));
  refusedWith("BAD_FIELD", ask({ permits: 6 }));
  const { hold } = done(ask({ permits: 2, owner: "the holder" }));
  const fencingToken = hold?.token ?? 0;
  done(ask({ permits: 2 }, ANNA));
  done(ask({ fencingToken, ttlSeconds: 2 * HOUR_SECS }));
  done(ask({ permits: 2 }));
  ask({ permits: 5, waitMs: 900_000 });
  ask({ permits: 2, waitMs: 900_000 });
  ask({ permits: 1, waitMs: 900_000 });
  done(log.client({ kind: "update-semaphore", ...semaphore, permits: 4 }));
  const release = { kind: "release-lock", ...semaphore, rw: false, mode: "permits", owner: "" } as const;
  done(log.client({ ...release, fencingToken: 0 }, ANNA));
  refusedWith("NOT_LOCK_HOLDER", log.client({ ...release, fencingToken: 1 }));
  done(log.client({ kind: "force-release-lock", ...semaphore, rw: false, fencingToken, reason: "golden" }));
  const gone = { kind: "delete-lock", ...semaphore, rw: false, force: true } as const;
  refusedWith("LOCK_NOT_FOUND", log.client(gone));
  const other = { ...semaphore, name: "deleted permits" };
  done(log.client({ kind: "create-semaphore", ...other, permits: 1, ttlSeconds: HOUR_SECS }));
  done(log.client({ ...gone, ...other, semaphore: true }));
}

/** A hold that shows a value, changes it, and has it still when the log ends. */
function writeValues(log: GoldenLog): void {
  const lock = { namespace: "default", name: "election" } as const;
  done(log.client({ kind: "create-lock", ...lock, rw: false, ttlSeconds: HOUR_SECS, lockDelaySeconds: 0 }));
  const acquire = { kind: "acquire-lock", ...lock, mode: "exclusive", ttlSeconds: 0, owner: "" } as const;
  const { hold } = done(
    log.client<"acquire-lock">({ ...acquire, waitMs: 0, fencingToken: 0, value: Buffer.from("http://one") }),
  );
  log.client({ ...acquire, waitMs: 900_000, fencingToken: 0, value: Buffer.from("http://two") }, ANNA);
  const set = { kind: "set-lock-value", ...lock, fencingToken: hold?.token ?? 0, owner: "" } as const;
  done(log.client({ ...set, value: Buffer.alloc(0) }));
  done(log.client({ ...set, value: Buffer.from("http://one.example") }));
  refusedWith("NOT_LOCK_HOLDER", log.client({ ...set, value: Buffer.from("http://anna") }, ANNA));
  refusedWith("LOCK_LOST", log.client({ ...set, fencingToken: 1, value: Buffer.from("http://one") }));
}

/** A lock with a hold, a wait and a stored answer for each, which goes with all of them. */
function deleteLock(log: GoldenLog): void {
  const lock = { namespace: "default", name: "deleted", rw: true } as const;
  const acquire = { kind: "acquire-lock", ...lock, ttlSeconds: 0, owner: "", fencingToken: 0 } as const;
  done(log.client({ kind: "create-lock", ...lock, ttlSeconds: HOUR_SECS, lockDelaySeconds: 1 }));
  const { rw: _, ...asked } = acquire;
  done(log.client({ ...asked, mode: "read", waitMs: 0 }));
  log.client({ ...asked, mode: "write", waitMs: 60_000 });
  refusedWith("NOT_EMPTY", log.client({ kind: "delete-lock", ...lock, force: false }));
  refusedWith("ACCESS_DENIED", log.client({ kind: "delete-lock", ...lock, force: true }, ANNA));
  done(log.client({ kind: "delete-lock", ...lock, force: true }));
  refusedWith("LOCK_NOT_FOUND", log.client({ kind: "delete-lock", ...lock, force: false }));
}
