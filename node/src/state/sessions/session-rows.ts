/**
 * Rows of sessions: what stays of a session, what changes of it, when it is due, and what belongs to it.
 *
 * The revision of its creation is the id of a session, so no two sessions of a cluster ever have the same one. A renewal
 * writes only the small row of what changes, and moves the timer. Everything that belongs to a session has a row of
 * its own, so the end of a session finds it.
 */

import { invariant, readUint53 } from "../../primitives/index.ts";
import {
  type ApplyContext,
  bytes,
  CoordinationError,
  count,
  decodeRow,
  decodeText,
  encodeRow,
  type Field,
  type NamespacedRows,
  prefixRange,
  RecordWriter,
  recordOf,
  SESSION_OBJECT_HEAD_BYTES,
  type StateReader,
  sessionLifeRow,
  sessionObjectPrefix,
  sessionObjectRow,
  sessionPrefix,
  sessionRow,
  sessionTimerRow,
  tableRange,
  text,
} from "../core/index.ts";

/** What stays of a session. */
export interface SessionFacts {
  readonly namespace: string;
  readonly sessionId: number;
  /** The user that it belongs to. */
  readonly subject: string;
  readonly owner: string;
  readonly metadata: Uint8Array;
  readonly ttlSeconds: number;
  /** Wall clock in milliseconds. */
  readonly createdAtMs: number;
}

/** What changes of it. */
export interface SessionLife {
  /** Cluster tick in milliseconds after which it may end. */
  readonly deadlineMs: number;
  /** Keys and holds that belong to it. */
  readonly objects: number;
  /** Bytes of its keys and their values. */
  readonly bytes: number;
}

export interface Session extends SessionFacts, SessionLife {}

/** What may belong to a session; the position of each is its number in rows. */
export type SessionObject = "key" | "hold";

const ABOUTS: readonly SessionObject[] = ["key", "hold"];
const NUMBER_BYTES = 8;

type StoredFacts = Omit<SessionFacts, "namespace" | "sessionId">;

const facts: Field<StoredFacts> = recordOf<StoredFacts>({
  subject: text,
  owner: text,
  metadata: bytes,
  ttlSeconds: count,
  createdAtMs: count,
});
const life: Field<SessionLife> = recordOf<SessionLife>({ deadlineMs: count, objects: count, bytes: count });

export function readSession(reader: StateReader, namespace: string, sessionId: number): Session | undefined {
  const row = reader.get(sessionRow(namespace, sessionId));
  return row === undefined
    ? undefined
    : { namespace, sessionId, ...decodeRow(facts, row), ...readLife(reader, sessionId) };
}

export function readLife(reader: StateReader, sessionId: number): SessionLife {
  const row = reader.get(sessionLifeRow(sessionId));
  invariant(row !== undefined, "a session has a deadline", () => String(sessionId));
  return decodeRow(life, row);
}

/** The session; raises SESSION_NOT_FOUND. The caller has checked the namespace. */
export function requireSession(reader: StateReader, namespace: string, sessionId: number): Session {
  const session = readSession(reader, namespace, sessionId);
  if (session === undefined) {
    throw sessionNotFound(namespace, sessionId);
  }
  return session;
}

/** The same for a session to use: raises ACCESS_DENIED too, for the session of another user. */
export function requireOwnSession(reader: StateReader, namespace: string, sessionId: number, subject: string): Session {
  const session = requireSession(reader, namespace, sessionId);
  if (session.subject !== subject) {
    throw new CoordinationError("ACCESS_DENIED", `session ${sessionId} belongs to another user`);
  }
  return session;
}

function sessionNotFound(namespace: string, sessionId: number): CoordinationError {
  return new CoordinationError(
    "SESSION_NOT_FOUND",
    `namespace "${namespace}" has no session ${sessionId}; it has ended, or there was none`,
    { details: new Map([["session_id", String(sessionId)]]) },
  );
}

/** Adds a session to which nothing belongs yet. */
export function addSession(context: ApplyContext, session: Session): void {
  const key = sessionRow(session.namespace, session.sessionId);
  const row = encodeRow(facts, session);
  context.requireNamespaceQuota(session.namespace, key.length + row.length);
  context.accounts.of(session.namespace).requireQuota("sessions", 1);
  context.transaction.put(key, row);
  writeLife(context, session);
  addTimer(context, session);
  countSession(context, session.namespace, 1, key.length + row.length);
}

