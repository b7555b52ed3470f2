/** A method of gRPC as those see it who need not know what it does. */
export interface CallMethod {
  /** Full name, such as /coordination.v1.KeyValueService/PutKey. */
  readonly path: string;
  /** Whether a request may have any number of messages. */
  readonly requestStream: boolean;
  /** Whether an answer may. */
  readonly responseStream: boolean;
}
