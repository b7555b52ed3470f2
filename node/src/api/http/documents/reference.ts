/** The texts of the API reference: comments of the contract, and an example of each call. Generated, see docs:api. */

import { readFileSync } from "node:fs";

export interface Reference {
  /** By name without the package, such as `GetKeyRequest.namespace`. */
  readonly comments: Readonly<Record<string, string>>;
  /** By service and method, such as `KeyValueService/GetKey`, in the JSON form of protocol buffers. */
  readonly methods: Readonly<Record<string, { readonly request: object; readonly answer: object }>>;
  /** By operationId. */
  readonly operations: Readonly<Record<string, OperationExample>>;
}

export interface OperationExample {
  readonly request: {
    /** Path and query. */
    readonly target: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly json?: unknown;
    readonly text?: string;
  };
  readonly status: number;
  readonly answer: { readonly json?: unknown; readonly text?: string };
}

let reference: Reference | undefined;

/** Reads the file once, and only if a client asks for what needs it. */
export function readReference(): Reference {
  reference ??= JSON.parse(readFileSync(new URL("reference.json", import.meta.url), "utf8")) as Reference;
  return reference;
}
