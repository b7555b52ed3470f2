/** The reply of a method as a promise: it connects the callbacks of methods to the handlers of routes. */

import { CoordinationError, type Replayed } from "../../../state/index.ts";
import type { Reply } from "../../methods/index.ts";

/** Names of fields that have another name over HTTP, where they are parameters of the query, or the body. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["page_token", "cursor"],
  ["payload", "body"],
  ["payloads", "body"],
  ["from_ms", "from"],
  ["to_ms", "to"],
  ["expires_in_seconds", "expires_in_secs"],
]);

/** Resolves to the response, which may be null. Rejects with the refusal, or with any other error, which is a bug. */
export async function methodAnswer<Response extends object | null>(
  call: (reply: Reply<Response>) => void,
): Promise<Response> {
  return (await methodReply(call)).answer;
}

/** The same, with whether it is the answer to a request that was executed before. */
export function methodReply<Response extends object | null>(
  call: (reply: Reply<Response>) => void,
): Promise<{ readonly answer: Response; readonly replayed: Replayed }> {
  return new Promise((resolve, reject) => {
    call((answer, replayed) => {
      if (answer instanceof Error) {
        reject(named(answer));
      } else {
        resolve({ answer, replayed });
      }
    });
  });
}

/** The refusal of a field by its name over HTTP. */
function named(error: Error): Error {
  const field = error instanceof CoordinationError ? error.details.get("field") : undefined;
  const name = field === undefined ? undefined : NAMES.get(field);
  if (!(error instanceof CoordinationError) || name === undefined) {
    return error;
  }
  const message = error.message.replace(field as string, name);
  return new CoordinationError(error.reason, message, { details: new Map([...error.details, ["field", name]]) });
}
