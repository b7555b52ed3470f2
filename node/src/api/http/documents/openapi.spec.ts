import { readFileSync } from "node:fs";
import { expect } from "chai";

type Schema = Readonly<Record<string, unknown>>;

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const DOCUMENT = new URL("../../../../../docs/api/openapi.json", import.meta.url);

/** The objects in a schema that take any names, by their paths. */
function openObjects(schema: Schema, path: string): string[] {
  const { properties = {}, additionalProperties, anyOf = [], items } = schema;
  const inner = [
    ...Object.entries(properties as Readonly<Record<string, Schema>>),
    ...(anyOf as readonly Schema[]).map((each) => ["", each] as const),
    ...(items === undefined ? [] : [["[]", items as Schema] as const]),
  ];
  return [
    ...(schema.type === "object" && additionalProperties !== false ? [path] : []),
    ...inner.flatMap(([name, each]) => openObjects(each, `${path}.${name}`)),
  ];
}

describe("the OpenAPI document", () => {
  it("has no route whose body takes names that it does not know", () => {
    const { paths }: OpenApi = JSON.parse(readFileSync(DOCUMENT, "utf8"));
    const bodies = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ operationId, requestBody }) => {
        const schema = requestBody?.content["application/json"]?.schema;
        return schema === undefined ? [] : [{ operationId, schema }];
      });
    expect(bodies.length).to.be.greaterThan(6);
    expect(bodies.flatMap(({ operationId, schema }) => openObjects(schema, operationId))).to.deep.equal([]);
  });
});
