/** Makes the calls of the API reference at a member: gRPC with messages in JSON, as grpcurl does, and HTTP as curl does. */

import {
  createFileRegistry,
  type DescMethod,
  type DescService,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { MethodDefinition } from "@grpc/grpc-js";
import { readDescriptorSet } from "@quoin/proto";
import type { GrpcExample, GrpcRefusal, HttpExample, Json } from "../../../scripts/api/index.ts";
import { GrpcCaller, type Listening } from "../harness/index.ts";

const PACKAGE = "coordination.v1";
/** Far more than any call takes, also on a slow machine. */
const DEADLINE_MS = 60_000;
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readDescriptorSet()));

/** Tokens of the calls; "" = none yet. */
interface Credentials {
  readonly access: string;
  readonly admin: string;
}

/** What came back over gRPC: answers, or a refusal. */
export interface GrpcOutcome {
  readonly answers: readonly Json[];
  readonly refusal: GrpcRefusal | null;
}

/** What came back over HTTP; `json` is null unless the answer is JSON. */
export interface HttpOutcome {
  readonly status: number;
  readonly json: Json;
  readonly text: string;
}

/** Calls a method. Of a stream it reads as many messages as the example has answers, and cancels the rest. */
export async function callGrpc(
  listening: Listening,
  { access, admin }: Credentials,
  { method: name, port, request, answers }: GrpcExample,
): Promise<GrpcOutcome> {
  const method = methodOf(name);
  const isAdmin = port === "admin";
  const headers = { authorization: `Bearer ${isAdmin ? admin : access}`, "api-version": "v1" };
  const caller = new GrpcCaller(isAdmin ? listening.admin : listening.grpc, new Map(Object.entries(headers)));
  const message = fromJson(method.input, request as JsonValue, { registry });
  try {
    if (method.methodKind === "server_streaming") {
      const stream = caller.stream(definitionOf(method), message);
      const received = await stream.until("the answers", (messages) => messages.length >= answers.length && messages);
      stream.cancel();
      return { answers: received.slice(0, answers.length).map((answer) => jsonOf(method, answer)), refusal: null };
    }
    const {
      response,
      code,
      reason,
      message: text,
    } = await caller.call(definitionOf(method), message, {
      timeoutMs: DEADLINE_MS,
    });
    return response === undefined
      ? { answers: [], refusal: { code, reason, message: text } }
      : { answers: [jsonOf(method, response)], refusal: null };
  } finally {
    caller.close();
  }
}

/** Sends a request, and returns the answer whatever its status is. */
export async function callHttp(
  { http }: Listening,
  { access }: Credentials,
  { method, target, isAuthorized, headers = {}, json, text, answer }: HttpExample,
): Promise<HttpOutcome> {
  const body = json === undefined ? text : JSON.stringify(json);
  const response = await fetch(`http://${http}${target}`, {
    method,
    headers: {
      ...(isAuthorized ? { authorization: `Bearer ${access}` } : {}),
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      // curl names this type for every other body.
      ...(text === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const received = await textOf(response, answer.text ?? "");
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return { status: response.status, json: isJson ? JSON.parse(received) : null, text: received };
}

/** The text of the answer. A stream of events never ends: it is read until it has as many events as the example. */
async function textOf(response: Response, example: string): Promise<string> {
  if (response.headers.get("content-type") !== "text/event-stream") {
    return response.text();
  }
  const count = example.split("\n\n").length;
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    // The first block only shows that the stream is open.
    const [, ...events] = text.split("\n\n").slice(0, -1);
    if (events.length >= count) {
      return events.slice(0, count).join("\n\n");
    }
  }
  return text;
}

function methodOf(name: string): DescMethod {
  const [serviceName, methodName] = name.split("/");
  const service: DescService | undefined = registry.getService(`${PACKAGE}.${serviceName}`);
  const method = service?.methods.find((candidate) => candidate.name === methodName);
  if (method === undefined) {
    throw new Error(`the contract has no method ${name}`);
  }
  return method;
}

function definitionOf({ parent, name, input, output, methodKind }: DescMethod): MethodDefinition<Message, Message> {
  return {
    path: `/${parent.typeName}/${name}`,
    requestStream: false,
    responseStream: methodKind === "server_streaming",
    requestSerialize: (message) => Buffer.from(toBinary(input, message)),
    requestDeserialize: (bytes) => fromBinary(input, bytes),
    responseSerialize: (message) => Buffer.from(toBinary(output, message)),
    responseDeserialize: (bytes) => fromBinary(output, bytes),
  };
}

function jsonOf({ output }: DescMethod, message: Message): Json {
  return toJson(output, message, { registry }) as Json;
}
