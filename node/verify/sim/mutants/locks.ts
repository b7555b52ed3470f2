/** Bugs in locks: in their part of the replicated state, and in a member's handling of waiters. */

import type { Mutant } from "./mutant.ts";

export const LOCK_MUTANTS: readonly Mutant[] = [
  {
    name: "guard-not-checked-in-apply",
    pitfall: "P53",
    file: "state/locks/guards.ts",
    find: "  if (lock === undefined || fencingToken === 0) {\n    return false;\n  }",
    replace: "  if (lock === undefined || lock.permits === 0) {\n    return lock !== undefined;\n  }",
  },
  {
    name: "guard-of-the-last-hold-passes",
    pitfall: "P53",
    file: "state/locks/guards.ts",
    find: "lock.exclusiveToken === fencingToken",
    replace: "lock.lastToken === fencingToken",
  },
  {
    name: "expiry-of-holds-not-validated",
    pitfall: "S22",
    file: "state/locks/locks.ts",
    find: "      if (hold === undefined || hold.deadlineMs >= tickMs) {",
    replace: "      if (hold === undefined) {",
  },
  {
    name: "holds-expire-a-moment-early",
    pitfall: "S21",
    file: "state/locks/locks.ts",
    find: "hold.deadlineMs >= tickMs",
    replace: "hold.deadlineMs > tickMs",
  },
  {
    name: "waits-end-a-moment-early",
    pitfall: "S21",
    file: "state/locks/locks.ts",
    find: "wait.deadlineMs >= tickMs",
    replace: "wait.deadlineMs > tickMs",
  },
  {
    name: "time-of-a-hold-runs-while-it-waits",
    pitfall: "S23",
    file: "state/locks/lock-grants.ts",
    find: "    const request = { owner, subject: wait.principal.subject, requestId, ttlSeconds, ...claimOf(wait) };",
    replace: `    const request = {
      owner,
      subject: wait.principal.subject,
      requestId,
      ...claimOf(wait),
      ttlSeconds: Math.max(1, ttlSeconds - Math.floor((context.tickMs - wait.askedMs) / MS_PER_SECOND)),
    };`,
  },
  {
    name: "wait-told-too-long",
    pitfall: "S23",
    file: "state/locks/lock-grants.ts",
    find: "waitedMs: tickMs - wait.askedMs",
    replace: "waitedMs: 2 * (tickMs - wait.askedMs)",
  },
  {
    name: "cancel-ignores-the-attempt",
    pitfall: "S25",
    file: "state/locks/locks.ts",
    find: "  if (acquisition === undefined || !isSameAttempt(acquisition.attempt, attempt)) {",
    replace: "  if (acquisition === undefined || attempt.seq === 0) {",
  },
  {
    name: "cancel-keeps-what-was-granted",
    pitfall: "S25",
    file: "state/locks/locks.ts",
    find: '  } else if (acquisition.status === "granted") {',
    replace: '  } else if (acquisition.status === "granted" && attempt.seq === 0) {',
  },
  {
    name: "cancel-not-proposed",
    pitfall: "S25",
    file: "replica/proposals/proposals.ts",
    find: `    propose();
  }

  // ---- Handing out ----`,
    replace: `    if (waiter.seq === 0) {
      propose();
    }
  }

  // ---- Handing out ----`,
  },
  {
    name: "abandoned-attempt-forgotten",
    pitfall: "S25",
    file: "replica/proposals/proposals.ts",
    find: `      // The caller does not know the outcome, so it must be undone.
      this.#cancel(waiter);`,
    replace: `      // The caller does not know the outcome, so it must be undone.
      this.#waiters.drop(waiter);`,
  },
  {
    name: "retry-gets-a-second-hold",
    pitfall: "S24",
    file: "state/locks/locks.ts",
    find: '  if (found !== null && found.acquisition.status !== "cancelled") {',
    replace: '  if (found !== null && found.acquisition.status === "queued") {',
  },
  {
    name: "retry-goes-to-the-end-of-the-queue",
    pitfall: "S24",
    file: "state/locks/locks.ts",
    find: "      replaceWait(context, lock, before, { ...before, principal, askedMs, deadlineMs });",
    replace: `      removeWait(context, lock, before);
      addWait(context, lock, { ...before, position: context.index, principal, askedMs, deadlineMs });
      writeLock(context, lock);
      changeAcquisition(context, subject, request.requestId, { number: context.index }, true);`,
  },
  {
    name: "waiter-not-told-of-its-grant",
    pitfall: "S24",
    file: "state/locks/lock-grants.ts",
    find: '    context.endWait({ attempt, outcome: { answer: answerTo(context, view, wait, hold), replayed: "no" } });',
    replace:
      "    answerTo(context, view, { ...wait, requestId: wait.requestId }, attempt === undefined ? null : hold);",
  },
  {
    name: "settled-waits-not-answered-after-a-snapshot",
    pitfall: "S24",
    file: "replica/proposals/proposals.ts",
    find: "    if (proposal.acquisition !== undefined) {\n      return this",
    replace: '    if (proposal.acquisition !== undefined) {\n      return waiter.state === "queued" ? "wait" : this',
  },
  {
    name: "changed-hold-lost-by-a-snapshot",
    pitfall: "S24",
    file: "state/stored-outcome.ts",
    find: '  return "outcome" in found ? found.outcome : currentOutcome(reader, found.acquisition, at);',
    replace:
      '  return "outcome" in found ? found.outcome : { answer: lockLost(found.acquisition.lock, 0), replayed: "yes" };',
  },
  {
    name: "reader-overtakes-who-waits",
    pitfall: "S29",
    file: "state/locks/locks.ts",
    find: "  const isFirst = waitsOf(lock) === 0;",
    replace: '  const isFirst = operation.mode === "read" || waitsOf(lock) === 0;',
  },
  {
    name: "cancelled-writer-wakes-nobody",
    pitfall: "S29",
    file: "state/locks/locks.ts",
    find: `    changeAcquisition(context, subject, requestId, { status: "cancelled", number: 0 }, false);
  } else if`,
    replace: `    changeAcquisition(context, subject, requestId, { status: "cancelled", number: 0 }, false);
    writeLock(context, lock);
    return;
  } else if`,
  },
  {
    name: "upgrade-beside-readers",
    pitfall: "S29",
    file: "state/locks/locks.ts",
    find: "const isAlone = lock.readers === 1 && lock.waitingReaders + lock.waitingWriters === 0;",
    replace: "const isAlone = lock.waitingReaders + lock.waitingWriters === 0;",
  },
  {
    name: "token-does-not-grow",
    pitfall: "S28",
    file: "state/locks/lock-grants.ts",
    find: "  const token = context.nextRevision();",
    replace: "  const token = lock.lastToken === 0 ? context.nextRevision() : lock.lastToken;",
  },
  {
    name: "old-token-may-release",
    pitfall: "S26",
    file: "state/locks/locks.ts",
    find: "    const hold = readHold(context.transaction, lock, fencingToken);\n    if (hold === undefined || (mode",
    replace:
      "    const hold = readHold(context.transaction, lock, fencingToken) ?? readHolds(context.transaction, lock)[0];\n    if (hold === undefined || (mode",
  },
  {
    name: "timer-of-a-hold-stays",
    pitfall: "S22",
    file: "state/locks/lock-rows.ts",
    find: "  removeHoldTimer(context, lock, hold);\n}",
    replace: "}",
  },
  {
    name: "delay-after-an-expired-hold-skipped",
    pitfall: "S22",
    file: "state/locks/locks.ts",
    find: `      endHolds(context, lock, [hold], "expired");
      startDelay(context, lock);`,
    replace: '      endHolds(context, lock, [hold], "expired");',
  },
  {
    name: "timers-of-locks-not-looked-at",
    pitfall: "S22",
    file: "replica/context/maintenance.ts",
    find: "  if (progress.lockTimers > 0) {",
    replace: "  if (progress.lockTimers > 1_000_000) {",
  },
  {
    name: "answers-show-every-reader",
    pitfall: "limits",
    file: "state/locks/lock-view.ts",
    find: "holds: readFirstHolds(reader, lock, SHOWN_HOLDS_MAX)",
    replace: "holds: readHolds(reader, lock)",
  },
  {
    name: "hold-of-the-caller-not-shown",
    pitfall: "limits",
    file: "state/locks/lock-view.ts",
    find: "holds: isShown ? holds : [...holds, hold]",
    replace: "holds: isShown ? holds : holds",
  },
  {
    name: "first-wait-passed-over",
    pitfall: "S29",
    file: "state/locks/lock-rows.ts",
    find: "firstWaits.set(lock.id, position);",
    replace: "firstWaits.set(lock.id, position + 1);",
  },
  {
    name: "deletion-of-a-lock-leaves-its-waits-unanswered",
    pitfall: "S24",
    file: "state/locks/locks.ts",
    find: '    context.endWait({ attempt, outcome: { answer, replayed: "no" } });',
    replace: "    attempt.seq.toString();",
  },
  {
    name: "deleted-lock-keeps-its-delay",
    pitfall: "S22",
    file: "state/locks/locks.ts",
    find: "  setDelay(context, lock, 0);\n  eraseLock(context, lock);",
    replace: "  lock.delayUntilMs = 0;\n  eraseLock(context, lock);",
  },
  {
    name: "permits-exceeded",
    pitfall: "S29",
    file: "state/locks/lock-grants.ts",
    find: "lock.heldPermits + permits <= lock.permits",
    replace: "lock.heldPermits < lock.permits",
  },
  {
    name: "last-permit-not-granted",
    pitfall: "S29",
    file: "state/locks/lock-grants.ts",
    find: "lock.heldPermits + permits <= lock.permits",
    replace: "lock.heldPermits + permits < lock.permits",
  },
  {
    name: "small-request-overtakes-a-large-one",
    pitfall: "S29",
    file: "state/locks/lock-grants.ts",
    find: "    if (!isGrantable(context, planned, wait)) {\n      return false;\n    }",
    replace: `    if (!isGrantable(context, planned, wait)) {
      return wait.mode === "permits";
    }`,
  },
  {
    name: "waits-of-a-semaphore-granted-as-if-each-were-alone",
    pitfall: "S29",
    file: "state/locks/lock-grants.ts",
    find: "      take(planned, wait, Number.MAX_SAFE_INTEGER);",
    replace: "      take(planned, { ...wait, permits: 0 }, Number.MAX_SAFE_INTEGER);",
  },
  {
    name: "permits-of-an-ended-hold-not-given-back",
    pitfall: "S29",
    file: "state/locks/lock-grants.ts",
    find: "    lock.heldPermits -= hold.permits ?? 0;",
    replace: "    lock.heldPermits -= Math.min(1, hold.permits ?? 0);",
  },
  {
    name: "holds-of-a-semaphore-unlimited",
    pitfall: "limits",
    file: "state/locks/lock-grants.ts",
    find: "<= lock.permits && lock.readers < context.limits.lockReadersMax",
    replace: "<= lock.permits",
  },
  {
    name: "large-requests-wait-for-ever-after-a-change",
    pitfall: "S29",
    file: "state/locks/semaphores.ts",
    find: "  refuseLargeWaits(context, lock);\n",
    replace: "",
  },
  {
    name: "new-permits-not-granted",
    pitfall: "S29",
    file: "state/locks/semaphores.ts",
    find: "  refuseLargeWaits(context, lock);\n  grantWaiting(context, lock);",
    replace: "  refuseLargeWaits(context, lock);",
  },
  {
    name: "more-permits-than-there-are-wait",
    pitfall: "S29",
    file: "state/locks/locks.ts",
    find: "  if (permits > lock.permits) {",
    replace: "  if (permits > lock.permits && operation.waitMs === 0) {",
  },
  {
    name: "renewal-changes-permits",
    pitfall: "S26",
    file: "state/locks/lock-refusals.ts",
    find: "  if (permits !== undefined && permits !== hold.permits) {",
    replace: "  if (permits !== undefined && hold.permits === undefined) {",
  },
  {
    name: "guard-of-an-ended-hold-of-permits-passes",
    pitfall: "P53",
    file: "state/locks/guards.ts",
    find: "readHold(reader, lock, fencingToken) !== undefined",
    replace: "lock.heldPermits > 0",
  },
  {
    name: "semaphore-taken-as-an-exclusive-lock",
    pitfall: "S27",
    file: "state/locks/lock-rows.ts",
    find: "  if (lock.permits > 0 === isSemaphore) {",
    replace: "  if (lock.permits > 0 || !isSemaphore) {",
  },
  {
    name: "value-changed-by-another-holder",
    pitfall: "S26",
    file: "state/locks/semaphores.ts",
    find: "  requireHolder(lock, before, principal, owner);\n",
    replace: "  requireHolder(lock, before, { ...principal, subject: before.subject }, owner);\n",
  },
  {
    name: "change-of-a-value-not-told",
    pitfall: "S37",
    file: "state/locks/lock-grants.ts",
    find: '  recordChanges(context, revision, [changeOf(lock, hold, "acquired", "updated")]);\n',
    replace: "",
  },
  {
    name: "bytes-of-a-value-not-counted",
    pitfall: "S49",
    file: "state/locks/lock-rows.ts",
    find: "  context.countDataIn(lock.namespace, putHold(context, lock, after) - lockHoldBytes(lock, before));",
    replace: "  putHold(context, lock, after);\n  lockHoldBytes(lock, before);",
  },
  {
    name: "deleted-lock-still-counted",
    pitfall: "S49",
    file: "state/locks/lock-rows.ts",
    find: '  context.accounts.of(lock.namespace).count("locks", -1);',
    replace: "",
  },
];
