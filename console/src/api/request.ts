/**
 * One request to the member that served the page.
 *
 * It carries the token. If the member refuses that, the request waits until the user has signed in again, and is sent
 * once more, unless another user has signed in: that user must not do what this one asked for. A request that may be repeated is repeated while the member has no leader or does not answer.
 */

import { signal } from "@preact/signals";
import { currentToken, currentUser, renewed } from "../session/index.ts";
import { type ApiError, errorOfResponse, offlineError } from "./api-error.ts";
import { pause } from "./pause.ts";

export interface RequestOptions {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
  readonly signal?: AbortSignal;
  /** Whether a second execution would do no harm. */
  readonly isRepeatable?: boolean;
  /** Whether to send no token, as for a sign-in. */
  readonly isAnonymous?: boolean;
}

/** The console is served at `console/` below the address of the member, which may itself have a path. */
const BASE = new URL("../", document.baseURI);
/** Enough for two elections in a row. */
const ATTEMPTS_MAX = 5;
const FIRST_PAUSE_MS = 300;

/** Whether the last request got an answer. */
export const isReachable = signal(true);

/** Returns a successful answer. Throws an ApiError, or the reason of the signal. */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const { isRepeatable = (options.method ?? "GET") === "GET", isAnonymous = false, signal } = options;
  const userId = currentUser.peek()?.userId;
  for (let attempt = 1; ; attempt++) {
    const token = isAnonymous ? null : currentToken();
    const answer = await send(path, options, token);
    if (answer instanceof Response) {
      return answer;
    }
    if (answer.isUnauthorized && token !== null) {
      await renewed(token);
      signal?.throwIfAborted();
      if (currentUser.peek()?.userId !== userId) {
        throw answer;
      }
      continue;
    }
    if (!(isRepeatable && answer.isPassing && attempt < ATTEMPTS_MAX)) {
      throw answer;
    }
    await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1));
    signal?.throwIfAborted();
  }
}

/** Like `request`, with a JSON body and a JSON answer. */
export async function requestJson<Answer>(
  path: string,
  body?: object,
  options: Omit<RequestOptions, "body"> = {},
): Promise<Answer> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { "Content-Type": "application/json" };
  const headers = { Accept: "application/json", ...type, ...options.headers };
  const response = await request(path, { ...options, ...json, headers });
  return (await response.json()) as Answer;
}

async function send(path: string, options: RequestOptions, token: string | null): Promise<Response | ApiError> {
  const { method = "GET", headers = {}, body, signal } = options;
  const authorization = token === null ? {} : { Authorization: `Bearer ${token}` };
  let response: Response;
  try {
    response = await fetch(new URL(path, BASE), {
      method,
      headers: { ...headers, ...authorization },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
      cache: "no-store",
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
  } catch {
    signal?.throwIfAborted();
    isReachable.value = false;
    return offlineError();
  }
  isReachable.value = true;
  return response.ok ? response : await errorOfResponse(response);
}
