/** gRPC calls as bytes, for a load generator that knows no messages of any system. */

export interface RawCall {
  /** Full name of the method, such as /package.Service/Method. */
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A header that needs a new UUID with each call; "" = none. */
  readonly requestIdHeader: string;
  /** The message. It contains its key as plain bytes. */
  readonly body: Uint8Array;
}

/** The calls of a system for keys. */
export interface RawCalls {
  put(key: string, value: Buffer): RawCall;
  /** Reads linearizably. */
  get(key: string): RawCall;
}
