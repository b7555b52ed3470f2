/**
 * Generates node/src/api/http/documents/reference.json: the texts of the API reference that every member serves, in its OpenAPI
 * document and at /docs. They are the comments of the contract, and one example for each call. With --check it only
 * compares, and exits with 1 if the file is stale. Exits with 2 on wrong use.
 */

import { generate } from "../generated/index.ts";
import { type ContractFile, readContract } from "./contract.ts";
import { EXAMPLES, type GrpcExample, type HttpExample } from "./examples/index.ts";

await generate({
  script: "scripts/api/member-texts.ts",
  files: async () => {
    const comments = Object.fromEntries((await readContract()).flatMap(commentsOf));
    const texts = { comments, methods: methodExamples(), operations: operationExamples() };
    return new Map([["node/src/api/http/documents/reference.json", `${JSON.stringify(texts, null, 2)}\n`]]);
  },
  complaint: "does not have the present comments and examples: run npm run docs:api",
});

/** The comments by name, such as `GetKeyRequest.namespace`; without the package. */
function commentsOf({ services, messages, enums }: ContractFile): (readonly [string, string])[] {
  return [
    ...services.flatMap(({ name, comment, methods }) => [
      [name, comment] as const,
      ...methods.map((method) => [`${name}.${method.name}`, method.comment] as const),
    ]),
    ...messages.flatMap(({ name, comment, fields }) => [
      [name, comment] as const,
      ...fields.map((field) => [`${name}.${field.name}`, field.comment] as const),
    ]),
    ...enums.flatMap(({ name, comment, values }) => [
      [name, comment] as const,
      ...values.map((value) => [`${name}.${value.name}`, value.comment] as const),
    ]),
  ].filter(([, comment]) => comment !== "");
}

/** The first call of each method that succeeds, if possible on the port for clients. */
function methodExamples() {
  const usable = EXAMPLES.filter(
    (example): example is GrpcExample => example.kind === "grpc" && example.refusal === undefined,
  );
  const [forClients, others] = [undefined, "admin"].map((port) => usable.filter((example) => example.port === port));
  return firstByName([...(forClients ?? []), ...(others ?? [])], ({ method, request, answers }) => [
    method,
    { request, answer: answers[0] ?? {} },
  ]);
}

function operationExamples() {
  const usable = EXAMPLES.filter((example): example is HttpExample => example.kind === "http");
  return firstByName(usable, ({ operation, target, headers = {}, json, text, answer }) => {
    const request = {
      target,
      headers,
      ...(json === undefined ? {} : { json }),
      ...(text === undefined ? {} : { text }),
    };
    const { isPart: _, status, ...body } = answer;
    return [operation, { request, answer: body, status }];
  });
}

function firstByName<Item, Value>(
  items: readonly Item[],
  entryOf: (item: Item) => readonly [string, Value],
): Readonly<Record<string, Value>> {
  return Object.fromEntries(items.map(entryOf).reverse());
}
