/**
 * Checks the options of a call before anything is sent: an unknown name, or a value of the wrong type, is an error that
 * names the option and the rule. Types find most of this when they compile; plain JavaScript and spread objects have
 * only this check. The service checks the bounds of values.
 *
 * A check looks each given option up once, and allocates nothing.
 */

import { nearestName } from "@quoin/proto";
import type { QuoinError } from "../errors/index.ts";
import { badField, instantField, int32Field, kindOf, textField, timeoutField, wholeNumber } from "./request-field.ts";

/** Raises a QuoinError INVALID_ARGUMENT / BAD_FIELD unless the value, which is never undefined, is of the type. */
export interface Rule<Value> {
  (value: unknown, name: string): void;
  /** Never set: it ties the rule to the type of the option. */
  readonly type?: Value;
}

/** The rule of each option. */
export type Rules<Options> = {
  readonly [Name in keyof Options]-?: Rule<Exclude<Options[Name], undefined>>;
};

/**
 * Creates the check of options. It raises a QuoinError INVALID_ARGUMENT / BAD_FIELD. It takes the name of the call as
 * users write it, such as `keyValue.put`.
 *
 * @param required the options that must not be undefined.
 */
export function optionsCheck<Options extends object>(
  rules: Rules<Options>,
  required: readonly (keyof Options & string)[] = [],
): (options: Options, call: string) => void {
  const check = checkOf(rules, required);
  return (options, call) => {
    if (!isRecord(options)) {
      throw badField("options", `of ${call} must be an object, not ${kindOf(options)}`);
    }
    check(options, "", call);
  };
}

/** Anything: the code that uses the value checks it. */
export const unchecked: Rule<never> = () => undefined;

/** A string without lone surrogates. */
export const text: Rule<string> = (value, name) => {
  textField(name, value);
};

/** `true` or `false`. */
export const flag: Rule<boolean> = (value, name) => {
  if (typeof value !== "boolean") {
    throw badField(name, `must be true or false, not ${kindOf(value)}`);
  }
};

/** A whole number within ±(2^53 − 1). */
export const whole: Rule<number> = (value, name) => {
  wholeNumber(name, value);
};

/** A whole number of 32 bits. */
export const whole32: Rule<number> = (value, name) => {
  int32Field(name, value);
};

/** Bytes, or a string without lone surrogates. */
export const bytes: Rule<string | Uint8Array> = (value, name) => {
  if (typeof value === "string") {
    textField(name, value);
  } else if (!(value instanceof Uint8Array)) {
    throw badField(name, `must be a string or a Uint8Array, not ${kindOf(value)}`);
  }
};

/** A function. */
export const callback: Rule<never> = (value, name) => {
  if (typeof value !== "function") {
    throw badField(name, `must be a function, not ${kindOf(value)}`);
  }
};

/** An AbortSignal, of any implementation. */
export const abortSignal: Rule<AbortSignal> = (value, name) => {
  const isSignal = isRecord(value) && "aborted" in value && typeof value.addEventListener === "function";
  if (!isSignal) {
    throw badField(name, `must be an AbortSignal, not ${kindOf(value)}`);
  }
};

/** Milliseconds of a timer: more than 0. */
export const timeout: Rule<number> = (value, name) => {
  timeoutField(name, value);
};

/** A date, or a day or an instant as text. */
export const instant: Rule<Date | string> = (value, name) => {
  instantField(name, value);
};

/** One of some strings. */
export function oneOf<const Value extends string>(...values: readonly Value[]): Rule<Value> {
  return (value, name) => {
    if (values.includes(value as Value)) {
      return;
    }
    const given = typeof value === "string" ? JSON.stringify(value) : kindOf(value);
    throw badField(name, `must be ${values.map((known) => `"${known}"`).join(" or ")}, not ${given}`);
  };
}

/** An array. */
export function listOf<Value>(rule: Rule<Value>): Rule<readonly Value[]> {
  return (value, name) => {
    if (!Array.isArray(value)) {
      throw badField(name, `must be an array, not ${kindOf(value)}`);
    }
    for (const [index, element] of value.entries()) {
      rule(element, `${name}[${index}]`);
    }
  };
}

/** The value, or null. */
export function orNull<Value>(rule: Rule<Value>): Rule<Value | null> {
  return (value, name) => {
    if (value !== null) {
      rule(value, name);
    }
  };
}

/**
 * An object with these fields.
 *
 * @param required the fields that must not be undefined.
 */
export function record<Value extends object>(
  rules: Rules<Value>,
  required: readonly (keyof Value & string)[],
): Rule<Value> {
  const check = checkOf(rules, required);
  return (value, name) => {
    if (!isRecord(value)) {
      throw badField(name, `must be an object, not ${kindOf(value)}`);
    }
    check(value, `${name}.`, name);
  };
}

/** The options of what has no request id of its own, such as a stream, or a listing of several pages. */
export const callRulesWithoutRequestId = { timeoutMs: timeout, signal: abortSignal, traceparent: text };

/** The options of every call. */
export const callRules = { ...callRulesWithoutRequestId, requestId: text };

/**
 * @param prefix of the names in errors.
 * @param owner what has the options, for errors.
 */
type Check = (options: Readonly<Record<string, unknown>>, prefix: string, owner: string) => void;

function checkOf<Options>(rules: Rules<Options>, required: readonly string[]): Check {
  // Without a prototype: `constructor` is an unknown name like any other.
  const known: Readonly<Record<string, Rule<unknown> | undefined>> = Object.assign(Object.create(null), rules);
  return (options, prefix, owner) => {
    for (const name in options) {
      const value = options[name];
      // As if it were not there, also if its name is unknown: objects are often built so.
      if (value === undefined) {
        continue;
      }
      const rule = known[name];
      if (rule === undefined) {
        throw unknownName(name, Object.keys(rules), prefix, owner);
      }
      rule(value, prefix === "" ? name : prefix + name);
    }
    for (const name of required) {
      if (options[name] === undefined) {
        throw badField(prefix + name, "is missing");
      }
    }
  };
}

function unknownName(name: string, known: readonly string[], prefix: string, owner: string): QuoinError {
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? `: it has ${known.toSorted().join(", ")}` : `; did you mean ${nearest}?`;
  return badField(prefix + name, `is not an option of ${owner}${hint}`);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
