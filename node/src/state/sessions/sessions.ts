/**
 * Sessions: keys and holds that live as long as their client renews one session.
 *
 * A session lives from its creation or its last renewal for its time to live, measured on the cluster tick as everything
 * else is. So an election or a pause of the leader does not end it early. A session whose deadline has passed is there
 * until the entry that ends it (S21, S22).
 */

import { refusalOf } from "../accounts/index.ts";
import {
  type ApplyContext,
  bytes,
  clientOperation,
  clusterOperation,
  count,
  listOf,
  name,
  namespaceRefusalOf,
  ONE_REQUEST,
  type Principal,
  readPrincipal,
  recordOf,
  requireNamespace,
  type StateReader,
  text,
  VERSION_WITH_SESSIONS,
  writePrincipal,
} from "../core/index.ts";
import type {
  CreateSession,
  CreateSessionResult,
  Renewal,
  RenewedSession,
  RenewSessions,
  RenewSessionsResult,
} from "./session-commands.ts";
import {
  addSession,
  moveDeadline,
  readLife,
  readSession,
  requireSession,
  type Session,
  type SessionFacts,
  type Thing,
  thingsOf,
  visitSessions,
} from "./session-rows.ts";

export const createSessionOperation = clientOperation<CreateSession, CreateSessionResult>({
  kind: "create-session",
  number: 100,
  access: "write",
  since: VERSION_WITH_SESSIONS,
  grows: true,
  usage: ONE_REQUEST,
  fields: { namespace: name, ttlSeconds: count, owner: text, metadata: bytes },
  answer: { number: 100, fields: { sessionId: count, deadlineMs: count } },
  apply: applyCreateSession,
});

/** Renewals have no request ids: one that runs again only renews again. */
export const renewSessionsOperation = clusterOperation<RenewSessions, RenewSessionsResult>({
  kind: "renew-sessions",
  number: 101,
  fields: {
    renewals: listOf(
      recordOf<Renewal>({
        principal: { write: writePrincipal, read: readPrincipal },
        namespace: name,
        sessionIds: listOf(count),
      }),
    ),
  },
  apply: applyRenewSessions,
});

function applyCreateSession(
  context: ApplyContext,
  { namespace, ttlSeconds, owner, metadata }: CreateSession,
  { subject }: Principal,
): CreateSessionResult {
  requireNamespace(context.transaction, namespace);
  const sessionId = context.revision + 1;
  const deadlineMs = context.deadlineAfter(ttlSeconds);
  const facts = { namespace, sessionId, subject, owner: owner === "" ? subject : owner, metadata, ttlSeconds };
  addSession(context, { ...facts, createdAtMs: context.wallMs, deadlineMs, objects: 0, bytes: 0 });
  return { kind: "create-session", sessionId, deadlineMs, revision: context.nextRevision() };
}

/** Renews the sessions of each caller who may still write in the namespace. The revision does not change. */
function applyRenewSessions(context: ApplyContext, { renewals }: RenewSessions): RenewSessionsResult {
  const renewed = renewals.map(({ principal, namespace, sessionIds }) => {
    const refusal = refusalOf(context.transaction, principal, { access: "write", namespace }, context.wallMs);
    if (refusal !== null) {
      return null;
    }
    context.usage.count(context.transaction, principal, ONE_REQUEST, context);
    const isGone = namespaceRefusalOf(context.transaction, namespace) !== null;
    return sessionIds.map((id) =>
      isGone ? { sessionId: id, deadlineMs: 0 } : renew(context, principal, namespace, id),
    );
  });
  return { kind: "renew-sessions", renewed, tickMs: context.tickMs, revision: context.revision };
}

function renew(context: ApplyContext, { subject }: Principal, namespace: string, sessionId: number): RenewedSession {
  const session = readSession(context.transaction, namespace, sessionId);
  if (session === undefined || session.subject !== subject) {
    return { sessionId, deadlineMs: 0 };
  }
  const deadlineMs = context.deadlineAfter(session.ttlSeconds);
  moveDeadline(context, session, deadlineMs);
  return { sessionId, deadlineMs };
}

/**
 * The session, the bytes of its keys in their order, and its holds as `Thing.row`. Raises NAMESPACE_NOT_FOUND or
 * SESSION_NOT_FOUND.
 */
export function describeSession(
  reader: StateReader,
  namespace: string,
  sessionId: number,
): { readonly session: Session; readonly keys: readonly Uint8Array[]; readonly holds: readonly Uint8Array[] } {
  requireNamespace(reader, namespace);
  const session = requireSession(reader, namespace, sessionId);
  const things = thingsOf(reader, sessionId, session.objects);
  const rowsOf = (kind: Thing["about"]) => things.flatMap(({ about, row }) => (about === kind ? [row] : []));
  return { session, keys: rowsOf("key"), holds: rowsOf("hold") };
}

export interface SessionPage {
  readonly sessions: readonly Session[];
  /** Whether sessions with higher ids follow. */
  readonly more: boolean;
}

/** Sessions of the namespace above the id, in the order of their creation. Raises NAMESPACE_NOT_FOUND. */
export function listSessions(
  reader: StateReader,
  namespace: string,
  afterId: number,
  bounds: { readonly entriesMax: number; readonly bytesMax: number },
): SessionPage {
  requireNamespace(reader, namespace);
  const found: SessionFacts[] = [];
  let size = 0;
  let more = false;
  visitSessions(reader, namespace, afterId, (facts) => {
    size += facts.metadata.length + facts.owner.length + facts.subject.length;
    more = found.length >= bounds.entriesMax || (found.length > 0 && size > bounds.bytesMax);
    if (!more) {
      found.push(facts);
    }
    return !more;
  });
  return { sessions: found.map((facts) => ({ ...facts, ...readLife(reader, facts.sessionId) })), more };
}
