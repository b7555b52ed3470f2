/**
 * Parameters of routes in paths, queries and headers. Each has one rule for reading it and one schema that describes
 * it.
 *
 * A parameter is read from the bytes in the request, percent-decoded if it is in a URL. So nothing is lost: some are
 * bytes that are not text, some are integers too large for a number. Messages name the parameter and never repeat the
 * value.
 */

import type { OwnHttpErrorCode } from "../answers/index.ts";

/** A schema of JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Parameter<Value> {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** The code for a bad or repeated value. Default: the code for path, query or header. */
  readonly badCode?: OwnHttpErrorCode;
  /** The code for a missing value. Default: the code for a bad value. */
  readonly missingCode?: OwnHttpErrorCode;
  /** Returns the value; `bytes` is undefined if the request has none. Throws a ParameterProblem. */
  read(bytes: Buffer | undefined): Value;
}

/** The values of parameters, by name. */
export type ParameterValues<Parameters> = {
  readonly [Name in keyof Parameters]: Parameters[Name] extends Parameter<infer Value> ? Value : never;
};

/** Parameters by name. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** An error in a parameter; its message is a predicate such as "must be a UUID". */
export class ParameterProblem extends Error {}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const INTEGER = /^(0|-?[1-9][0-9]{0,18})$/;
/** The values of a flag: a JSON boolean, 1 or 0, or the name alone for true. */
const FLAG = { anyOf: [{ type: "boolean" }, { type: "string", enum: ["", "0", "1"] }], default: false };
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ["", true],
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A parameter that reads the text by a rule. It throws a ParameterProblem if it is missing. */
export function required<Value>(
  description: string,
  schema: JsonSchema,
  read: (text: string) => Value,
): Parameter<Value> {
  return {
    description,
    schema,
    isRequired: true,
    read: (bytes) => {
      if (bytes === undefined) {
        throw new ParameterProblem("is required");
      }
      return read(textOf(bytes));
    },
  };
}

/** The same parameter, with a fallback value if the request has none. */
export function optional<Value, Fallback>(
  parameter: Parameter<Value>,
  fallback: Fallback,
): Parameter<Value | Fallback> {
  return {
    ...parameter,
    isRequired: false,
    read: (bytes) => (bytes === undefined ? fallback : parameter.read(bytes)),
  };
}

/** A UUID; its value is always in lower case. */
export function uuid(description: string): Parameter<string> {
  return required(description, { type: "string", format: "uuid" }, (text) => {
    if (!UUID.test(text)) {
      throw new ParameterProblem("must be a UUID");
    }
    return text.toLowerCase();
  });
}

/** A whole number in decimal digits, within the safe integers. */
export function integer(description: string, minimum: number, maximum: number): Parameter<number> {
  return required(description, { type: "integer", minimum, maximum }, (text) => {
    const value = INTEGER.test(text) ? Number(text) : Number.NaN;
    if (!(value >= minimum && value <= maximum)) {
      throw new ParameterProblem(`must be a whole number from ${minimum} to ${maximum}`);
    }
    return value;
  });
}

/** A flag of a query: absent = false; empty, "true" or "1" = true. */
export function flag(description: string): Parameter<boolean> {
  const given = required(description, FLAG, (text) => {
    const value = FLAGS.get(text);
    if (value === undefined) {
      throw new ParameterProblem("must be true or false");
    }
    return value;
  });
  return optional(given, false);
}

function textOf(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ParameterProblem("must be UTF-8");
  }
}
