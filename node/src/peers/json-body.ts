/**
 * JSON bodies between members: handshakes, questions, and the frames around a snapshot.
 *
 * They are rare, and members of different releases exchange them, so their fields have names. A field that is missing
 * or breaks a rule of its schema raises a FrameError. The error names the field and the rule, and never contains the
 * value, which may be a token. Unknown fields are ignored, so that later releases can add some.
 */

import { isIP } from "node:net";
import * as z from "zod";
import { FrameError } from "./frame.ts";

/** Longer than any name, address or token in a configuration. */
const TEXT_LENGTH_MAX = 1024;
const INCARNATION = /^[0-9a-f]{32}$/;

/** The error of a field that is missing or breaks a rule. @param what what the field must be. */
function rule(what: string) {
  return {
    error: ({ input }: { readonly input?: unknown }) => (input === undefined ? "is missing" : `is not ${what}`),
  };
}

function integer(min: number) {
  const broken = rule(`a whole number from ${min} to 2^53 − 1`);
  return z.int(broken).min(min, broken);
}

/** A whole number of 0 to 2^53 − 1. */
export const count = integer(0);
/** A whole number of 1 to 2^53 − 1. */
export const positive = integer(1);
/** The id of a member, which is the index of an entry and so at least 1. */
export const memberId = positive;
export const flag = z.boolean(rule("true or false"));

const textRule = rule(`a text of at most ${TEXT_LENGTH_MAX} characters`);
export const text = z.string(textRule).max(TEXT_LENGTH_MAX, textRule);
export const ipAddress = text.refine((address) => isIP(address) !== 0, rule("an IP address"));
/** 32 lower-case hexadecimal digits. */
export const incarnation = text.regex(INCARNATION, rule("32 lower-case hexadecimal digits"));
/** UUID in lower case. */
export const uuid = text.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, rule("a UUID in lower case"));

/** Far more than any answer about a member needs, and little beside what a connection carries in a heartbeat. */
const BASE64_LENGTH_MAX = 512 * 1024;
const base64Rule = rule(`base64 of at most ${BASE64_LENGTH_MAX} characters`);
/** Bytes in base64. */
export const base64 = z.base64(base64Rule).max(BASE64_LENGTH_MAX, base64Rule);

/** One of these words. */
export function oneOf<const Words extends readonly string[]>(...words: Words) {
  return z.enum(words, rule(words.length === 1 ? String(words[0]) : `one of ${words.join(", ")}`));
}

export function object<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape, rule("an object"));
}

export function list<Element extends z.ZodType>(element: Element) {
  return z.array(element, rule("a list"));
}

/** An object whose other fields depend on the word in the field `name`, which each option declares with oneOf. */
export function objectBy<Name extends string, Options extends readonly [z.ZodObject, ...z.ZodObject[]]>(
  name: Name,
  options: Options,
) {
  const words = options.flatMap(({ shape }) => (shape[name] as z.ZodEnum).options);
  return z.discriminatedUnion(name, options, rule(`one of ${words.join(", ")}`));
}

/** The lowest and highest supported version. */
export const versionRange = object({ min: count, max: count });

/** A reader of bodies. It raises a FrameError, in which `title` names the kind of body, unless a body has the schema. */
export function jsonReader<Value>(title: string, schema: z.ZodType<Value>): (body: Uint8Array) => Value {
  return (body) => {
    const parsed = schema.safeParse(objectOf(title, body));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new FrameError(`the field ${issue?.path.join(".")} of ${title} ${issue?.message}`);
    }
    return parsed.data;
  };
}

function objectOf(title: string, body: Uint8Array): object {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) {
      throw new FrameError(`${title} is not JSON`, { cause: error });
    }
    throw error;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new FrameError(`${title} is not a JSON object`);
  }
  return value;
}

/** The body with these fields. */
export function encodeJson(fields: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(fields));
}
