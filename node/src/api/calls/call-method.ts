import type { MethodCalls } from "./call-observer.ts";

/** What the headers of a call must have: a token and the metadata of the contract, the metadata alone, or nothing. */
export type HeaderChecks = "token" | "metadata" | "none";

/** What all calls of a gRPC method on a host share. */
export interface CallMethod {
  /** Full name, such as /coordination.v1.KeyValueService/PutKey. */
  readonly path: string;
  /** Whether a request may have any number of messages. */
  readonly requestStream: boolean;
  /** Whether an answer may have any number of messages. */
  readonly responseStream: boolean;
  readonly checks: HeaderChecks;
  /** The counts of its calls. */
  readonly calls: MethodCalls;
}
