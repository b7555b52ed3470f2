/** The API reference in docs/api: its examples, and the comparison of their answers with those of a real member. */

export { ExampleValues } from "./example-values.ts";
export type { Example, GrpcExample, GrpcRefusal, HttpExample, Json, JsonObject } from "./examples/index.ts";
export { EXAMPLES } from "./examples/index.ts";
export { anchorOf } from "./markdown.ts";
