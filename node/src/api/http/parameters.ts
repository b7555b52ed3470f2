/**
 * Parameters of routes: texts in paths, queries and headers, each read by one rule and described by one schema.
 *
 * A parameter is read from the bytes that the request has for it, percent-decoded where it stands in a URL, so that
 * nothing is lost on the way: some are bytes and no text, some are numbers above what a number holds. Messages name the
 * parameter and never repeat the value.
 */

import type { HttpErrorCode } from "./http-error.ts";

/** A schema of JSON Schema 2020-12, as OpenAPI 3.1 has them. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Parameter<Value> {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** The code for a value that is refused or repeated; without it that of the place where the parameter stands. */
  readonly badCode?: HttpErrorCode;
  /** The code for one that is missing; without it the same as for a bad one. */
  readonly missingCode?: HttpErrorCode;
  /** The value; undefined = the request has none. Raises a ParameterProblem. */
  read(bytes: Buffer | undefined): Value;
}

/** The values of parameters, by name. */
export type ParameterValues<Parameters> = {
  readonly [Name in keyof Parameters]: Parameters[Name] extends Parameter<infer Value> ? Value : never;
};

/** Parameters by name. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** What is wrong with a parameter: a predicate such as "must be a UUID". */
export class ParameterProblem extends Error {}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const INTEGER = /^(0|-?[1-9][0-9]{0,18})$/;
/** What a flag may be: a boolean as JSON has it, 1 or 0, or, for true, nothing behind its name. */
const FLAG = { anyOf: [{ type: "boolean" }, { type: "string", enum: ["", "0", "1"] }], default: false };
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ["", true],
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A parameter that reads the text by a rule. Raises a problem where there is none. */
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

/** The same parameter, with a value of its own where the request has none. */
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

/** A UUID, in lower case whatever the request has. */
export function uuid(description: string): Parameter<string> {
  return required(description, { type: "string", format: "uuid" }, (text) => {
    if (!UUID.test(text)) {
      throw new ParameterProblem("must be a UUID");
    }
    return text.toLowerCase();
  });
}

/** A whole number in decimal digits, within safe integers. */
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
