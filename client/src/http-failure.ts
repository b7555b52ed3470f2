/**
 * Turns failures of the HTTP interface into QuoinErrors: their codes are those of gRPC, their reasons the codes of
 * HTTP.
 */

import type { IncomingHttpHeaders } from "node:http";
import { QuoinError, type QuoinErrorCode } from "./quoin-error.ts";

/** A complete answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const codesByStatus: ReadonlyMap<number, QuoinErrorCode> = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [405, "UNIMPLEMENTED"],
  [409, "FAILED_PRECONDITION"],
  [413, "INVALID_ARGUMENT"],
  [415, "INVALID_ARGUMENT"],
  [429, "RESOURCE_EXHAUSTED"],
  [500, "INTERNAL"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
  [507, "RESOURCE_EXHAUSTED"],
]);

/** Reasons whose code the status alone does not show. */
const codesByReason: ReadonlyMap<string, QuoinErrorCode> = new Map([
  ["FENCED", "ABORTED"],
  ["ALREADY_EXISTS", "ALREADY_EXISTS"],
]);

const msPerSecond = 1_000;

/** The error of an unsuccessful answer: its outcome is certain unless the status says that it is unknown. */
export function failureOf({ status, headers, body }: HttpAnswer, endpoint: string): QuoinError {
  const fields = parseObject(body);
  const error = fields.get("error");
  const code = fields.get("code");
  const reason = typeof code === "string" ? code.toUpperCase() : "";
  const lastSequence = headers["last-sequence"];
  const retryAfterSeconds = Number(headers["retry-after"]);
  return new QuoinError({
    code: codesByReason.get(reason) ?? codesByStatus.get(status) ?? "UNKNOWN",
    reason,
    outcome: status === 500 || status === 504 || !codesByStatus.has(status) ? "unknown" : "not-executed",
    message: typeof error === "string" ? error : `${endpoint} answered with HTTP status ${status}`,
    ...(typeof lastSequence === "string" && { details: new Map([["last_sequence", lastSequence]]) }),
    ...(retryAfterSeconds > 0 && { retryDelayMs: retryAfterSeconds * msPerSecond }),
  });
}

/** Whether a retry may get another answer. */
export function isPassing({ code, reason }: QuoinError): boolean {
  return code === "UNAVAILABLE" || reason === "RATE_LIMITED" || reason === "TIMEOUT";
}

/** The fields of a JSON object; empty for anything else, as from a server that is not a member. */
export function parseObject(body: Buffer): ReadonlyMap<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
  } catch (error) {
    if (error instanceof SyntaxError) return new Map();
    throw error;
  }
}
