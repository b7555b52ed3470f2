/**
 * The identity by which a member recognises retries of an administrator's call. The operation of such a call may
 * contain generated data, such as a new key, or may not name the method. So the identity is a hash of the decoded
 * message, encoded again in its canonical form (fields by number, no defaults, no unknown fields). Such calls are rare,
 * so the cost is low.
 */

import { createHash } from "node:crypto";
import type { MessageCodec } from "@quoin/proto";
import type { RequestIdentity } from "../../state/index.ts";
import type { Call } from "./call.ts";

/** A method of administrators, and the codec of its message. */
export interface RecognisedMethod<Request> {
  readonly name: string;
  readonly codec: MessageCodec<Request>;
  /** Sorts the fields that have no order of their own. Absent = the message has no such field. */
  readonly inOrder?: (request: Request) => Request;
}

/** Returns the identity of the request; null for a call without a request id. */
export function requestIdentity<Request>(
  call: Call,
  { name, codec, inOrder }: RecognisedMethod<Request>,
  request: Request,
): RequestIdentity | null {
  if (!call.hasRequestId) {
    return null;
  }
  const message = codec.encode(inOrder === undefined ? request : inOrder(request)).finish();
  // The name ends at the first NUL, so no two methods and messages have the same bytes.
  return {
    requestId: call.requestId(),
    payloadHash: createHash("sha256").update(`${name}\0`).update(message).digest(),
  };
}
