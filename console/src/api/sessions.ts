/** Sessions of clients: keys and holds that end with them. */

import type * as Proto from "@quoin/proto";
import { change, read } from "./call.ts";
import type { Json } from "./json.ts";
import { consistencyOf, type ReadOptions } from "./key-value.ts";

/** A session of a client, not that of the signed-in user. */
export type ClientSession = Json<Proto.Session>;
export type SessionHold = Json<Proto.SessionHold>;
/** A session, and what belongs to it. */
export type SessionDescription = Json<Proto.DescribeSessionResponse>;

/** One page of the sessions of a namespace, in the order of their creation. */
export async function listSessions(
  namespace: string,
  pageToken: string,
  options: ReadOptions,
): Promise<Json<Proto.ListSessionsResponse>> {
  return await read<Proto.ListSessionsRequest, Proto.ListSessionsResponse>(
    "SessionService",
    "ListSessions",
    { namespace, pageToken, consistency: consistencyOf(options) },
    options,
  );
}

export async function describeSession(
  namespace: string,
  sessionId: string,
  options: ReadOptions,
): Promise<SessionDescription> {
  return await read<Proto.DescribeSessionRequest, Proto.DescribeSessionResponse>(
    "SessionService",
    "DescribeSession",
    { namespace, sessionId, consistency: consistencyOf(options) },
    options,
  );
}

/** Ends a session with everything that belongs to it. `force`: also one of another user. */
export async function endSession(namespace: string, sessionId: string, force: boolean): Promise<void> {
  await change<Proto.EndSessionRequest, Proto.EndSessionResponse>("SessionService", "EndSession", {
    namespace,
    sessionId,
    force,
  });
}
