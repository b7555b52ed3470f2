/** The methods of the services in the OpenAPI document, and both on the page for people. */

import { serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { GrpcPorts } from "../../../test/harness/index.ts";
import { docsPage, type JsonSchema, readReference, type ServiceDocument } from "../http/index.ts";
import { messagePlan } from "../json/index.ts";

interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly requestBody: { readonly content: { readonly "application/json": JsonContent } };
  readonly responses: Readonly<Record<string, { readonly content: { readonly "application/json": JsonContent } }>>;
}

interface JsonContent {
  readonly schema: { readonly $ref: string };
  readonly example: Readonly<Record<string, unknown>>;
}

const SCHEMA = "#/components/schemas/";
/** Served on the admin port only. */
const ON_ADMIN_PORT = ["Bootstrap", "ResetOwner", "Snapshot", "StartBackup"];

describe("the methods in the OpenAPI document", () => {
  let ports: GrpcPorts;
  let document: ServiceDocument;

  before(async () => {
    ports = await GrpcPorts.open();
    document = ports.publicServer.httpCalls.describe();
  });

  after(() => ports.close());

  function operations(): readonly DescribedOperation[] {
    return Object.values(document.paths).map(({ post }) => post as unknown as DescribedOperation);
  }

  it("are all unary methods that clients can call", () => {
    const unary = Object.values(serviceDefinitions)
      .flatMap((service) => Object.values(service))
      .filter(({ responseStream }) => !responseStream)
      .map(({ path }) => path)
      .filter((path) => !ON_ADMIN_PORT.some((name) => path.endsWith(`/${name}`)));
    expect(Object.keys(document.paths)).to.have.members(unary);
    expect(new Set(operations().map(({ operationId }) => operationId)).size).to.equal(unary.length);
  });

  it("each have a summary, and an example whose fields the schemas have", () => {
    for (const { operationId, summary, requestBody, responses } of operations()) {
      expect(summary, operationId).to.match(/^[A-Z].*[^.]$/);
      for (const content of [requestBody.content["application/json"], responses[200]?.content["application/json"]]) {
        const name = content?.schema.$ref.slice(SCHEMA.length) ?? "";
        const schema = document.components.schemas[name] as { readonly properties: object };
        expect(Object.keys(schema.properties), `${operationId} ${name}`).to.include.members(
          Object.keys(content?.example ?? expect.fail(`${operationId} has no example`)),
        );
      }
    }
  });

  it("have schemas with every field, each with its comment", () => {
    const { comments } = readReference();
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      if (name === "coordination.v1.Error") {
        continue;
      }
      const { properties } = schema as { readonly properties: Readonly<Record<string, JsonSchema>> };
      for (const field of messagePlan(name).fields) {
        const comment = comments[`${name.slice("coordination.v1.".length)}.${field.name}`];
        expect(properties[field.jsonName]?.description, `${name}.${field.name}`).to.equal(comment);
        expect(comment, `${name}.${field.name}`).to.be.a("string");
      }
    }
  });

  it("refer only to what the document has", () => {
    const references = JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g);
    for (const [, kind, name] of references) {
      const parts = document.components as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
      expect(parts[kind as string]).to.have.property(name as string);
    }
  });

  it("are on the page, which contains nothing active", () => {
    const page = docsPage({ ...document, paths: { ...document.paths, "/<b>": { get: EVIL } } });
    for (const { operationId } of operations()) {
      expect(page).to.include(`<section id="${operationId}">`).and.to.include(`<a href="#${operationId}">`);
    }
    expect(page).not.to.match(/<(?:script|img|iframe|link|form|b)\b|\bon\w+=|javascript:|(?:href|src)="(?!#)/);
    expect(page).to.include("/&lt;b&gt;").and.to.include("&lt;img src=x&gt;");
  });
});

/** An operation with texts that would be active if the page did not escape them. */
const EVIL = {
  operationId: '"><script>',
  tags: ["<img"],
  summary: "<img src=x>",
  security: [],
  responses: { 200: { description: "<b>", content: { "text/html": { schema: {}, example: "<script>" } } } },
};
