/** Requests that an operation must accept, made from the document's description of it. */

import type { RandomStream } from "../../verify/sim/index.ts";
import type { DocumentedParameter, JsonSchema, Operation } from "./document.ts";
import type { Fixtures } from "./fixtures.ts";

/** A request as it is written, one character for each byte. */
export interface WrittenRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** Valid values of fields that no schema describes, by name: for a login, and for all other operations. */
export interface RightValues {
  readonly logIn: Readonly<Record<string, unknown>>;
  readonly other: Readonly<Record<string, unknown>>;
}

/** Parameters that requests leave out: a cursor, the status of a user, another user's keys, waiting. */
const LEFT_OUT: ReadonlySet<string> = new Set(["cursor", "status", "user_id", "wait_secs"]);
const INTEGERS_MAX = 1_000;
const DIGITS = 36;

/** A request that the operation answers with success. Objects that it deletes are created first. */
export async function validRequest(
  operation: Operation,
  random: RandomStream,
  fixtures: Fixtures,
  right: RightValues,
): Promise<WrittenRequest> {
  const { method, parameters = [], requestBody, security } = operation;
  const [contentType] = Object.keys(requestBody?.content ?? {});
  const body = contentType === undefined ? "" : bodyOf(contentType, operation, random, right);
  const headers: (readonly [string, string])[] = [
    ["Host", new URL(fixtures.url).host],
    ...(security.length > 0 ? [["Authorization", `Bearer ${fixtures.token}`] as const] : []),
    ...(contentType === undefined ? [] : [["Content-Type", contentType] as const]),
    ...(method === "GET" ? [] : [["Content-Length", String(body.length)] as const]),
  ];
  for (const parameter of parameters) {
    if (parameter.in === "header" && parameter.required) {
      headers.push([parameter.name, random.word().toString(DIGITS)]);
    }
  }
  headers.push(["Connection", "close"]);
  return { method, target: await targetOf(operation, random, fixtures), headers, body };
}

async function targetOf({ method, path, parameters = [] }: Operation, random: RandomStream, fixtures: Fixtures) {
  let target = path;
  for (const { name } of parameters.filter((parameter) => parameter.in === "path")) {
    target = target.replace(`{${name}}`, await fixtures.idFor(name, method === "DELETE"));
  }
  const query = parameters
    .filter((parameter) => parameter.in === "query" && isAsked(parameter, random))
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema, random, {})))}`);
  return query.length === 0 ? target : `${target}?${query.join("&")}`;
}

/** Whether to send the parameter. A text without a described value would name an object that does not exist. */
function isAsked({ name, required, schema }: DocumentedParameter, random: RandomStream): boolean {
  const isText = schema.type === "string" && schema.enum === undefined;
  return required || (!LEFT_OUT.has(name) && !isText && random.chance(1 / 2));
}

function bodyOf(
  contentType: string,
  operation: Operation,
  random: RandomStream,
  { logIn, other }: RightValues,
): string {
  const right = operation.operationId === "logIn" ? logIn : other;
  const schema = operation.requestBody?.content[contentType]?.schema ?? {};
  if (contentType === "application/json") {
    return Buffer.from(JSON.stringify(exampleOf(schema, random, right))).toString("latin1");
  }
  return Buffer.from(random.bytes(random.whole(1, 64))).toString("latin1");
}

function exampleOf(schema: JsonSchema, random: RandomStream, right: RightValues["other"]): unknown {
  const { anyOf, properties = {}, required = [], minimum = 0, maximum = INTEGERS_MAX } = schema;
  if (anyOf !== undefined) {
    return exampleOf(random.pick(anyOf) ?? {}, random, right);
  }
  if (schema.enum !== undefined) {
    return random.pick(schema.enum);
  }
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(properties)
          .filter(([name]) => required.includes(name) || (!LEFT_OUT.has(name) && random.chance(1 / 2)))
          .map(([name, of]) => [
            name,
            name in right && of.type !== "null" ? right[name] : exampleOf(of, random, right),
          ]),
      );
    case "integer":
      return random.whole(minimum, Math.min(maximum, minimum + INTEGERS_MAX));
    case "boolean":
      return random.chance(1 / 2);
    case "null":
      return null;
    case "string":
      return random.word().toString(DIGITS);
    default:
      throw new Error(`no value is known for ${JSON.stringify(schema)}`);
  }
}
