/**
 * The HTTP interface as an Express application: declared routes, and around them what every answer has in common.
 *
 * Every answer carries `API-Version: v1` and says that nobody is to guess what it is; whatever is not a route is 404 or,
 * with another method, 405; whatever is thrown becomes one error answer, and a bug is reported as well.
 */

import express, { type Express, type NextFunction, type Request, type Response } from "express";
import type { Access } from "../../access/index.ts";
import type { Clock } from "../../replica/index.ts";
import { BODY_IDLE_MS, BodyBudget, type BodyLimits } from "./body.ts";
import { ClientAddresses } from "./client-addresses.ts";
import { COMMON_HEADERS } from "./common-headers.ts";
import { type Health, healthRoutes, type ProcessHealth, startupRoute } from "./health.ts";
import { HttpError, httpErrorOf } from "./http-error.ts";
import { type Metrics, metricsRoute } from "./metrics.ts";
import { openApiRoute } from "./openapi.ts";
import type { HttpLimiters } from "./rate-limiting.ts";
import { requestIdOf } from "./request-observer.ts";
import type { Route } from "./route.ts";
import { RouteServer } from "./route-server.ts";
import { sendError } from "./send-error.ts";
import { tokenExchangeRoute } from "./token-exchange.ts";
import { splitTarget } from "./url-encoding.ts";

/**
 * Told of every error that no rule of the interface foresees, after the client's answer was decided. Where it is a
 * broken invariant, the process must end.
 */
export type ReportBug = (error: unknown, requestId: string) => void;

interface ApplicationOptions {
  readonly access: Access;
  readonly clock: Clock;
  readonly limiters: HttpLimiters;
  /** By default, no proxy is trusted. */
  readonly clients?: ClientAddresses;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly reportBug: ReportBug;
}

export interface HttpApplicationOptions extends ApplicationOptions {
  /** What clients are served beside tokens, health and the document of the interface. */
  readonly routes?: readonly Route[];
}

export interface HealthApplicationOptions extends ApplicationOptions {
  readonly health: ProcessHealth;
}

/** Bytes of bodies that are held at a time, by all requests together: 25 of the largest. */
const BODY_BYTES_MAX = 256 * 1024 * 1024;
/** Far above what clients and whatever stands between send. */
const HEADERS_MAX = 100;
/** A year: who has once spoken TLS to this name never speaks plain text to it again. */
const STRICT_TRANSPORT = "max-age=31536000";

/** Everything that the HTTP port serves. */
export function createHttpApplication({ routes = [], ...options }: HttpApplicationOptions): Express {
  const { access, limiters, health, metrics } = options;
  const served = [tokenExchangeRoute(access, limiters), ...routes, ...healthRoutes(health), metricsRoute(metrics)];
  return createApplication(options, [...served, openApiRoute(served)]);
}

/** What the health port serves: the health checks, and metrics. */
export function createHealthApplication(options: HealthApplicationOptions): Express {
  const { health, metrics } = options;
  return createApplication(options, [startupRoute(health), ...healthRoutes(health), metricsRoute(metrics)]);
}

function createApplication(
  { access, clock, limiters, clients = new ClientAddresses(), reportBug }: ApplicationOptions,
  routes: readonly Route[],
): Express {
  const bodies: BodyLimits = { budget: new BodyBudget(BODY_BYTES_MAX), idleMs: BODY_IDLE_MS };
  const application = express();
  application.disable("x-powered-by");
  application.disable("etag");
  application.set("query parser", "simple");
  application.use(prepare);
  application.use(
    new RouteServer({ access, clock, limiter: limiters.http, clients, bodies, reportBug }).router(routes),
  );
  return finish(application, reportBug);
}

/** What every answer says, and what every request must be before its route is looked for. */
function prepare(request: Request, response: Response, next: NextFunction): void {
  response.set(COMMON_HEADERS);
  if ("encrypted" in request.socket) {
    response.set("Strict-Transport-Security", STRICT_TRANSPORT);
  }
  if (request.rawHeaders.length > 2 * HEADERS_MAX) {
    throw new HttpError("invalid_request", `a request must have at most ${HEADERS_MAX} headers`);
  }
  const hosts = request.headersDistinct.host ?? [];
  if (hosts.length > 1) {
    throw new HttpError("invalid_request", "the Host header is repeated");
  }
  if (request.httpVersion === "1.1" && hosts.length === 0) {
    throw new HttpError("invalid_request", "the Host header is missing");
  }
  // Express would decode parameters of the path while it looks for the route, which is before anybody is asked who
  // they are, and refuse what it cannot decode: here they are left as they are, to be decoded when it is their turn.
  const { path, query } = splitTarget(request);
  request.url = path.replaceAll("%", "%25") + (query === "" ? "" : `?${query}`);
  next();
}

function finish(application: Express, reportBug: ReportBug): Express {
  application.use((request) => {
    throw new HttpError("not_found", `there is nothing at ${splitTarget(request).path}`);
  });
  // Express tells error handlers by their four parameters.
  application.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const { answer, bug } = httpErrorOf(error);
    if (response.headersSent) {
      // Half an answer is out: all that is left is to let the client see that it is not whole.
      response.destroy();
    } else {
      sendError(response, answer);
    }
    if (bug) {
      reportBug(error, requestIdOf(request));
    }
  });
  return application;
}
