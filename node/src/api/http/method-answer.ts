/** The reply of a method as a promise: it connects the callbacks of methods to the handlers of routes. */

import type { Reply } from "../methods/index.ts";

/** Resolves to the response, which may be null. Rejects with the refusal, or with any other error, which is a bug. */
export function methodAnswer<Response extends object | null>(
  call: (reply: Reply<Response>) => void,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    call((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
  });
}
