/**
 * Serves declared routes, each request by the same steps in the order of the contract: route (404, 405), token (401),
 * rate limit (429), rights (403), path, headers and query (400), announced size (413), necessary resource (404), body
 * (400, 413 while counting), handler. So a client without rights learns nothing about what exists (S43). A body that
 * the headers already show to be refused is not read.
 *
 * The application answers everything that is thrown on the way. A request is answered once, at its deadline at the
 * latest; later answers are dropped.
 */

import { type Request, type RequestHandler, type Response, Router } from "express";
import type { Access, RateLimiter } from "../../../access/index.ts";
import { invariant } from "../../../primitives/index.ts";
import type { Clock } from "../../../replica/index.ts";
import { CoordinationError, type RequiredAccess } from "../../../state/index.ts";
import { HttpError, httpErrorOf, splitTarget } from "../answers/index.ts";
import {
  BearerAuthentication,
  type BodyLimits,
  type ClientAddresses,
  checkBodyHeaders,
  HttpCall,
  type Parameters,
  parseJson,
  readBytes,
  requestIdOf,
  type ServiceRequest,
  takeOne,
  traceIdOf,
} from "../requests/index.ts";
import { sendAnswer } from "./answer.ts";
import { changesNothing, type Route, type RouteInput } from "./route.ts";
import { readInput } from "./route-input.ts";

export interface RouteServerOptions {
  readonly access: Pick<Access, "authenticate" | "authorize" | "recheck">;
  readonly clock: Clock;
  readonly limiter: RateLimiter;
  readonly clients: ClientAddresses;
  readonly bodies: BodyLimits;
  /** Called for bugs that occur after the answer. */
  readonly reportBug: (error: unknown, requestId: string, traceId?: string) => void;
}

/** Default time from the end of the body to the answer; also the time for the steps before the body. */
const DEADLINE_MS = 10_000;
/** At the deadline the handler itself reports the outcome; the answer waits this much longer for the report. */
const DEADLINE_GRACE_MS = 250;
const PATH_PARAMETER = /\{([a-z_]+)\}/g;

/** The arguments of a handler. */
interface HandlerInput {
  readonly input: RouteInput<Parameters, Parameters, Parameters, unknown>;
  readonly found: unknown;
}

export class RouteServer {
  readonly #options: RouteServerOptions;
  readonly #bearer: BearerAuthentication;

  constructor(options: RouteServerOptions) {
    this.#options = options;
    this.#bearer = new BearerAuthentication(options.access, () => this.#nowMs() + DEADLINE_MS);
  }