/** Removes the session; what belongs to it stays, and then belongs to none. */
export function removeSession(context: ApplyContext, session: Session): void {
  const { namespace, sessionId } = session;
  const key = sessionRow(namespace, sessionId);
  context.transaction.delete(key);
  context.transaction.delete(sessionLifeRow(sessionId));
  context.transaction.delete(sessionTimerRow(session.deadlineMs, sessionId));
  countSession(context, namespace, -1, -key.length - encodeRow(facts, session).length);
}

function countSession(context: ApplyContext, namespace: string, change: number, rowBytes: number): void {
  context.countTotal("sessions", change);
  context.accounts.of(namespace).count("sessions", change);
  context.countDataIn(namespace, rowBytes);
}

/** Gives the session another deadline. */
export function moveDeadline(context: ApplyContext, session: Session, deadlineMs: number): void {
  if (deadlineMs !== session.deadlineMs) {
    context.transaction.delete(sessionTimerRow(session.deadlineMs, session.sessionId));
    const moved = { ...session, deadlineMs };
    writeLife(context, moved);
    addTimer(context, moved);
  }
}

function writeLife({ transaction }: ApplyContext, changed: SessionLife & Pick<Session, "sessionId">): void {
  transaction.put(sessionLifeRow(changed.sessionId), encodeRow(life, changed));
}

function addTimer({ transaction }: ApplyContext, { namespace, sessionId, deadlineMs }: Session): void {
  transaction.put(sessionTimerRow(deadlineMs, sessionId), new RecordWriter().plainText(namespace).finish());
}

/**
 * Sessions whose deadline is before the tick, the earliest first: at most this many, with at most this many things that
 * belong to them, unless the first one has more.
 */
export function dueSessions(
  reader: StateReader,
  tickMs: number,
  countMax: number,
  objectsMax: number,
): readonly Pick<Session, "namespace" | "sessionId">[] {
  const due: Pick<Session, "namespace" | "sessionId">[] = [];
  reader.scan(tableRange("sessionTimer").from, sessionTimerRow(tickMs, 0), ({ key, value }) => {
    due.push({ namespace: decodeText(value), sessionId: idAtEnd(key) });
    return due.length < countMax;
  });
  let all = 0;
  const end = due.findIndex(({ sessionId }, at) => {
    all += readLife(reader, sessionId).objects;
    return at > 0 && all > objectsMax;
  });
  return end === -1 ? due : due.slice(0, end);
}

/** The facts of the sessions of the namespace above the id, in the order of their creation, until `take` returns false. */
export function visitSessions(
  reader: StateReader,
  namespace: string,
  afterId: number,
  take: (facts: SessionFacts) => boolean,
): void {
  const { to } = prefixRange(sessionPrefix(namespace));
  reader.scan(sessionRow(namespace, afterId + 1), to, ({ key, value }) => {
    return take({ namespace, sessionId: idAtEnd(key), ...decodeRow(facts, value) });
  });
}

function idAtEnd(key: Uint8Array): number {
  return readUint53(key, key.length - NUMBER_BYTES);
}

/** All sessions of a namespace that is being deleted; its keys go by themselves. */
export const namespaceSessions: NamespacedRows = {
  rangeOf: (namespace) => prefixRange(sessionPrefix(namespace)),
  erase: (context, namespace, { key }) => {
    removeSession(context, requireSession(context.transaction, namespace, idAtEnd(key)));
    return 3;
  },
};

// ---- What belongs to a session ----

/** A key or a hold, as far as sessions know it. */
export interface Thing {
  readonly about: SessionObject;
  /** Identifies it within its kind: the bytes of a key, or the row of a lock and the token. */
  readonly row: Uint8Array;
}

/** Which session a thing belongs to, and the bytes that count for it; null = there is no such thing. */
export type Belonging = { readonly sessionId: number | undefined; readonly bytes: number } | null;

const NO_VALUE = new Uint8Array(0);

/**
 * Raises SESSION_NOT_FOUND or QUOTA if the change cannot be made. Changes nothing.
 *
 * @param planned things that the session gets before this one.
 */
