/**
 * Turns failures of the HTTP interface into QuoinErrors: their codes and their reasons are those of gRPC. The detail
 * `http_code` is the code of HTTP.
 */

import type { IncomingHttpHeaders } from "node:http";
import { QuoinError, type QuoinErrorCode, type QuoinReason } from "../errors/index.ts";

/** A complete answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const CODES_BY_STATUS: ReadonlyMap<number, QuoinErrorCode> = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [405, "UNIMPLEMENTED"],
  [409, "FAILED_PRECONDITION"],
  [410, "OUT_OF_RANGE"],
  [413, "INVALID_ARGUMENT"],
  [415, "INVALID_ARGUMENT"],
  [429, "RESOURCE_EXHAUSTED"],
  [500, "INTERNAL"],
  [501, "UNIMPLEMENTED"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
  [507, "RESOURCE_EXHAUSTED"],
]);

/** Codes of gRPC, by code of HTTP, if the status alone does not show them. */
const CODES_BY_HTTP_CODE: ReadonlyMap<string, QuoinErrorCode> = new Map([
  ["fenced", "ABORTED"],
  ["already_exists", "ALREADY_EXISTS"],
]);

/**
 * The reasons of members up to 0.1.0, which do not send them, by code of HTTP. A code that is not here has the same word
 * as its reason, or several reasons; it stays, in capitals.
 */
const REASONS_BY_HTTP_CODE: ReadonlyMap<string, QuoinReason> = new Map([
  ["invalid_request", "BAD_FIELD"],
  ["unauthorized", "TOKEN_INVALID"],
  ["insufficient_role", "ACCESS_DENIED"],
  ["key_not_found", "API_KEY_NOT_FOUND"],
  ["payload_too_large", "TOO_LARGE"],
  ["timeout", "DEADLINE"],
  ["internal_error", "INTERNAL"],
]);

const MS_PER_SECOND = 1_000;

/** The error of an unsuccessful answer: its outcome is certain unless the status says that it is unknown. */
export function failureOf({ status, headers, body }: HttpAnswer, endpoint: string): QuoinError {
  const fields = parseObject(body);
  const error = fields.get("error");
  const told = fields.get("code");
  const httpCode = typeof told === "string" ? told : "";
  const reason = headers["error-reason"];
  const details = [
    ["http_code", httpCode],
    ["last_sequence", headers["last-sequence"]],
    ["compact_revision", headers["compact-revision"]],
  ].filter((detail): detail is [string, string] => typeof detail[1] === "string" && detail[1] !== "");
  const retryAfterSeconds = Number(headers["retry-after"]);
  return new QuoinError({
    code: CODES_BY_HTTP_CODE.get(httpCode) ?? CODES_BY_STATUS.get(status) ?? "UNKNOWN",
    reason: typeof reason === "string" ? reason : (REASONS_BY_HTTP_CODE.get(httpCode) ?? httpCode.toUpperCase()),
    outcome: status === 500 || status === 504 || !CODES_BY_STATUS.has(status) ? "unknown" : "not-executed",
    message: typeof error === "string" ? error : `${endpoint} answered with HTTP status ${status}`,
    details: new Map(details),
    ...(retryAfterSeconds > 0 && { retryDelayMs: retryAfterSeconds * MS_PER_SECOND }),
  });
}

/** Whether a retry may get another answer. */
export function isPassing({ code, reason, details }: QuoinError): boolean {
  return code === "UNAVAILABLE" || reason === "RATE_LIMITED" || details.get("http_code") === "timeout";
}

/** The fields of a JSON object; empty for anything else, as from a server that is not a member. */
export function parseObject(body: Buffer): ReadonlyMap<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
  } catch (error) {
    if (error instanceof SyntaxError) {
      return new Map();
    }
    throw error;
  }
}
