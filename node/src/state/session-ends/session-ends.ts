/**
 * The end of a session: everything that belongs to it ends with it, at one revision.
 *
 * Watchers see keys expire if the time of the session is over, and deleted if its owner ended it. What belongs to a session
 * is bounded, so one entry ends all of it.
 */

import { invariant } from "../../primitives/index.ts";
import {
  type ApplyContext,
  count,
  flag,
  type LockName,
  listOf,
  name,
  ONE_REQUEST,
  operationByContent,
  type Principal,
  pausingClusterStep,
  recordChanges,
  recordOf,
  requireNamespace,
  type Steps,
  text,
  VERSION_WITH_SESSIONS,
} from "../core/index.ts";
import { readKey, removeKey } from "../keys/index.ts";
import { endOwnedHold, passOn } from "../locks/index.ts";
import {
  readSession,
  removeSession,
  requireOwnSession,
  requireSession,
  type Session,
  type Thing,
  thingsOf,
} from "../sessions/index.ts";
import type { EndSession, EndSessionResult, ExpireSessions } from "./session-end-commands.ts";

/** Things that end between two pauses: less than a millisecond of work. */
const STEP_THINGS = 64;

/** Only an administrator may end the session of another user. */
export const endSessionOperation = operationByContent<EndSession, EndSessionResult>({
  kind: "end-session",
  number: 102,
  accessOf: ({ force }) => (force ? "admin" : "write"),
  since: VERSION_WITH_SESSIONS,
  usageOf: () => ONE_REQUEST,
  fields: { namespace: name, sessionId: count, force: flag },
  division: { isHidden: true },
  rows: (reader, { namespace, sessionId }) => readSession(reader, namespace, sessionId)?.objects ?? 0,
  answer: { number: 102, fields: { endedObjects: count } },
  apply: applyEndSession,
});

export const expireSessionsOperation = pausingClusterStep<ExpireSessions>({
  kind: "expire-sessions",
  number: 103,
  fields: { sessions: listOf(recordOf({ namespace: text, sessionId: count })) },
  apply: applyExpireSessions,
});

function* applyEndSession(
  context: ApplyContext,
  { namespace, sessionId, force }: EndSession,
  { subject }: Principal,
): Steps<EndSessionResult> {
  const { transaction } = context;
  requireNamespace(transaction, namespace);
  const session = force
    ? requireSession(transaction, namespace, sessionId)
    : requireOwnSession(transaction, namespace, sessionId, subject);
  const revision = yield* end(context, session, "delete");
  return { kind: "end-session", endedObjects: session.objects, revision };
}

/** Ends the named sessions whose deadline has passed (S22). Ticks are rounded down, as for keys (S21). */
function* applyExpireSessions(context: ApplyContext, { sessions }: ExpireSessions): Steps<null> {
  for (const { namespace, sessionId } of sessions) {
    const session = readSession(context.transaction, namespace, sessionId);
    if (session !== undefined && session.deadlineMs < context.tickMs) {
      yield* end(context, session, "expire");
      yield;
    }
  }
  return null;
}

/** Returns the revision of the end. Others get the locks right after it. */
function* end(context: ApplyContext, session: Session, kind: "delete" | "expire"): Steps<number> {
  const { namespace, sessionId, objects } = session;
  const things = thingsOf(context.transaction, sessionId, objects + 1);
  invariant(things.length === objects, "a session counts what belongs to it", () => `${things.length} of ${objects}`);
  const locks = yield* context.atOneRevision(namespace, endThings(context, session, things, kind), recordChanges);
  const { revision } = context;
  for (const lock of locks) {
    passOn(context, lock);
    yield;
  }
  return revision;
}

/** Its end is a change that clients can see, also if nothing belongs to it. Returns the locks that others may get now. */
function* endThings(
  context: ApplyContext,
  session: Session,
  things: readonly Thing[],
  kind: "delete" | "expire",
): Steps<readonly LockName[]> {
  const locks = new Map<string, LockName>();
  removeSession(context, session);
  context.nextRevision();
  for (const [at, { about, row }] of things.entries()) {
    if (about === "key") {
      const stored = readKey(context.transaction, session.namespace, row);
      invariant(stored?.sessionId === session.sessionId, "what belongs to a session is there");
      removeKey(context, kind, session.namespace, stored);
    } else {
      const lock = endOwnedHold(context, row, kind === "expire" ? "expired" : "normal");
      locks.set(`${lock.rw} ${lock.name}`, lock);
    }
    if ((at + 1) % STEP_THINGS === 0) {
      yield;
    }
  }
  return [...locks.values()];
}