  /** Returns the routes as a router of Express. */
  router(routes: readonly Route[]): Router {
    const router = Router({ caseSensitive: true, strict: true });
    routes.forEach(requireDeclaredPath);
    for (const [path, ofPath] of Map.groupBy(routes, ({ path }) => path)) {
      const place = router.route(path.replace(PATH_PARAMETER, ":$1"));
      for (const route of ofPath) {
        place[methodOf(route)]((request: Request, response: Response) => this.#serve(route, request, response));
      }
      place.all(methodNotAllowed(allowedMethods(ofPath)));
    }
    return router;
  }

  async #serve(route: Route, request: Request, response: Response): Promise<void> {
    (request as ServiceRequest).limitsFailures = route.limitsFailures === true;
    const call = new HttpCall(this.#options, response, this.#nowMs() + DEADLINE_MS);
    if (route.isSecret === true) {
      response.set("Cache-Control", "no-store");
    }
    const prepared = await this.#prepare(route, call, request, response).catch((error: unknown) => {
      // Even if the outcome of a step is unknown, the handler was not called.
      throw isOutcomeUnknown(error) ? notAnswered() : error;
    });
    await this.#answer(route, call, prepared, response);
  }

  /** Makes all steps before the handler, and returns its arguments. */
  async #prepare(route: Route, call: HttpCall, request: Request, response: Response): Promise<HandlerInput> {
    const { limiter, bodies } = this.#options;
    if (route.access !== "none") {
      call.caller = await this.#bearer.authenticate(request, response);
      this.#options.clients.connectionOf(request).verified(call.principal.subject);
      takeOne(response, "default", limiter, call.principal.subject);
      await call.authorize(requiredAccessOf(route, request, call));
    } else if (route.addressLimiter !== undefined) {
      try {
        takeOne(response, "address", route.addressLimiter, call.client);
      } catch (error) {
        // The server notes every other answer that is a refusal.
        if (route.limitsFailures === true) {
          this.#options.clients.connectionOf(request).noteRefusal();
        }
        throw error;
      }
    }
    const input = readInput(route, request);
    const body = route.body ?? { mode: "none" };
    if (body.mode !== "none") {
      checkBodyHeaders(request, body.mode, body.bytesMax);
    }
    const found = await route.find?.(call, input);
    const client = route.access === "none" ? call.client : call.principal.subject;
    const bytes =
      body.mode === "none"
        ? undefined
        : await readBytes(request, response, { ...bodies, client, bytesMax: body.bytesMax });
    call.deadlineMs = this.#nowMs() + (route.deadlineMs?.(input) ?? DEADLINE_MS);
    const value = body.mode === "json" && bytes !== undefined ? parseJson(bytes, body.schema) : bytes;
    return { input: { ...input, body: value }, found };
  }

  /** Answers with what the handler returns or throws, or at the deadline, whichever is first. */
  async #answer(route: Route, call: HttpCall, { input, found }: HandlerInput, response: Response): Promise<void> {
    const { promise: deadline, reject } = Promise.withResolvers<never>();
    let isLate = false;
    const timer = setTimeout(
      () => {
        isLate = true;
        reject(deadlineError(route));
        call.close();
      },
      call.deadlineMs - this.#nowMs() + DEADLINE_GRACE_MS,
    );
    const { req } = response;
    const reportBug = (error: unknown) => this.#options.reportBug(error, requestIdOf(req), traceIdOf(req));
    const handled = (async () => route.handle(call, input, found))();
    handled.catch((error: unknown) => {
      if (isLate && httpErrorOf(error).bug) {
        reportBug(error);
      }
    });
    try {
      const answer = await Promise.race([handled, deadline]);
      sendAnswer(response, route.success.status, answer, reportBug);
    } catch (error) {
      throw isOutcomeUnknown(error) ? deadlineError(route) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

/** A path parameter that is not declared would never be read. */
function requireDeclaredPath({ path, pathParameters = {} }: Route): void {
  const names = [...path.matchAll(PATH_PARAMETER)].map(([, name]) => name);
  const isDeclared = names.join() === Object.keys(pathParameters).join();
  invariant(isDeclared, "a route declares the parameters of its path, in their order", () => path);
}

function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof CoordinationError && error.outcome === "unknown";
}

/** A route that changes nothing has executed nothing; for any other route the outcome is unknown. */
function deadlineError(route: Route): HttpError {
  return changesNothing(route)
    ? notAnswered()
    : new HttpError("timeout", "the request could not be answered in time; it is not known whether it was executed");
}

function notAnswered(): HttpError {
  return new HttpError("unavailable", "the request could not be answered in time", [], "DEADLINE");
}

function requiredAccessOf(
  { access, ownUser }: Route,
  request: Request,
  { principal }: HttpCall,
): RequiredAccess | null {
  if (access === "none" || access === "token") {
    return null;
  }
  const isOwn = ownUser !== undefined && String(request.params[ownUser]).toLowerCase() === principal.subject;
  return isOwn ? null : { namespace: null, access };
}

function methodOf({ method }: Route): "get" | "post" | "patch" | "delete" {
  switch (method) {
    case "GET":
      return "get";
    case "POST":
      return "post";
    case "PATCH":
      return "patch";
    case "DELETE":
      return "delete";
  }
}

/** The methods in the form of the Allow header. */
function allowedMethods(routes: readonly Route[]): string {
  const methods: string[] = routes.map(({ method }) => method);
  return [...methods, ...(methods.includes("GET") ? ["HEAD"] : [])].join(", ");
}

/** Refuses every other method of a path. The refusal contains the information that OPTIONS asks for. */
function methodNotAllowed(allowed: string): RequestHandler {
  return (request) => {
    const { path } = splitTarget(request);
    throw new HttpError("method_not_allowed", `${request.method} is not a method of ${path}: use ${allowed}`, [
      ["Allow", allowed],
    ]);
  };
}
