/** The parts of the OpenAPI document that more than one file here makes or reads. */

import type { JsonSchema } from "../requests/index.ts";

/** What services add to the document. */
export interface ServiceDocument {
  /** Operations by path and method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, JsonSchema>>;
  };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
}

/** The document, as far as its readers here need it. */
export type OpenApiDocument = JsonSchema & {
  readonly tags: ServiceDocument["tags"];
  readonly paths: ServiceDocument["paths"];
  readonly components: ServiceDocument["components"] & JsonSchema;
};
