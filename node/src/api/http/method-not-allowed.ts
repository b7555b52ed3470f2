/** What a path answers to the methods that it does not have. */

import type { RequestHandler } from "express";
import { HttpError } from "./http-error.ts";

/** Refuses with method_not_allowed; `allowed` lists the methods of the path as the Allow header does. */
export function methodNotAllowed(allowed: string): RequestHandler {
  return (request) => {
    throw new HttpError("method_not_allowed", `${request.method} is not a method of ${request.path}: use ${allowed}`, [
      ["Allow", allowed],
    ]);
  };
}
