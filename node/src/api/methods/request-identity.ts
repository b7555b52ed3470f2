/**
 * By what retries of an administrator's calls are recognised. What such a call becomes may hold what was made for it,
 * such as a new key, or leave out the method: so the decoded message is hashed, encoded again in its one canonical form
 * (fields by number, no defaults, nothing unknown). Calls of this kind are rare.
 */

import { createHash } from "node:crypto";
import type { MessageCodec } from "@quoin/proto";
import type { RequestIdentity } from "../../state/index.ts";
import type { Call } from "./call.ts";

/** A method of administrators, and how its message is encoded. */
export interface RecognisedMethod<Request> {
  readonly name: string;
  readonly codec: MessageCodec<Request>;
  /** The message with what has no order in one order; without it, nothing in the message is of that kind. */
  readonly inOrder?: (request: Request) => Request;
}

/** The identity of the request, null for a call that has no request id. */
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
