/**
 * Health: /livez says whether the process should be left running, /readyz (also /healthz) whether it should be sent
 * requests. Neither needs a token, and /livez never depends on a quorum: to restart a member that merely lacks one
 * makes things worse. The health port has /startupz as well: whether the process has begun to work, in whatever state.
 */

import { HttpError } from "./http-error.ts";
import { flag } from "./parameters.ts";
import { type Answer, type Route, route } from "./route.ts";

/** One thing that was looked at. */
export interface Check {
  /** In lower case with hyphens, such as `leader-contact`. */
  readonly name: string;
  readonly ok: boolean;
  /** Why it is not ok, "" if it is. One line, for people. */
  readonly reason: string;
}

/** What the HTTP port tells. */
export interface Health {
  /** What must hold for the process to be worth keeping. */
  live(): readonly Check[];
  /** What must hold for this member to serve linearizable reads now. */
  ready(): readonly Check[];
}

/** What the health port tells. */
export interface ProcessHealth extends Health {
  /** What must hold for the process to have started: until then nothing else is asked of it. */
  started(): readonly Check[];
}

/**
 * The routes of the health checks: 200 if all are ok, else 503. With `?verbose` the body is a text that lists each
 * check as `[+]name ok` or `[-]name failed: reason`, with either status.
 */
export function healthRoutes(health: Health): readonly Route[] {
  const live = () => health.live();
  const ready = () => health.ready();
  return [
    healthRoute("/livez", "getLiveness", "Whether the process should be left running", live),
    healthRoute("/readyz", "getReadiness", "Whether this member serves requests", ready),
    healthRoute("/healthz", "getHealth", "The same as /readyz", ready),
  ];
}

/** Whoever has started the process asks for this, and nobody else. */
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
    query: { verbose: flag("Whether to list each check, also where one failed") },
    success: { status: 200, description: "All is well", types: ["text/plain"] },
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
  return { text: list(checks), type, status: error.status, headers: Object.fromEntries(error.headers) };
}

function list(checks: readonly Check[]): string {
  return `${checks.map(line).join("\n")}\n`;
}

function line(check: Check): string {
  return check.ok ? `[+]${check.name} ok` : `[-]${check.name} failed: ${check.reason}`;
}
