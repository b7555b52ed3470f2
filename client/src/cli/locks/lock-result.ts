/** Locks and their holds, in JSON and YAML and in tables. */

import type { LockHold, LockMode } from "../../index.ts";
import type { Cell, Result } from "../output/index.ts";
import { formatMilliseconds } from "../text/index.ts";
import type { LockKind, LockTarget, ShownAcquisition, ShownForce, ShownHold, ShownLock } from "./lock-kinds.ts";

/** The output of `describe`: a row for each hold, or one row without a hold. */
export function describedLock(target: LockTarget, lock: ShownLock, kind: LockKind): Result {
  const { state, holders, waiting, ttlSeconds, lockDelaySeconds, lastFencingToken, createdAtMs, revision } = lock;
  const waiters = Object.values(waiting).reduce((sum, count) => sum + count, 0);
  const shown = holders.length === 0 ? [undefined] : holders;
  return {
    document: {
      ...target,
      state,
      ...holdersDocument(holders, kind),
      ...waiting,
      ttl_seconds: ttlSeconds,
      lock_delay_seconds: lockDelaySeconds,
      last_fencing_token: lastFencingToken,
      created_at_ms: createdAtMs,
      revision,
    },
    shown: {
      columns: ["LOCK", "STATE", "OWNER", "SUBJECT", "TOKEN", "EXPIRES IN", "WAITING"],
      rows: shown.map((hold) => [lockCell(target), state, ...holdCells(hold), waiters]),
    },
  };
}

/** The output of `acquire`. */
export function acquiredLock(target: LockTarget, acquisition: ShownAcquisition, kind: LockKind): Result {
  const { acquired, fencingToken, ttlSeconds, expiresInMs, holders, queueLength, state, waitedMs, revision } =
    acquisition;
  return {
    document: {
      ...target,
      acquired,
      fencing_token: fencingToken,
      ttl_seconds: ttlSeconds,
      expires_in_ms: expiresInMs,
      ...holdersDocument(holders, kind),
      queue_length: queueLength,
      state,
      waited_ms: waitedMs,
      revision,
    },
    shown: {
      columns: ["LOCK", "ACQUIRED", "TOKEN", "EXPIRES IN", "STATE", "HOLDERS"],
      rows: [
        [
          lockCell(target),
          acquired,
          acquired ? fencingToken : undefined,
          acquired ? formatMilliseconds(expiresInMs) : undefined,
          state,
          holdersCell(holders),
        ],
      ],
    },
  };
}

/** The output of `force-release`. */
export function forcedLock(target: LockTarget, { released, previous, revision }: ShownForce): Result {
  return {
    document: { ...target, released, previous: previous === undefined ? null : holdDocument(previous), revision },
    shown: {
      columns: ["LOCK", "RELEASED", "OWNER", "TOKEN"],
      rows: [[lockCell(target), released, previous?.owner, previous?.fencingToken]],
    },
  };
}

/** A lock in the form of the command line. */
export function lockCell({ namespace, name }: LockTarget): string {
  return `${namespace}/${name}`;
}

function holdersCell(holders: readonly ShownHold[]): Cell {
  const shown = holders.map(({ owner, mode }) => (mode === undefined ? owner : `${owner} (${mode})`));
  return shown.join(", ") || undefined;
}

/** An exclusive lock has one holder or none, a read-write lock a list of them. */
function holdersDocument(holders: readonly ShownHold[], { hasModes }: LockKind): object {
  if (hasModes) {
    return { holders: holders.map(holdDocument) };
  }
  const [holder] = holders;
  return { holder: holder === undefined ? null : holdDocument(holder) };
}

/** The columns OWNER, SUBJECT, TOKEN and EXPIRES IN. */
export function holdCells(hold: LockHold | undefined): readonly Cell[] {
  return [hold?.owner, hold?.subject, hold?.fencingToken, hold && formatMilliseconds(hold.expiresInMs)];
}

/** A hold in JSON and YAML. */
export function holdDocument({
  owner,
  subject,
  fencingToken,
  acquiredAtMs,
  expiresInMs,
  mode,
}: Omit<ShownHold, "mode"> & { readonly mode?: LockMode | undefined }): object {
  return {
    owner,
    subject,
    fencing_token: fencingToken,
    acquired_at_ms: acquiredAtMs,
    expires_in_ms: expiresInMs,
    ...(mode === undefined ? {} : { mode }),
  };
}
