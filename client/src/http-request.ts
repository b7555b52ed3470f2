/**
 * Requests for tokens to the HTTP interface of a member: they carry none themselves, and are sent once.
 *
 * It uses Node's own HTTP client, because `fetch` cannot be told which authorities to trust. Redirects are not followed:
 * secrets are sent to no address but the given ones.
 */

import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { QuoinError, type QuoinErrorCode } from "./quoin-error.ts";
import { type TlsOptions, toNodeTls } from "./tls.ts";

/** What to ask. */
export interface HttpQuestion {
  readonly path: string;
  /** Sent as JSON. */
  readonly body: object;
  readonly tls?: TlsOptions | undefined;
  readonly timeoutMs: number;
}

/** What was answered. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** More than any answer has; it bounds what a wrong address can make this side read. */
const maxAnswerBytes = 1_024 * 1_024;

/** The request was never sent. */
const neverSentCodes: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"]);

const codes: ReadonlyMap<number, QuoinErrorCode> = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [409, "FAILED_PRECONDITION"],
  [429, "RESOURCE_EXHAUSTED"],
  [504, "DEADLINE_EXCEEDED"],
  [507, "RESOURCE_EXHAUSTED"],
]);

/**
 * Asks one endpoint, a URL of which only the origin counts.
 *
 * @throws QuoinError UNAVAILABLE when there is no answer; its outcome says whether the request may have been executed.
 */
export function askHttp(endpoint: string, { path, body, tls, timeoutMs }: HttpQuestion): Promise<HttpAnswer> {
  const url = new URL(path, endpoint);
  const text = JSON.stringify(body);
  const options = {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": Buffer.byteLength(text) },
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
  } as const;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(unanswered(url.origin, error));
    const request =
      url.protocol === "https:"
        ? requestHttps(url, { ...options, ...toNodeTls(tls ?? {}) })
        : requestHttp(url, options);
    request.on("error", fail);
    request.once("response", (response) => {
      let answer = "";
      response.setEncoding("utf8");
      response.on("error", fail);
      response.on("data", (chunk: string) => {
        answer += chunk;
        if (answer.length > maxAnswerBytes) response.destroy(new Error("the answer is too large"));
      });
      response.once("end", () => resolve({ status: response.statusCode ?? 0, body: answer }));
    });
    request.end(text);
  });
}

/** The refusal that an answer is, for what was asked. */
export function httpRefusal(endpoint: string, path: string, { status, body }: HttpAnswer): QuoinError {
  const answer = parseObject(body);
  const message = answer.get("error");
  const reason = answer.get("code");
  return new QuoinError({
    // This reason is that of a path which the service does not have.
    code: reason === "not_found" ? "UNIMPLEMENTED" : (codes.get(status) ?? (status >= 500 ? "UNAVAILABLE" : "UNKNOWN")),
    reason: typeof reason === "string" ? reason.toUpperCase() : undefined,
    outcome: status >= 500 && status !== 503 && status !== 507 ? "unknown" : "not-executed",
    message: typeof message === "string" ? message : `${endpoint} answered POST ${path} with HTTP status ${status}`,
  });
}

/** The fields of a JSON object; none when the text is something else, as from a server that is not a member. */
export function parseObject(text: string): ReadonlyMap<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
  } catch (error) {
    if (error instanceof SyntaxError) return new Map();
    throw error;
  }
}

function unanswered(origin: string, cause: Error): QuoinError {
  const neverSent = "code" in cause && neverSentCodes.has(cause.code);
  return new QuoinError({
    code: "UNAVAILABLE",
    outcome: neverSent ? "not-executed" : "unknown",
    message: `no answer from ${origin}: ${cause.message}`,
    cause,
  });
}
