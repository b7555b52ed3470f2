/** Sessions in the form of the SDK, and the options of their calls. */

import type {
  CreateSessionResponse,
  DescribeSessionResponse,
  EndSessionResponse,
  ListSessionsResponse,
  RenewedSession as RenewedSessionMessage,
  Session as SessionMessage,
} from "@quoin/proto";
import { type CallOptions, type Plain, type ReadOptions, readRules } from "../calls/index.ts";
import { bytes, bytesField, callRules, flag, int64Field, text, textField, whole, whole32 } from "../options/index.ts";

/** A session. */
export type SessionInfo = Plain<SessionMessage>;

/** Answer of create. */
export type CreateSessionResult = Plain<CreateSessionResponse>;

/** A session after an attempt to renew it. */
export type RenewedSession = Plain<RenewedSessionMessage>;

/** Answer of end. */
export type EndSessionResult = Plain<EndSessionResponse>;

/** Answer of describe. */
export type DescribeSessionResult = SessionInfo & Omit<Plain<DescribeSessionResponse>, "session">;

/** One page of sessions, in the order of their creation. */
export type SessionPage = Plain<ListSessionsResponse>;

/** Options of the creation of a session. */
export interface CreateSessionOptions extends CallOptions {
  /** How long it lives without renewal, in seconds, 1 to 86,400. Default 30. */
  readonly ttlSeconds?: number | undefined;
  /** Label of who uses it, at most 256 bytes. Default: the subject of the token. */
  readonly owner?: string | undefined;
  /** For other clients to read, at most 1 KiB. Default: empty. */
  readonly metadata?: string | Uint8Array | undefined;
}

/** Options of the end of a session. */
export interface EndSessionOptions extends CallOptions {
  /** Whether to end it also if it belongs to another user; needs the access `admin`. Default false. */
  readonly force?: boolean | undefined;
}

/** Options of one page of sessions. */
export interface ListSessionsOptions extends ReadOptions {
  /** Sessions per page, 1 to 1,000. Default 100. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the page before; default: the first page. */
  readonly pageToken?: string | undefined;
}

/** How long a session lives without renewal if its options do not say, in seconds. */
const TTL_SECONDS_DEFAULT = 30;

/** The rules for the options of the calls. */
export const sessionRules = {
  create: { ...callRules, ttlSeconds: whole, owner: text, metadata: bytes },
  end: { ...callRules, force: flag },
  list: { ...readRules, pageSize: whole32, pageToken: text },
};

/** The fields of a request for a new session. */
export function creationFields(namespace: string, options: CreateSessionOptions) {
  return {
    namespace: textField("namespace", namespace),
    ttlSeconds: int64Field("ttlSeconds", options.ttlSeconds ?? TTL_SECONDS_DEFAULT),
    owner: textField("owner", options.owner ?? ""),
    metadata: bytesField("metadata", options.metadata ?? ""),
  };
}

/** The session of a request. */
export function sessionTarget(namespace: string, sessionId: number): { namespace: string; sessionId: bigint } {
  return { namespace: textField("namespace", namespace), sessionId: int64Field("sessionId", sessionId) };
}
