/** Errors on the wire: `{"error": message, "code": code}`, exactly these two fields, and the reason in a header. */

import type { ServerResponse } from "node:http";
import type { HttpError } from "./http-error.ts";

/** The header with the reason: the one that gRPC and the calls in JSON have, too. */
export const REASON_HEADER = "error-reason";
export const ERROR_TYPE = "application/json; charset=utf-8";

/** Answers with the error. Without Express, which would take as long as the rest of a refusal. */
export function sendError(response: ServerResponse, error: HttpError): void {
  const body = JSON.stringify(errorBody(error));
  response.statusCode = error.status;
  response.setHeader(REASON_HEADER, error.reason);
  for (const [name, value] of error.headers) {
    response.setHeader(name, value);
  }
  // Replaces the type that a failed answer may have set.
  response.setHeader("Content-Type", ERROR_TYPE);
  response.setHeader("Content-Length", Buffer.byteLength(body));
  response.end(body);
}

/** The body of an error answer. */
export function errorBody(error: HttpError): { readonly error: string; readonly code: string } {
  return { error: error.message, code: error.code };
}
