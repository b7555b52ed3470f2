/** The methods of the services in the OpenAPI document: unary calls in JSON. */

import { SERVICE_PACKAGE } from "@quoin/proto";
import { type JsonSchema, readReference, type ServiceDocument } from "../http/index.ts";
import { contractRegistry, encodeJson, fromJsonObject } from "../json/index.ts";
import { MessageSchemas } from "./message-schemas.ts";

/** A method that a client can call. */
export interface DescribedMethod {
  /** Full name, such as /coordination.v1.KeyValueService/GetKey. */
  readonly path: string;
  /** Whether its calls need a token, or only the metadata. */
  readonly checks: string;
}

const ERROR = `${SERVICE_PACKAGE}.Error`;
const ERROR_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    code: { type: "string", minLength: 1, description: "The code, such as `not_found`" },
    message: { type: "string", minLength: 1, description: "What went wrong, for people" },
    details: {
      type: "array",
      description: "What went wrong, for programs: messages of google.rpc",
      items: {
        type: "object",
        properties: {
          type: { type: "string", description: "The name of the message, such as `google.rpc.ErrorInfo`" },
          value: { type: "string", description: "The message as protobuf, in base64 without padding" },
          debug: { type: "object", description: "The same message in JSON, with the `reason`" },
        },
        required: ["type", "value", "debug"],
      },
    },
  },
  required: ["code", "message"],
};

/** The statuses of HTTP, each with the codes that have it. */
const ERRORS: readonly (readonly [number, string])[] = [
  [400, "invalid_argument, failed_precondition, out_of_range"],
  [401, "unauthenticated"],
  [403, "permission_denied"],
  [404, "not_found"],
  [409, "already_exists, aborted"],
  [415, "invalid_argument"],
  [429, "resource_exhausted"],
  [500, "internal, unknown"],
  [501, "unimplemented"],
  [503, "unavailable"],
  [504, "deadline_exceeded"],
];
const PARAMETERS: Readonly<Record<string, JsonSchema>> = {
  "Request-Id": {
    name: "Request-Id",
    in: "header",
    description: "A new UUID for each operation, the same one for all of its attempts; without it the member makes one",
    required: false,
    schema: { type: "string", format: "uuid" },
  },
  "Connect-Timeout-Ms": {
    name: "Connect-Timeout-Ms",
    in: "header",
    description: "How long the client waits for the answer, in milliseconds",
    required: false,
    schema: { type: "integer", minimum: 0, maximum: 9_999_999_999 },
  },
};
const ANSWER_HEADERS: Readonly<Record<string, JsonSchema>> = {
  "API-Version": { description: "The version of the interface", schema: { type: "string", const: "v1" } },
  "Request-Id": { description: "The id of the request", schema: { type: "string", format: "uuid" } },
};
const REPLAYED = {
  description: "Only in an answer to a retry: whether it has everything that the first answer had",
  schema: { type: "string", enum: ["true", "no-values"] },
};
const ERROR_HEADERS = {
  ...ANSWER_HEADERS,
  "Error-Reason": { description: "What went wrong, as one word for programs", schema: { type: "string" } },
  Outcome: {
    description: "Whether the request may have been executed",
    schema: { type: "string", enum: ["not-executed", "unknown"] },
  },
};
const PACKAGE = `${SERVICE_PACKAGE}.`;
const ERROR_REFERENCES = Object.fromEntries(
  ERRORS.map(([status]) => [status, { $ref: `#/components/responses/${errorName(status)}` }]),
);
const SENTENCE = /^(?:[^.]|\.(?! ))+\./;

/** Describes these methods. */
export function methodDocument(methods: readonly DescribedMethod[]): ServiceDocument {
  const { comments, methods: examples } = readReference();
  const commentOf = (name: string): string | undefined => comments[withoutPackage(name)];
  const schemas = new MessageSchemas(commentOf);
  const found = methods.map(({ path, checks }) => ({ path, checks, ...messagesOf(path) }));
  for (const { input } of found) {
    schemas.request(input);
  }
  const paths: Record<string, Readonly<Record<string, JsonSchema>>> = {};
  for (const { path, checks, service, name, input, output } of found) {
    const example = examples[withoutPackage(path.slice(1))];
    const comment = commentOf(`${service}.${name}`) ?? name;
    paths[path] = {
      post: {
        operationId: `${withoutPackage(service)}.${name}`,
        tags: [withoutPackage(service)],
        summary: SENTENCE.exec(comment)?.[0].slice(0, -1) ?? comment,
        description: comment,
        security: checks === "token" ? [{ bearer: [] }] : [],
        parameters: Object.keys(PARAMETERS).map((each) => ({ $ref: `#/components/parameters/${each}` })),
        requestBody: {
          required: true,
          content: {
            "application/json": { schema: schemas.request(input), ...(example && { example: example.request }) },
          },
        },
        responses: {
          200: {
            description: "The call has succeeded",
            headers: { ...ANSWER_HEADERS, Replayed: REPLAYED },
            content: {
              "application/json": {
                schema: schemas.response(output),
                ...(example && { example: exampleAnswer(output, example.answer) }),
              },
            },
          },
          ...ERROR_REFERENCES,
        },
      },
    };
  }
  const services = [...new Set(found.map(({ service }) => service))];
  const tags = services.map((service) => ({ name: withoutPackage(service), description: commentOf(service) ?? "" }));
  const responses = Object.fromEntries(ERRORS.map(([status, codes]) => [errorName(status), errorResponse(codes)]));
  const components = { schemas: { ...schemas.all, [ERROR]: ERROR_SCHEMA }, parameters: PARAMETERS, responses };
  return { paths, components, tags };
}

function messagesOf(path: string) {
  const [, service = "", name = ""] = path.split("/");
  const method = contractRegistry()
    .getService(service)
    ?.methods.find((each) => each.name === name);
  return { service, name, input: method?.input.typeName ?? "", output: method?.output.typeName ?? "" };
}

/** The example in the form that a client gets: with the fields that have their default, and with texts. */
function exampleAnswer(typeName: string, answer: object): unknown {
  return JSON.parse(encodeJson(typeName, fromJsonObject(typeName, answer) as object, true));
}

/** The name of the response with this status. */
function errorName(status: number): string {
  return `${ERROR}.${status}`;
}

function errorResponse(codes: string): JsonSchema {
  return {
    description: codes,
    headers: ERROR_HEADERS,
    content: { "application/json": { schema: { $ref: `#/components/schemas/${ERROR}` } } },
  };
}

function withoutPackage(name: string): string {
  return name.startsWith(PACKAGE) ? name.slice(PACKAGE.length) : name;
}
