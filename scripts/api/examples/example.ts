/** Examples of calls: data that the API reference shows, and that a test runs against a real member. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** A call over gRPC. Messages are in the JSON form of protocol buffers, as grpcurl reads and prints them. */
export interface GrpcExample {
  readonly kind: "grpc";
  /** The service and the method, such as `KeyValueService/GetKey`. */
  readonly method: string;
  /** One sentence about this example. */
  readonly about?: string;
  /** The port that serves the call; by default the gRPC port for clients. */
  readonly port?: "admin";
  readonly request: JsonObject;
  /** The answer, or the first messages of a stream; empty = the call is refused. */
  readonly answers: readonly JsonObject[];
  /** Whether the answer has more than the documented fields, and its lists more elements. */
  readonly isPart?: true;
  readonly refusal?: GrpcRefusal;
  /** Whether the client repeats the call until it gets this answer, because something is still in progress. */
  readonly isRepeated?: true;
}

/** How a call is refused. */
export interface GrpcRefusal {
  /** The name of the status, such as `NOT_FOUND`. */
  readonly code: string;
  /** The reason in the details of the error, such as `KEY_NOT_FOUND`. */
  readonly reason: string;
  readonly message: string;
}

/** A request over HTTP. */
export interface HttpExample {
  readonly kind: "http";
  /** The operationId in the OpenAPI document. */
  readonly operation: string;
  /** One sentence about this example. */
  readonly about?: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path and query, with the values of the example. */
  readonly target: string;
  /** Whether the request has an access token. */
  readonly isAuthorized: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON body. */
  readonly json?: JsonObject;
  /** A body of text. */
  readonly text?: string;
  /** Whether the client repeats the call until it gets this answer, because something is still in progress. */
  readonly isRepeated?: true;
  readonly answer: HttpExampleAnswer;
}

/** The answer over HTTP. It has either JSON or text. */
export interface HttpExampleAnswer {
  readonly status: number;
  /** JSON; if `isPart`, the answer has more fields than these. */
  readonly json?: JsonObject;
  /** Text; if `isPart`, lines that the answer contains among others. */
  readonly text?: string;
  readonly isPart?: true;
}

export type Example = GrpcExample | HttpExample;
