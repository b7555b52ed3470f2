/** A signal that looks at the clock when a program looks at it. */

/** Calls back before each time that a program looks at a signal. */
export function watchReads(signal: AbortSignal, onRead: () => void): void {
  const read = <Name extends "aborted" | "reason">(name: Name): PropertyDescriptor => ({
    get: () => {
      onRead();
      return Reflect.get(AbortSignal.prototype, name, signal);
    },
  });
  const throwIfAborted = (): void => {
    onRead();
    AbortSignal.prototype.throwIfAborted.call(signal);
  };
  Object.defineProperties(signal, {
    aborted: read("aborted"),
    reason: read("reason"),
    throwIfAborted: { value: throwIfAborted },
  });
}
