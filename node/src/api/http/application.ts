/**
 * The HTTP interface as an Express application: routes, and around them what every answer has in common.
 *
 * Every answer carries `API-Version: v1`; whatever is not a route is 404 or, with another method, 405; whatever is
 * thrown becomes one error answer, and a bug is reported as well.
 */

import express, { type Express, type NextFunction, type Request, type Response } from "express";
import type { Access } from "../../access/index.ts";
import type { Clock } from "../../replica/index.ts";
import { API_VERSION } from "./api-version.ts";
import { type Health, healthRoutes } from "./health.ts";
import { HttpError, httpErrorOf } from "./http-error.ts";
import { type Metrics, metricsRoutes } from "./metrics.ts";
import { requestIdOf } from "./request-observer.ts";
import { sendError } from "./send-error.ts";
import { tokenExchangeRoutes } from "./token-exchange.ts";

/**
 * Told of every error that no rule of the interface foresees, after the client's answer was decided. Where it is a
 * broken invariant, the process must end.
 */
export type ReportBug = (error: unknown, requestId: string) => void;

interface ApplicationOptions {
  readonly health: Health;
  readonly metrics: Metrics;
  readonly reportBug: ReportBug;
}

export interface HttpApplicationOptions extends ApplicationOptions {
  readonly access: Access;
  readonly clock: Clock;
}

export type HealthApplicationOptions = ApplicationOptions;

/** Everything that the HTTP port serves. */
export function createHttpApplication(options: HttpApplicationOptions): Express {
  const application = createApplication();
  application.use(tokenExchangeRoutes(options.access, options.clock));
  application.use(healthRoutes(options.health));
  application.use(metricsRoutes(options.metrics));
  return finish(application, options.reportBug);
}

/** What the health port serves: the health checks, and metrics. */
export function createHealthApplication(options: HealthApplicationOptions): Express {
  const application = createApplication();
  application.use(healthRoutes(options.health));
  application.use(metricsRoutes(options.metrics));
  return finish(application, options.reportBug);
}

function createApplication(): Express {
  const application = express();
  application.disable("x-powered-by");
  application.disable("etag");
  application.set("query parser", "simple");
  application.use((request, response, next) => {
    response.set(API_VERSION.name, API_VERSION.value);
    if (request.httpVersion === "1.1" && request.headers.host === undefined) {
      throw new HttpError("invalid_request", "the Host header is missing");
    }
    next();
  });
  return application;
}

function finish(application: Express, reportBug: ReportBug): Express {
  application.use((request) => {
    throw new HttpError("not_found", `there is nothing at ${request.path}`);
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
