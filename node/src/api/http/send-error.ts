/** Errors on the wire: `{"error": message, "code": code}`, exactly these two fields. */

import type { Response } from "express";
import type { HttpError } from "./http-error.ts";

/** Answers with the error. */
export function sendError(response: Response, error: HttpError): void {
  response.status(error.status);
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
