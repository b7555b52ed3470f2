/** How literals become messages: the rule of each field, and its form on the wire. */

import {
  badField,
  bytes,
  bytesField,
  flag,
  int64Field,
  listOf,
  type Rule,
  type Rules,
  record,
  text,
  whole,
  whole32,
} from "../options/index.ts";
import type { OneOf } from "./operations.ts";

/** One field, or a message. */
export interface WireForm<Given, Wire> {
  readonly rule: Rule<unknown>;
  /** Takes what the rule allows; undefined = absent. */
  readonly toWire: (given: Given | undefined) => Wire;
}

/** The forms of the fields of a message. */
export type FormsOf<Given, Wire> = {
  readonly [Name in keyof Given & keyof Wire]-?: WireForm<Exclude<Given[Name], undefined>, Wire[Name]>;
};

export const TEXT: WireForm<string, string> = { rule: text, toWire: (given = "") => given };
export const FLAG: WireForm<boolean, boolean> = { rule: flag, toWire: (given = false) => given };
export const OPTIONAL_FLAG: WireForm<boolean, boolean | undefined> = { rule: flag, toWire: (given) => given };
export const COUNT: WireForm<number, bigint> = { rule: whole, toWire: (given = 0) => BigInt(given) };
export const COUNT_32: WireForm<number, number> = { rule: whole32, toWire: (given = 0) => given };
export const OPTIONAL_COUNT: WireForm<number, bigint | undefined> = {
  rule: whole,
  toWire: (given) => (given === undefined ? undefined : BigInt(given)),
};
export const BYTES: WireForm<string | Uint8Array, Uint8Array> = {
  rule: bytes,
  toWire: (given) => bytesField("value", given),
};
export const OPTIONAL_BYTES: WireForm<string | Uint8Array, Uint8Array | undefined> = {
  rule: bytes,
  toWire: (given) => (given === undefined ? undefined : bytesField("value", given)),
};
/** A number or a bigint, both within ±(2^53 − 1). */
export const SUMMAND: WireForm<number | bigint, bigint> = {
  rule: (value, name) => {
    int64Field(name, typeof value === "bigint" ? Number(value) : value);
  },
  toWire: (given = 0) => BigInt(given),
};

/**
 * The message of a literal.
 *
 * @param path of the literal in the request, for errors.
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD, which names the field.
 */
export function messageOf<Given, Wire>({ rule, toWire }: WireForm<Given, Wire>, given: Given, path: string): Wire {
  rule(given, path);
  return toWire(given);
}

/** All elements of a list; absent = none. */
export function listForm<Given, Wire>({ rule, toWire }: WireForm<Given, Wire>): WireForm<readonly Given[], Wire[]> {
  return { rule: listOf(rule), toWire: (given = []) => given.map(toWire) };
}

/**
 * An object whose fields are those of a message.
 *
 * @param required the fields that must not be undefined.
 */
export function messageForm<Given extends object, Wire>(
  forms: FormsOf<Given, Wire>,
  required: readonly (keyof Given & string)[],
): WireForm<Given, Wire> {
  const all = Object.entries(forms) as [keyof Given, WireForm<unknown, unknown>][];
  return {
    rule: record(rulesOf<Given>(forms), required),
    toWire: (given) => Object.fromEntries(all.map(([name, { toWire }]) => [name, toWire(given?.[name])])) as Wire,
  };
}

/** An object with exactly one of these fields. */
export function oneOfForm<Fields extends object, Wire>(
  forms: FormsOf<Fields, Required<Wire>>,
): WireForm<OneOf<Fields>, Wire> {
  const check = record(rulesOf<Fields>(forms), []);
  const all = forms as Readonly<Record<string, WireForm<unknown, unknown>>>;
  return {
    rule: (value, path) => {
      check(value, path);
      const given = namesOf(value as object);
      if (given.length !== 1) {
        const found = given.length === 0 ? "none" : given.join(" and ");
        throw badField(path, `must have exactly one of ${Object.keys(forms).join(", ")}; it has ${found}`);
      }
    },
    toWire: (given) => {
      const fields = (given ?? {}) as Readonly<Record<string, unknown>>;
      return Object.fromEntries(namesOf(fields).map((name) => [name, all[name]?.toWire(fields[name])])) as Wire;
    },
  };
}

function rulesOf<Given>(forms: object): Rules<Given> {
  const all = Object.entries(forms as Readonly<Record<string, WireForm<unknown, unknown>>>);
  return Object.fromEntries(all.map(([name, { rule }]) => [name, rule])) as unknown as Rules<Given>;
}

/** The names of the fields that are given. */
function namesOf(given: object): readonly string[] {
  return Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}
