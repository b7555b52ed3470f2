/**
 * What only some locks have: the permits of semaphores, and the values of holds of exclusive locks.
 *
 * A semaphore is a lock whose holds have permits. Everything else about it is as for other locks.
 */

import {
  type ApplyContext,
  bytes,
  clientOperation,
  count,
  LOCK_OPERATION,
  name,
  type Principal,
  requireNamespace,
  type StateReader,
  text,
  VERSION_WITH_SEMAPHORES,
} from "../core/index.ts";
import type {
  CreateSemaphore,
  CreateSemaphoreResult,
  SetLockValue,
  SetLockValueResult,
  UpdateSemaphore,
  UpdateSemaphoreResult,
} from "./lock-commands.ts";
import { endWait, grantWaiting, onValueReplaced } from "./lock-grants.ts";
import { lockLost, tooManyPermits } from "./lock-refusals.ts";
import {
  type Lock,
  readHold,
  readLock,
  removeWait,
  replaceValue,
  requireLockOf,
  visitNextWaits,
  type Wait,
  waitsOf,
  writeLock,
} from "./lock-rows.ts";
import { addLock, requireHolder } from "./locks.ts";

const SEMAPHORE_NAME = { namespace: name, name: text } as const;

export const createSemaphoreOperation = clientOperation<CreateSemaphore, CreateSemaphoreResult>({
  kind: "create-semaphore",
  number: 82,
  access: "write",
  since: VERSION_WITH_SEMAPHORES,
  grows: true,
  usage: LOCK_OPERATION,
  fields: { ...SEMAPHORE_NAME, permits: count, ttlSeconds: count },
  answer: { number: 82, fields: { createdAtMs: count } },
  apply: (context, command) => ({
    kind: "create-semaphore",
    ...addLock(context, { ...command, rw: false, lockDelaySeconds: 0 }),
  }),
});

export const updateSemaphoreOperation = clientOperation<UpdateSemaphore, UpdateSemaphoreResult>({
  kind: "update-semaphore",
  number: 83,
  access: "write",
  since: VERSION_WITH_SEMAPHORES,
  // It may answer all requests that wait.
  rows: waitsFor,
  usage: LOCK_OPERATION,
  fields: { ...SEMAPHORE_NAME, permits: count },
  answer: { number: 83, fields: {} },
  apply: applyUpdateSemaphore,
});

export const setLockValueOperation = clientOperation<SetLockValue, SetLockValueResult>({
  kind: "set-lock-value",
  number: 84,
  access: "write",
  since: VERSION_WITH_SEMAPHORES,
  grows: ({ value }) => value.length > 0,
  usage: LOCK_OPERATION,
  fields: { ...SEMAPHORE_NAME, fencingToken: count, owner: text, value: bytes },
  answer: { number: 84, fields: {} },
  apply: applySetLockValue,
});

function waitsFor(reader: StateReader, { namespace, name: lockName }: UpdateSemaphore): number {
  const lock = readLock(reader, { namespace, rw: false, name: lockName });
  return lock === undefined ? 0 : waitsOf(lock);
}

/** Changes the permits, and refuses the requests that wait for more than there are now. Raises LOCK_NOT_FOUND. */
function applyUpdateSemaphore(context: ApplyContext, command: UpdateSemaphore): UpdateSemaphoreResult {
  requireNamespace(context.transaction, command.namespace);
  const lock = requireLockOf(context.transaction, { ...command, rw: false }, true);
  const revision = context.nextRevision();
  lock.permits = command.permits;
  refuseLargeWaits(context, lock);
  grantWaiting(context, lock);
  writeLock(context, lock);
  return { kind: "update-semaphore", revision };
}

/** Such a request could never be granted, and no other request overtakes it. */
function refuseLargeWaits(context: ApplyContext, lock: Lock): void {
  const large: Wait[] = [];
  visitNextWaits(context, lock, (wait) => {
    if (wait.permits !== undefined && wait.permits > lock.permits) {
      large.push(wait);
    }
    return true;
  });
  for (const wait of large) {
    removeWait(context, lock, wait);
    const attempt = endWait(context, wait, "cancelled");
    const answer = tooManyPermits(lock, wait.permits ?? 0);
    context.endWait({ attempt, outcome: { answer, replayed: "no" } });
  }
}

/** Changes the value of a hold; raises LOCK_LOST, NOT_LOCK_HOLDER or QUOTA, and then changes nothing. */
function applySetLockValue(context: ApplyContext, command: SetLockValue, principal: Principal): SetLockValueResult {
  const { namespace, fencingToken, owner, value } = command;
  requireNamespace(context.transaction, namespace);
  const lock = requireLockOf(context.transaction, { ...command, rw: false }, false);
  const before = readHold(context.transaction, lock, fencingToken);
  if (before === undefined) {
    throw lockLost(lock, fencingToken);
  }
  requireHolder(lock, before, principal, owner);
  context.requireNamespaceQuota(namespace, value.length);
  const { value: _, ...rest } = before;
  const after = value.length === 0 ? rest : { ...rest, value };
  replaceValue(context, lock, before, after);
  return { kind: "set-lock-value", revision: onValueReplaced(context, lock, after) };
}
