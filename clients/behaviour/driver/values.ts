/** The values of scenarios: references to what is known, long texts, and expectations. */

/** A problem that fails a scenario, in words for its author. */
export class ScenarioFailure extends Error {}

/** Decoded YAML or JSON. */
export type Value =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly Value[]
  | { readonly [name: string]: Value };

/** Names and what they stand for. */
export type Variables = Map<string, Value>;

const WHOLE_REFERENCE = /^\$([a-z_][a-z0-9_]*(?:\.[a-z0-9_]+)*)$/i;
const REFERENCE_WITHIN = /\$\{([a-z_][a-z0-9_]*(?:\.[a-z0-9_]+)*)\}/gi;

/** Whether a value is an object with names. */
export function isRecord(value: unknown): value is Record<string, Value> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value with everything that it refers to; `{ repeat, times }` becomes a long text. Throws a ScenarioFailure for an unknown name. */
export function resolve(value: Value, variables: Variables): Value {
  if (typeof value === "string") {
    const [, path] = WHOLE_REFERENCE.exec(value) ?? [];
    return path === undefined
      ? value.replaceAll(REFERENCE_WITHIN, (_, within: string) => String(lookUp(within, variables)))
      : lookUp(path, variables);
  }
  if (Array.isArray(value)) {
    return value.map((one: Value) => resolve(one, variables));
  }
  if (!isRecord(value)) {
    return value;
  }
  const fields = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolve(one, variables)]));
  const { repeat, times } = fields;
  return typeof repeat === "string" && typeof times === "number" ? repeat.repeat(times) : fields;
}

function lookUp(path: string, variables: Variables): Value {
  const [name = "", ...fields] = path.split(".");
  if (!variables.has(name)) {
    throw new ScenarioFailure(`nothing is known as $${name}`);
  }
  let value = variables.get(name);
  for (const field of fields) {
    value = isRecord(value) || Array.isArray(value) ? (value as Record<string, Value>)[field] : undefined;
  }
  if (value === undefined || value === null) {
    throw new ScenarioFailure(`$${path} has no value`);
  }
  return value;
}

/** Comparisons, by the only field of an expectation. */
const COMPARISONS: Readonly<Record<string, (expected: Value, actual: Value) => boolean>> = {
  above: (expected, actual) => typeof actual === "number" && actual > Number(expected),
  at_least: (expected, actual) => typeof actual === "number" && actual >= Number(expected),
  below: (expected, actual) => typeof actual === "number" && actual < Number(expected),
  not: (expected, actual) => mismatch(expected, actual) !== undefined,
  matches: (expected, actual) => new RegExp(String(expected), "v").test(String(actual)),
  any: (_, actual) => actual !== undefined && actual !== null,
  absent: (_, actual) => actual === undefined || actual === null,
};

/**
 * The first difference between a value and what is expected of it, in words; undefined = there is none. Fields that are not
 * expected do not matter; lists are compared as a whole.
 */
export function mismatch(expected: Value, actual: Value, path = ""): string | undefined {
  const here = path === "" ? "it" : path;
  if (isRecord(expected)) {
    const [only = "", ...more] = Object.keys(expected);
    const compare = more.length === 0 && Object.hasOwn(COMPARISONS, only) ? COMPARISONS[only] : undefined;
    if (compare !== undefined) {
      return compare(expected[only], actual) ? undefined : `${here} is ${show(actual)}, not ${show(expected)}`;
    }
    if (!isRecord(actual)) {
      return `${here} is ${show(actual)}, not ${show(expected)}`;
    }
    const inner = (name: string): string => (path === "" ? name : `${path}.${name}`);
    return first(Object.entries(expected), ([name, one]) => mismatch(one, actual[name], inner(name)));
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) {
      return `${here} is ${show(actual)}, not ${show(expected)}`;
    }
    return first([...expected.entries()], ([at, one]) => mismatch(one, actual[at], `${path}[${at}]`));
  }
  return (actual ?? null) === (expected ?? null) ? undefined : `${here} is ${show(actual)}, not ${show(expected)}`;
}

const SHOWN_CHARACTERS_MAX = 400;

/** A value in an error message. */
export function show(value: Value): string {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…` : text;
}

/** The first result that is not undefined. */
function first<Item>(items: readonly Item[], of: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = of(item);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}
