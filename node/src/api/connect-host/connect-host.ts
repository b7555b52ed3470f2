/**
 * Serves the methods of the services over HTTP by the Connect protocol: `POST /coordination.v1.KeyValueService/GetKey`,
 * with JSON or protobuf.
 *
 * The methods, their handlers and the checks of calls are those of gRPC. This folder only reads requests and writes
 * answers.
 */

import type { ServerResponse } from "node:http";
import { beginningOf, invariant } from "../../primitives/index.ts";
import {
  type CallHandler,
  type CallPort,
  type CallStatus,
  plainStatus,
  type ServedMethod,
  status,
} from "../calls/index.ts";
import {
  type ClientAddresses,
  HttpError,
  prepareAnswer,
  type ServiceCalls,
  type ServiceDocument,
  type ServiceRequest,
  splitTarget,
} from "../http/index.ts";
import { connectError, httpStatusOf } from "./connect-error.ts";
import { contentTypeOf, contentTypesOf } from "./connect-headers.ts";
import type { ConnectMethod } from "./connect-method.ts";
import { methodDocument } from "./method-document.ts";
import { StreamConnectCall } from "./stream-connect-call.ts";
import { UnaryConnectCall } from "./unary-connect-call.ts";

export interface ConnectHostOptions extends CallPort {
  readonly clients: ClientAddresses;
  /** What the paths of all methods begin with, such as `/coordination.v1.`. */
  readonly pathPrefix: string;
}

const METHOD_NOT_ALLOWED = 405;
const UNSUPPORTED_MEDIA_TYPE = 415;

export class ConnectHost implements ServiceCalls {
  readonly #options: ConnectHostOptions;
  readonly #methods = new Map<string, ConnectMethod>();

  constructor(options: ConnectHostOptions) {
    this.#options = options;
  }

  /** Serves methods of the contract. */
  addMethods(methods: readonly ServedMethod[]): void {
    for (const { definition, responseCodec, checks, mayWait, handler } of methods) {
      const { path, requestStream, responseStream, responseSerialize: serialize } = definition;
      invariant(!requestStream, "every method of the contract has one message in its request");
      invariant(
        path.startsWith(this.#options.pathPrefix),
        "the paths of all methods begin in the same way",
        () => path,
      );
      const calls = this.#options.observer.callsOf({ path, responseStream, mayWait });
      this.#methods.set(path, {
        path,
        requestStream,
        responseStream,
        checks,
        calls,
        serialize,
        responseCodec,
        handler: handler as CallHandler<unknown>,
      });
    }
  }

  serve(request: ServiceRequest, response: ServerResponse): boolean {
    const { url = "" } = request;
    if (!url.startsWith(this.#options.pathPrefix)) {
      return false;
    }
    const { path, query } = splitTarget(request);
    const method = this.#methods.get(path);
    if (method !== undefined) {
      request.calls = method.calls;
    }
    try {
      prepareAnswer(request, response);
    } catch (error) {
      invariant(error instanceof HttpError, "preparing an answer throws only refusals");
      refuse(response, plainStatus(status.INVALID_ARGUMENT, error.message));
      return true;
    }
    if (method === undefined) {
      refuse(
        response,
        plainStatus(status.UNIMPLEMENTED, `The server does not implement the method ${beginningOf(path)}`),
      );
    } else {
      this.#call(method, request, response, query);
    }
    return true;
  }

  describe(): ServiceDocument {
    // A method without checks is one that another port serves; it only answers where.
    return methodDocument(
      [...this.#methods.values()].filter((method) => method.checks !== "none" && !method.responseStream),
    );
  }

  #call(method: ConnectMethod, request: ServiceRequest, response: ServerResponse, query: string): void {
    const { path, responseStream } = method;
    if (request.method !== "POST") {
      response.setHeader("Allow", "POST");
      refuse(response, plainStatus(status.UNIMPLEMENTED, `${path} takes only POST`), METHOD_NOT_ALLOWED);
      return;
    }
    const type = contentTypeOf(request.headers["content-type"]);
    if (type === null || type.isStream !== responseStream) {
      const types = contentTypesOf(responseStream);
      response.setHeader("Accept-Post", types);
      const problem = plainStatus(status.INVALID_ARGUMENT, `the Content-Type of ${path} must be one of ${types}`);
      refuse(response, problem, UNSUPPORTED_MEDIA_TYPE);
      return;
    }
    if (query !== "") {
      const message = `${path} takes no query: ${beginningOf(query)} belongs into the body`;
      refuse(response, plainStatus(status.INVALID_ARGUMENT, message));
      return;
    }
    request.isLogged = true;
    const ConnectCall = responseStream ? StreamConnectCall : UnaryConnectCall;
    const connection = this.#options.clients.connectionOf(request);
    new ConnectCall(this.#options, method, connection, type, request, response).begin();
  }
}

/** Answers a request that is not a call of a method. */
function refuse(response: ServerResponse, answer: CallStatus, code = httpStatusOf(answer)): void {
  response.statusCode = code;
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify(connectError(answer)));
}
