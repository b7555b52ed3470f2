import type { MethodCalls } from "./call-observer.ts";

/** What all calls of a gRPC method on a host share. */
export interface CallMethod {
  /** Full name, such as /coordination.v1.KeyValueService/PutKey. */
  readonly path: string;
  /** Whether a request may have any number of messages. */
  readonly requestStream: boolean;
  /** Whether an answer may have any number of messages. */
  readonly responseStream: boolean;
  /** Whether its calls need a token. */
  readonly needsToken: boolean;
  /** The counts of its calls. */
  readonly calls: MethodCalls;
}
