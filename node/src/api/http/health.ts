/**
 * Health: /livez says whether the process should be left running, /readyz (also /healthz) whether it should be sent
 * requests. Neither needs a token, and /livez never depends on a quorum: to restart a member that merely lacks one
 * makes things worse.
 */

import { type Response, Router } from "express";
import { HttpError } from "./http-error.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { setStatus } from "./send-error.ts";

/** One thing that was looked at. */
export interface Check {
  /** In lower case with hyphens, such as `leader-contact`. */
  readonly name: string;
  readonly ok: boolean;
  /** Why it is not ok, "" if it is. One line, for people. */
  readonly reason: string;
}

export interface Health {
  /** What must hold for the process to be worth keeping. */
  live(): readonly Check[];
  /** What must hold for this member to serve linearizable reads now. */
  ready(): readonly Check[];
}

/**
 * The routes of the health checks: 200 if all are ok, else 503. With `?verbose` the body is a text that lists each
 * check as `[+]name ok` or `[-]name failed: reason`, with either status.
 */
export function healthRoutes(health: Health): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const looks = new Map([
    ["/livez", () => health.live()],
    ["/readyz", () => health.ready()],
    ["/healthz", () => health.ready()],
  ]);
  for (const [path, look] of looks) {
    router
      .route(path)
      .get((request, response) => answer(response, path, look(), request.query.verbose !== undefined))
      .all(methodNotAllowed("GET, HEAD"));
  }
  return router;
}

function answer(response: Response, path: string, checks: readonly Check[], verbose: boolean): void {
  const failed = checks.filter((check) => !check.ok);
  response.set("Cache-Control", "no-store");
  if (failed.length > 0) {
    const reasons = failed.map(({ name, reason }) => `${name} (${reason})`).join(", ");
    const error = new HttpError("unavailable", `${path} failed: ${reasons}`);
    if (!verbose) {
      throw error;
    }
    setStatus(response, error);
  }
  response.type("text/plain").send(verbose ? `${checks.map(line).join("\n")}\n` : "ok\n");
}

function line(check: Check): string {
  return check.ok ? `[+]${check.name} ok` : `[-]${check.name} failed: ${check.reason}`;
}
