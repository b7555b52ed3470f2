/**
 * SessionService: sessions, their renewal and their end.
 *
 * The state machine decides whether a session is there and whose it is. Renewals of several calls are written together.
 */

import type {
  CreateSessionRequest,
  CreateSessionResponse,
  DescribeSessionRequest,
  DescribeSessionResponse,
  EndSessionRequest,
  EndSessionResponse,
  ListSessionsRequest,
  ListSessionsResponse,
  RenewSessionsRequest,
  RenewSessionsResponse,
  SessionHold,
  Session as SessionMessage,
} from "@quoin/proto";
import { type Listing, signPageToken, verifyPageToken } from "../../access/index.ts";
import type { Scheduler } from "../../replica/index.ts";
import {
  badRequestField,
  CoordinationError,
  createSessionOperation,
  decodeText,
  describeSession,
  encodeText,
  endSessionOperation,
  listSessions,
  type Renewal,
  type Session,
  type StateReader,
  splitHoldThing,
} from "../../state/index.ts";
import { attempt } from "./attempt.ts";
import type { Call, Reply } from "./call.ts";
import { authorized, chargeRows, type Executor, noReplica, type Query, requireSessions } from "./executor.ts";
import {
  consistencyField,
  LISTING_BYTES_MAX,
  labelField,
  namespaceField,
  pageSizeField,
  sessionIdField,
} from "./field-rules.ts";
import type { HostMember, HostReplica } from "./host.ts";
import { remainingMs } from "./remaining-time.ts";
import { RENEWED_MAX, SessionRenewals } from "./session-renewals.ts";

const TTL_SECONDS_MAX = 86_400;
const METADATA_BYTES_MAX = 1_024;

interface SessionQuery extends Query {
  readonly namespace: string;
  readonly sessionId: number;
}

interface ListQuery extends Query {
  readonly listing: Listing;
  readonly afterId: number;
  readonly entriesMax: number;
}

export class SessionMethods {
  readonly #executor: Executor;
  readonly #member: Pick<HostMember, "replica">;
  readonly #renewals: SessionRenewals;

  constructor(executor: Executor, member: Pick<HostMember, "replica">, scheduler: Pick<Scheduler, "every">) {
    this.#executor = executor;
    this.#member = member;
    this.#renewals = new SessionRenewals(scheduler);
  }

  createSession(call: Call, request: CreateSessionRequest, reply: Reply<CreateSessionResponse>): void {
    this.#executor.mutate(
      call,
      createSessionOperation,
      request.namespace,
      () => ({
        kind: "create-session",
        namespace: namespaceField(request.namespace),
        ttlSeconds: sessionTtlField(request.ttlSeconds),
        owner: labelField("owner", request.owner),
        metadata: metadataField(request.metadata),
      }),
      (result, tickMs) => ({
        sessionId: BigInt(result.sessionId),
        expiresInMs: remainingMs(result.deadlineMs, tickMs),
        revision: BigInt(result.revision),
      }),
      reply,
    );
  }

  renewSessions(call: Call, request: RenewSessionsRequest, reply: Reply<RenewSessionsResponse>): void {
    const { replica } = this.#member;
    const need = { access: "write", namespace: request.namespace } as const;
    if (replica === null) {
      reply(noReplica(), "no");
      return;
    }
    const proceed = (): void => {
      const renewal = attempt(() => renewalOf(call, request, replica.state));
      if (renewal instanceof Error) {
        reply(renewal, "no");
        return;
      }
      this.#renewals.add(replica, renewal, call.deadlineMs, (error, remaining, revision) => {
        if (error !== null) {
          reply(error, "no");
        } else if (remaining === null) {
          reply(attempt(() => lostRight(call, need)) as Error, "no");
        } else {
          reply({ sessions: renewedMessages(renewal.sessionIds, remaining), revision: BigInt(revision) }, "no");
        }
      });
    };
    authorized(call, need, proceed, reply);
  }

  endSession(call: Call, request: EndSessionRequest, reply: Reply<EndSessionResponse>): void {
    const { namespace, force } = request;
    this.#executor.submit(
      call,
      endSessionOperation,
      { access: force ? "admin" : "write", namespace },
      () => ({
        kind: "end-session",
        namespace: namespaceField(namespace),
        sessionId: sessionIdField(request.sessionId),
        force,
      }),
      (result) => ({ endedObjects: BigInt(result.endedObjects), revision: BigInt(result.revision) }),
      reply,
    );
  }

  describeSession(call: Call, request: DescribeSessionRequest, reply: Reply<DescribeSessionResponse>): void {
    this.#executor.read(
      call,
      { access: "read", namespace: request.namespace },
      (): SessionQuery => ({
        namespace: namespaceField(request.namespace),
        sessionId: sessionIdField(request.sessionId),
        consistency: consistencyField(request.consistency),
      }),
      ({ state, tickMs, revision }, { namespace, sessionId }) => {
        const { session, keys, holds } = describeSession(state, namespace, sessionId);
        return {
          session: sessionMessage(session, tickMs),
          keys: keys.map(decodeText),
          holds: holds.map(holdMessage),
          revision: BigInt(revision),
        };
      },
      reply,
    );
  }

  listSessions(call: Call, request: ListSessionsRequest, reply: Reply<ListSessionsResponse>): void {
    this.#executor.read(
      call,
      { access: "read", namespace: request.namespace },
      (state) => listQuery(request, state),
      listPage,
      reply,
    );
  }
}

