/**
 * An error that is the answer to a client. It has no stack: to collect one takes several times as long as all else that
 * a refusal needs, and clients decide how many refusals there are.
 */
export class StacklessError extends Error {
  constructor(message: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}
