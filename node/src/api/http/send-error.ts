/** Errors on the wire: `{"error": message, "code": code}`, exactly these two fields, and the reason in a header. */

import type { Response } from "express";
import type { HttpError } from "./http-error.ts";

/** The header with the reason: the one that gRPC and the calls in JSON have, too. */
export const REASON_HEADER = "error-reason";

/** Answers with the error. */
export function sendError(response: Response, error: HttpError): void {
  response.status(error.status).set(REASON_HEADER, error.reason);
  for (const [name, value] of error.headers) {
    response.set(name, value);
  }
  // Replaces the type that a failed answer may have set.
  response.type("json").json(errorBody(error));
}

/** The body of an error answer. */
export function errorBody(error: HttpError): { readonly error: string; readonly code: string } {
  return { error: error.message, code: error.code };
}
