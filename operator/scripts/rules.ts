/**
 * Evaluates the CEL rules of a schema on an object, as the API server does: each rule at its own node, and rules about
 * updates only if there is an old value.
 *
 * The library knows CEL and its string functions, but not Kubernetes' extensions. Quantities are numbers here, exact
 * for all values that tests compare. Only a real API server shows whether Kubernetes admits the rules themselves.
 */
import { type CelInput, CelScalar, celEnv, celFunc, celMethod, isCelError, parse, plan } from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";
import { amountOf } from "../src/quantity/index.ts";
import type { DefinitionSchema } from "./definition.ts";

const env = celEnv({
  funcs: [
    ...strings,
    celFunc("isQuantity", [CelScalar.STRING], CelScalar.BOOL, isQuantity),
    celFunc("quantity", [CelScalar.STRING], CelScalar.DOUBLE, quantity),
    celMethod("compareTo", CelScalar.DOUBLE, [CelScalar.DOUBLE], CelScalar.INT, compare),
  ],
});

function isQuantity(text: string): boolean {
  return amountOf(text.replace(/^-/, "")) !== undefined;
}

function quantity(text: string): number {
  const amount = amountOf(text.replace(/^-/, ""));
  if (amount === undefined) {
    throw new Error(`not a quantity: ${text}`);
  }
  return text.startsWith("-") ? -amount : amount;
}

function compare(this: number, other: number): bigint {
  return BigInt(Math.sign(this - other));
}

/**
 * Items of lists have no old value, as in an API server that replaces a list as a whole.
 *
 * @returns messages of the rules that refuse the object or its update
 * @throws Error if a rule cannot be evaluated
 */
export function refusalsOf(schema: DefinitionSchema, value: unknown, oldValue?: unknown): string[] {
  if (value === undefined) {
    return [];
  }
  const here = (schema["x-kubernetes-validations"] ?? [])
    .filter(({ rule }) => oldValue !== undefined || !rule.includes("oldSelf"))
    .filter(({ rule }) => !isKept(rule, value, oldValue))
    .map(({ message }) => message);
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    refusalsOf(child, fieldOf(value, name), fieldOf(oldValue, name)),
  );
  const items = schema.items;
  const ofItems = items === undefined || !Array.isArray(value) ? [] : value.flatMap((item) => refusalsOf(items, item));
  return [...here, ...below, ...ofItems];
}

function isKept(rule: string, self: unknown, oldSelf: unknown): boolean {
  const bindings = oldSelf === undefined ? { self: toCel(self) } : { self: toCel(self), oldSelf: toCel(oldSelf) };
  const result = plan(env, parse(rule))(bindings);
  if (isCelError(result)) {
    throw new Error(`${rule}: ${result.message}`);
  }
  return result === true;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}

/** Whole numbers are `int` in the definition, never `double`. */
function toCel(value: unknown): CelInput {
  if (Array.isArray(value)) {
    return value.map(toCel);
  }
  switch (typeof value) {
    case "object":
      return value === null ? null : new Map(Object.entries(value).map(([name, child]) => [name, toCel(child)]));
    case "number":
      return BigInt(value);
    case "string":
    case "boolean":
      return value;
    default:
      throw new Error(`no value of JSON: ${typeof value}`);
  }
}
