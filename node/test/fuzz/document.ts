/** The parts of /openapi.json that requests and the checks of answers need. */

export interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

export interface DocumentedParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: JsonSchema;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly DocumentedParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** One operation, with its method and path in the document. */
export interface Operation extends DocumentedOperation {
  readonly method: string;
  readonly path: string;
}

/** Status and code of a refusal, as `400 invalid_request`. */
export type Refusal = string;

const FIRST_ERROR_STATUS = 400;

/**
 * The operations of the document, without watches, whose answers have no end, and without the methods of services, which
 * have another form of errors.
 */
export async function fetchOperations(url: string): Promise<readonly Operation[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  };
  const paths = Object.entries(document.paths).filter(([path]) => !/^\/(?:v1\/watch\/|coordination\.v1\.)/.test(path));
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

/** The status of a successful answer. */
export function successOf({ responses }: Operation): number {
  return Number(Object.keys(responses).find((status) => Number(status) < FIRST_ERROR_STATUS));
}

/** The documented refusals: the document lists the codes of each status. */
export function refusalsOf({ responses }: Operation): readonly Refusal[] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) >= FIRST_ERROR_STATUS)
    .flatMap(([status, { description }]) => description.split(", ").map((code) => `${status} ${code}`));
}
