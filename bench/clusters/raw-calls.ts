/** Calls of gRPC as bytes, for a generator of load that knows no message of any system. */

export interface RawCall {
  /** Full name of the method, such as /package.Service/Method. */
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A header that needs a new UUID with each call; "" = none does. */
  readonly requestIdHeader: string;
  /** The message. Its key stands in it as it is. */
  readonly body: Uint8Array;
}

/** The calls of a system for keys. */
export interface RawCalls {
  put(key: string, value: Buffer): RawCall;
  /** Reads linearizably. */
  get(key: string): RawCall;
}
