/** Locks and their holds, in JSON and YAML and in tables. */

import type { Cell, Result } from "../output/index.ts";
import { bytesDocument, displayValue, formatMilliseconds } from "../text/index.ts";
import type { LockKind, LockTarget, ShownAcquisition, ShownForce, ShownHold, ShownLock } from "./lock-kinds.ts";

const NO_BYTES = new Uint8Array(0);

/** Characters of a value that a table shows. */
const SHOWN_CHARACTERS = 40;

/** The output of `describe`: a row for each hold, or one row without a hold. */
export function describedLock(target: LockTarget, lock: ShownLock, kind: LockKind): Result {
  const { state, holders, waiting, ttlSeconds, lockDelaySeconds, lastFencingToken, createdAtMs, revision } = lock;
  const { hasPermits } = kind;
  const hasValues = holders.some(({ value }) => value !== undefined && value.length > 0);
  const waiters = Object.values(waiting).reduce((sum, count) => sum + count, 0);
  const shown = holders.length === 0 ? [undefined] : holders;
  return {
    document: {
      ...target,
      state,
      ...holdersDocument(holders, kind),
      ...waiting,
      ...(hasPermits ? { permits: lock.permits, held_permits: lock.heldPermits } : {}),
      ttl_seconds: ttlSeconds,
      ...(lockDelaySeconds === undefined ? {} : { lock_delay_seconds: lockDelaySeconds }),
      last_fencing_token: lastFencingToken,
      created_at_ms: createdAtMs,
      revision,
    },
    shown: {
      columns: [
        ...["LOCK", "STATE", ...(hasPermits ? ["PERMITS"] : []), "OWNER", "SUBJECT", "TOKEN", "EXPIRES IN"],
        ...(hasValues ? ["WAITING", "VALUE"] : ["WAITING"]),
      ],
      rows: shown.map((hold) => [
        ...[lockCell(target), state, ...(hasPermits ? [permitsCell(hold, lock)] : []), ...holdCells(hold), waiters],
        ...(hasValues ? [displayValue(hold?.value ?? NO_BYTES, SHOWN_CHARACTERS)] : []),
      ]),
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

/** The permits of a hold, of all permits of its semaphore. */
export function permitsCell(
  hold: { readonly permits?: number } | undefined,
  { permits }: { readonly permits?: number },
): string {
  return `${hold?.permits ?? 0} of ${permits ?? 0}`;
}

/** An exclusive lock has one holder or none, another one a list of them. */
function holdersDocument(holders: readonly ShownHold[], { hasModes, hasPermits }: LockKind): object {
  if (hasModes || hasPermits) {
    return { holders: holders.map(holdDocument) };
  }
  const [holder] = holders;
  return { holder: holder === undefined ? null : holdDocument(holder) };
}

/** The columns OWNER, SUBJECT, TOKEN and EXPIRES IN. */
export function holdCells(hold: ShownHold | undefined): readonly Cell[] {
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
  permits = 0,
  value = NO_BYTES,
}: ShownHold): object {
  return {
    owner,
    subject,
    fencing_token: fencingToken,
    acquired_at_ms: acquiredAtMs,
    expires_in_ms: expiresInMs,
    ...(mode === undefined ? {} : { mode }),
    ...(permits === 0 ? {} : { permits }),
    ...(value.length === 0 ? {} : bytesDocument("value", value)),
  };
}
