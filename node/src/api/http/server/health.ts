/**
 * Health checks. /livez answers whether the process should keep running, /readyz (also /healthz) whether it should get
 * requests. Neither needs a token. /livez never depends on a quorum: the restart of a member that only lacks a quorum
 * makes things worse. The health port also has /startupz: whether the process has started, in any state.
 */

import { HttpError, REASON_HEADER } from "../answers/index.ts";
import { flag } from "../requests/index.ts";
import { type Answer, type Route, route } from "../routing/index.ts";

/** One check. */
export interface Check {
  /** In lower case with hyphens, such as `leader-contact`. */
  readonly name: string;
  readonly ok: boolean;
  /** Why it failed; "" if it is ok. One line, for people. */
  readonly reason: string;
}

/** The checks of the HTTP port. */
export interface Health {
  /** Checks that must be ok for the process to keep running. */
  live(): readonly Check[];
  /** Checks that must be ok for this member to serve linearizable reads now. */
  ready(): readonly Check[];
}

/** The checks of the health port. */
export interface ProcessHealth extends Health {
  /** Checks that must be ok for the process to count as started. Until then the other checks do not matter. */
  started(): readonly Check[];
}

/**
 * The routes of the health checks: 200 if all are ok, else 503. With `?verbose` the body lists each check as text, as
 * `[+]name ok` or `[-]name failed: reason`, with either status.
 */
export function healthRoutes(health: Health): readonly Route[] {
  const live = () => health.live();
  const ready = () => health.ready();
  return [
    healthRoute("/livez", "getLiveness", "Whether the process should keep running", live),
    healthRoute("/readyz", "getReadiness", "Whether this member serves requests", ready),
    healthRoute("/healthz", "getHealth", "The same as /readyz", ready),
  ];
}

/** The route for the program that has started the process, such as a kubelet. */
export function startupRoute(health: ProcessHealth): Route {
  return healthRoute("/startupz", "getStartup", "Whether the process has started", () => health.started());
}

function healthRoute(path: string, operationId: string, summary: string, look: () => readonly Check[]): Route {
  return route({
    method: "GET",
    path,
    operationId,
    summary,
    access: "none",
    query: { verbose: flag("Whether to list each check, even if one failed") },
    success: { status: 200, description: "All checks are ok", types: ["text/plain"] },
    isSecret: true,
    handle: (_call, { query }) => answer(path, look(), query.verbose),
  });
}

function answer(path: string, checks: readonly Check[], verbose: boolean): Answer<never> {
  const failed = checks.filter((check) => !check.ok);
  const type = "text/plain";
  if (failed.length === 0) {
    return { text: verbose ? list(checks) : "ok\n", type };
  }
  const reasons = failed.map(({ name, reason }) => `${name} (${reason})`).join(", ");
  const error = new HttpError("unavailable", `${path} failed: ${reasons}`);
  if (!verbose) {
    throw error;
  }
  const headers = { ...Object.fromEntries(error.headers), [REASON_HEADER]: error.reason };
  return { text: list(checks), type, status: error.status, headers };
}

function list(checks: readonly Check[]): string {
  return `${checks.map(line).join("\n")}\n`;
}

function line(check: Check): string {
  return check.ok ? `[+]${check.name} ok` : `[-]${check.name} failed: ${check.reason}`;
}