export function requireRoom(
  context: ApplyContext,
  namespace: string,
  before: Belonging,
  after: Belonging,
  planned = 0,
): void {
  if (after?.sessionId === undefined) {
    return;
  }
  const { sessionObjectsMax, sessionBytesMax } = context.limits;
  const { sessionId, objects, bytes: held } = requireSession(context.transaction, namespace, after.sessionId);
  const isIn = before?.sessionId === after.sessionId;
  const added = after.bytes - (isIn ? before.bytes : 0);
  if (!isIn && objects + planned >= sessionObjectsMax) {
    throw sessionFull(sessionId, "objects", `${objects + planned} of at most ${sessionObjectsMax} keys and holds`);
  }
  if (added > 0 && held + added > sessionBytesMax) {
    throw sessionFull(sessionId, "bytes", `${held} of at most ${sessionBytesMax} bytes of keys and values`);
  }
}

function sessionFull(sessionId: number, what: "objects" | "bytes", why: string): CoordinationError {
  return new CoordinationError("QUOTA", `session ${sessionId} has ${why}; use several sessions`, {
    details: new Map([
      ["quota", `session.${what}`],
      ["session_id", String(sessionId)],
    ]),
  });
}

/** Moves a thing from one session to another, into one, or out of one; the caller has checked that there is room. */
export function changeBelonging(
  context: ApplyContext,
  namespace: string,
  thing: Thing,
  before: Belonging,
  after: Belonging,
): void {
  if (before?.sessionId === after?.sessionId) {
    if (before !== null && after !== null && before.bytes !== after.bytes) {
      countOwned(context, before.sessionId, 0, after.bytes - before.bytes);
    }
    return;
  }
  if (before?.sessionId !== undefined) {
    const key = objectRow(before.sessionId, thing);
    context.transaction.delete(key);
    context.countDataIn(namespace, -key.length);
    countOwned(context, before.sessionId, -1, -before.bytes);
  }
  if (after?.sessionId !== undefined) {
    const key = objectRow(after.sessionId, thing);
    context.transaction.put(key, NO_VALUE);
    context.countDataIn(namespace, key.length);
    countOwned(context, after.sessionId, 1, after.bytes);
  }
}

/** Counts what belongs to the session, unless there is none or it has just ended. */
function countOwned(
  context: ApplyContext,
  sessionId: number | undefined,
  objectsChange: number,
  bytesChange: number,
): void {
  const row = sessionId === undefined ? undefined : context.transaction.get(sessionLifeRow(sessionId));
  if (sessionId !== undefined && row !== undefined) {
    const { deadlineMs, objects, bytes } = decodeRow(life, row);
    writeLife(context, { sessionId, deadlineMs, objects: objects + objectsChange, bytes: bytes + bytesChange });
  }
}

function objectRow(sessionId: number, { about, row }: Thing): Uint8Array {
  return sessionObjectRow(sessionId, ABOUTS.indexOf(about), row);
}

/** All holds that belong to sessions, as `Thing.row`. */
export function ownedHolds(reader: StateReader): readonly Uint8Array[] {
  const rows: Uint8Array[] = [];
  const { from, to } = tableRange("sessionObject");
  reader.scan(from, to, ({ key }) => {
    if (ABOUTS[key[SESSION_OBJECT_HEAD_BYTES - 1] as number] === "hold") {
      rows.push(key.subarray(SESSION_OBJECT_HEAD_BYTES));
    }
    return true;
  });
  return rows;
}

/** Everything that belongs to the session: keys first, in the order of their bytes. At most this many. */
export function thingsOf(reader: StateReader, sessionId: number, countMax: number): readonly Thing[] {
  const things: Thing[] = [];
  const { from, to } = prefixRange(sessionObjectPrefix(sessionId));
  reader.scan(from, to, ({ key }) => {
    if (things.length >= countMax) {
      return false;
    }
    const about = ABOUTS[key[SESSION_OBJECT_HEAD_BYTES - 1] as number];
    invariant(about !== undefined, "keys and holds belong to sessions");
    things.push({ about, row: key.subarray(SESSION_OBJECT_HEAD_BYTES) });
    return true;
  });
  return things;
}
