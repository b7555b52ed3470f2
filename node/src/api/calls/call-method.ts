/** The properties of a gRPC method that do not depend on what it does. */
export interface CallMethod {
  /** Full name, such as /coordination.v1.KeyValueService/PutKey. */
  readonly path: string;
  /** Whether a request may have any number of messages. */
  readonly requestStream: boolean;
  /** Whether an answer may have any number of messages. */
  readonly responseStream: boolean;
}
