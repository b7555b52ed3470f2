/** The complete answer to a call. */

import type { Metadata } from "@grpc/grpc-js";
import type { StatusDetails } from "@quoin/proto";

export interface Answer<Response> {
  /** Undefined if the call failed. */
  readonly response: Response | undefined;
  /** Name of the status, including `OK`. */
  readonly code: string;
  readonly message: string;
  /** Undefined if the status has none. */
  readonly details: StatusDetails | undefined;
  readonly headers: Metadata;
  readonly trailers: Metadata;
}
