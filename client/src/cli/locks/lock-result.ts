/** Locks and their holds, in JSON and YAML and in tables. */

import type { LockMode } from "../../index.ts";
import type { Result } from "../output/index.ts";
import { escapeControls, formatMilliseconds } from "../text/index.ts";
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
      rows: shown.map((hold) => [
        lockCell(target),
        escapeControls(state),
        hold === undefined ? "-" : escapeControls(hold.owner),
        hold === undefined ? "-" : escapeControls(hold.subject),
        hold === undefined ? "-" : String(hold.fencingToken),
        hold === undefined ? "-" : formatMilliseconds(hold.expiresInMs),
        String(waiters),
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
          String(acquired),
          acquired ? String(fencingToken) : "-",
          acquired ? formatMilliseconds(expiresInMs) : "-",
          escapeControls(state),
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
      rows: [
        [
          lockCell(target),
          String(released),
          previous === undefined ? "-" : escapeControls(previous.owner),
          previous === undefined ? "-" : String(previous.fencingToken),
        ],
      ],
    },
  };
}

/** A lock in the form of the command line. */
export function lockCell({ namespace, name }: LockTarget): string {
  return escapeControls(`${namespace}/${name}`);
}

function holdersCell(holders: readonly ShownHold[]): string {
  if (holders.length === 0) {
    return "-";
  }
  return holders.map(({ owner, mode }) => escapeControls(mode === undefined ? owner : `${owner} (${mode})`)).join(", ");
}

/** An exclusive lock has one holder or none, a read-write lock a list of them. */
function holdersDocument(holders: readonly ShownHold[], { hasModes }: LockKind): object {
  if (hasModes) {
    return { holders: holders.map(holdDocument) };
  }
  const [holder] = holders;
  return { holder: holder === undefined ? null : holdDocument(holder) };
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
