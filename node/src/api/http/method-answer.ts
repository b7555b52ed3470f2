/** What a method replies, as a promise: the way from the callbacks of methods to the handlers of routes. */

import type { Reply } from "../methods/index.ts";

/** Resolves to the response, which may be null; rejects with the refusal, or with the error that is a bug. */
export function methodAnswer<Response extends object | null>(ask: (reply: Reply<Response>) => void): Promise<Response> {
  return new Promise((resolve, reject) => {
    ask((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
  });
}