/** Throws the refusal of a caller who had the right when the call began. */
function lostRight(call: Call, need: Parameters<Call["recheck"]>[0]): never {
  call.recheck(need);
  throw new CoordinationError("ACCESS_DENIED", "the user has lost the right to write in the namespace");
}

function renewalOf(call: Call, { namespace, sessions }: RenewSessionsRequest, state: StateReader): Renewal {
  const checked = namespaceField(namespace);
  if (sessions.length < 1 || sessions.length > RENEWED_MAX) {
    throw badRequestField("sessions", `must name 1 to ${RENEWED_MAX} sessions`, RENEWED_MAX);
  }
  const sessionIds = sessions.map(({ sessionId }, at) => sessionIdField(sessionId, `sessions[${at}].session_id`));
  requireSessions(state);
  chargeRows(call, sessions.length);
  return { principal: call.principal, namespace: checked, sessionIds };
}

function renewedMessages(sessionIds: readonly number[], remaining: readonly bigint[]) {
  return sessionIds.map((sessionId, at) => ({ sessionId: BigInt(sessionId), expiresInMs: remaining[at] as bigint }));
}

function listQuery(request: ListSessionsRequest, state: StateReader): ListQuery {
  const listing: Listing = { of: "sessions", namespace: namespaceField(request.namespace), prefix: new Uint8Array(0) };
  const { pageToken } = request;
  return {
    listing,
    afterId: pageToken === "" ? 0 : Number(decodeText(verifyPageToken(state, listing, pageToken))),
    entriesMax: pageSizeField(request.pageSize),
    consistency: consistencyField(request.consistency),
  };
}

function listPage({ state, tickMs, revision }: HostReplica, query: ListQuery): ListSessionsResponse {
  const { listing, afterId, entriesMax } = query;
  const { sessions, more } = listSessions(state, listing.namespace, afterId, {
    entriesMax,
    bytesMax: LISTING_BYTES_MAX,
  });
  const last = sessions.at(-1);
  return {
    items: sessions.map((session) => sessionMessage(session, tickMs)),
    nextPageToken: more && last !== undefined ? signPageToken(state, listing, encodeText(String(last.sessionId))) : "",
    revision: BigInt(revision),
  };
}

function holdMessage(row: Uint8Array): SessionHold {
  const { name, token } = splitHoldThing(row);
  return { lockName: name.name, fencingToken: BigInt(token), rw: name.rw };
}

function sessionMessage(session: Session, tickMs: number): SessionMessage {
  return {
    sessionId: BigInt(session.sessionId),
    owner: session.owner,
    subject: session.subject,
    metadata: session.metadata,
    ttlSeconds: BigInt(session.ttlSeconds),
    expiresInMs: remainingMs(session.deadlineMs, tickMs),
    createdAtMs: BigInt(session.createdAtMs),
    objects: BigInt(session.objects),
  };
}

function sessionTtlField(ttlSeconds: bigint): number {
  if (ttlSeconds < 1n || ttlSeconds > TTL_SECONDS_MAX) {
    throw badRequestField("ttl_seconds", `must be 1 to ${TTL_SECONDS_MAX}`, TTL_SECONDS_MAX);
  }
  return Number(ttlSeconds);
}

function metadataField(metadata: Uint8Array): Uint8Array {
  if (metadata.length > METADATA_BYTES_MAX) {
    throw badRequestField("metadata", `must have at most ${METADATA_BYTES_MAX} bytes`, METADATA_BYTES_MAX);
  }
  return metadata;
}
