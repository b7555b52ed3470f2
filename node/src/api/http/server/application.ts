/**
 * The HTTP interface as an Express application: declared routes, and the parts that all answers share.
 *
 * Every answer has `API-Version: v1` and forbids browsers to guess its type. An unknown path is 404; another method of
 * a known path is 405. Everything that is thrown becomes one error answer, and a bug is reported as well.
 */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import express, { type Express, type NextFunction, type Request, type Response, Router } from "express";
import type { Access, RateLimiter, RateLimiters } from "../../../access/index.ts";
import { beginningOf } from "../../../primitives/index.ts";
import type { Clock } from "../../../replica/index.ts";
import { COMMON_HEADERS, HttpError, httpErrorOf, sendError, splitTarget } from "../answers/index.ts";
import { type ConsoleFiles, consoleRouter, openApiRoutes, type ServiceDocument } from "../documents/index.ts";
import {
  BODY_IDLE_MS,
  BodyBudget,
  type BodyLimits,
  ClientAddresses,
  requestIdOf,
  type ServiceRequest,
  takeOne,
  traceIdOf,
} from "../requests/index.ts";
import { type Route, RouteServer } from "../routing/index.ts";
import { CrossOrigin } from "./cross-origin.ts";
import { type Health, healthRoutes, type ProcessHealth, startupRoute } from "./health.ts";
import { type Metrics, metricsRoute } from "./metrics.ts";

/**
 * Called for every unexpected error, after the client's answer was decided. If the error is a broken invariant, the
 * process must end.
 */
export type ReportBug = (error: unknown, requestId: string, traceId?: string) => void;

interface ApplicationOptions {
  readonly access: Access;
  readonly clock: Clock;
  readonly limiters: Pick<RateLimiters, "http" | "openRequests">;
  /** By default, no proxy is trusted. */
  readonly clients?: ClientAddresses;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly reportBug: ReportBug;
}

/** Serves the methods of the services beside the routes. */
export interface ServiceCalls {
  /** Answers a request for a method of a service. Returns false, and does nothing, for any other request. */
  serve(request: ServiceRequest, response: ServerResponse): boolean;
  /** The methods in the OpenAPI document. */
  describe(): ServiceDocument;
}

export interface HttpApplicationOptions extends ApplicationOptions {
  /** The methods of the services; absent = none is served. */
  readonly calls?: ServiceCalls;
  /** Which pages of other origins may call. By default none. */
  readonly crossOrigin?: CrossOrigin;
  /** Routes for clients, besides health and the OpenAPI document. */
  readonly routes?: readonly Route[];
  /** The web console; absent = it is not served. */
  readonly consoleFiles?: ConsoleFiles;
}

export interface HealthApplicationOptions extends ApplicationOptions {
  readonly health: ProcessHealth;
}

/** Maximum bytes of bodies in memory, for all requests together: 25 of the largest. */
const BODY_BYTES_MAX = 256 * 1024 * 1024;
/** Far above the number that clients and proxies send. */
const HEADERS_MAX = 100;
/** A year: a browser that has used TLS for this name uses no unencrypted HTTP for it. */
const STRICT_TRANSPORT = "max-age=31536000";

/** Everything that the HTTP port serves. */
export function createHttpApplication({
  routes = [],
  calls,
  consoleFiles,
  crossOrigin = new CrossOrigin([]),
  ...options
}: HttpApplicationOptions): RequestListener {
  const { clock, limiters, health, metrics } = options;
  const { openRequests } = limiters;
  const { clients = new ClientAddresses() } = options;
  const limited = (routes: readonly Route[]) => routes.map((route) => limitedIfOpen(route, openRequests));
  const served = [
    ...limited(routes),
    // Load balancers share the addresses of others, and must never take a healthy member for a sick one.
    ...healthRoutes(health),
    ...limited([metricsRoute(metrics, clock)]),
  ];
  const pages = Router().use((request, response, next) => {
    takeOne(response, "address", openRequests, clients.of(request));
    next();
  });
  if (consoleFiles !== undefined) {
    pages.use(consoleRouter(consoleFiles));
  }
  const application = createApplication(
    { ...options, clients },
    [...served, ...limited(openApiRoutes(served, calls))],
    [pages],
  );
  return (request, response) => {
    if (!crossOrigin.serve(request, response) && calls?.serve(request, response) !== true) {
      application(request, response);
    }
  };
}

/** A route that needs no token, and has no limit of its own, gets this one. */
function limitedIfOpen(route: Route, openRequests: RateLimiter): Route {
  return route.access === "none" ? { addressLimiter: openRequests, ...route } : route;
}

/** Everything that the health port serves: the health checks and the metrics. */
export function createHealthApplication(options: HealthApplicationOptions): Express {
  const { clock, health, metrics } = options;
  return createApplication(options, [startupRoute(health), ...healthRoutes(health), metricsRoute(metrics, clock)]);
}

function createApplication(
  { access, clock, limiters, clients = new ClientAddresses(), reportBug }: ApplicationOptions,
  routes: readonly Route[],
  pages: readonly Router[] = [],
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
  for (const page of pages) {
    application.use(page);
  }
  return finish(application, reportBug);
}

/**
 * Sets the headers of every answer, and makes the checks of every request before its route is searched. Throws an
 * HttpError.
 */
export function prepareAnswer(request: IncomingMessage, response: ServerResponse): void {
  for (const [name, value] of COMMON_HEADERS) {
    response.setHeader(name, value);
  }
  if ("encrypted" in request.socket) {
    response.setHeader("Strict-Transport-Security", STRICT_TRANSPORT);
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
}

function prepare(request: Request, response: Response, next: NextFunction): void {
  prepareAnswer(request, response);
  // Express would decode path parameters while it searches for the route, before authentication, and refuse what it
  // cannot decode. This keeps them encoded; they are decoded in their turn.
  const { path, query } = splitTarget(request);
  request.url = path.replaceAll("%", "%25") + (query === "" ? "" : `?${query}`);
  next();
}

function finish(application: Express, reportBug: ReportBug): Express {
  application.use((request) => {
    throw new HttpError("not_found", `there is nothing at ${beginningOf(splitTarget(request).path)}`);
  });
  // Express recognises error handlers by their four parameters.
  application.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const { answer, bug } = httpErrorOf(error);
    if (response.headersSent) {
      // A part of the answer is sent: closing the connection shows the client that it is incomplete.
      response.destroy();
    } else {
      sendError(response, answer);
    }
    if (bug) {
      reportBug(error, requestIdOf(request), traceIdOf(request));
    }
  });
  return application;
}
