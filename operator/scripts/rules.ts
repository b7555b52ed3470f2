/**
 * Evaluates the CEL rules of a schema on an object, as the API server does: each rule at its own node, and rules about
 * updates only if there is an old value.
 *
 * The library knows CEL and its string functions, but not Kubernetes' extensions. Quantities are numbers here, exact
 * for all values that tests compare. Only a real API server shows whether Kubernetes admits the rules themselves.
 */
import { type CelInput, CelScalar, celEnv, celFunc, celMethod, isCelError, parse, plan } from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";
import type { DefinitionSchema } from "./definition.ts";

const QUANTITY = /^[+-]?[0-9]+(\.[0-9]*)?([KMGTPE]i|[numkMGTPE])?$/;
const POWERS_OF_TWO = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const POWERS_OF_TEN: ReadonlyMap<string, number> = new Map([
  ["n", 1e-9],
  ["u", 1e-6],
  ["m", 1e-3],
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
  ["T", 1e12],
  ["P", 1e15],
  ["E", 1e18],
]);

const env = celEnv({
  funcs: [
    ...strings,
    celFunc("isQuantity", [CelScalar.STRING], CelScalar.BOOL, (text) => QUANTITY.test(text)),
    celFunc("quantity", [CelScalar.STRING], CelScalar.DOUBLE, parseQuantity),
    celMethod("compareTo", CelScalar.DOUBLE, [CelScalar.DOUBLE], CelScalar.INT, compare),
  ],
});

function parseQuantity(text: string): number {
  if (!QUANTITY.test(text)) {
    throw new Error(`not a quantity: ${text}`);
  }
  const unit = text.replace(/^[^A-Za-z]*/, "");
  const binary = POWERS_OF_TWO.indexOf(unit);
  const factor = binary >= 0 ? 1024 ** (binary + 1) : (POWERS_OF_TEN.get(unit) ?? 1);
  return Number(text.slice(0, text.length - unit.length)) * factor;
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
