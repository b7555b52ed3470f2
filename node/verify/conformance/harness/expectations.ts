/** Expectations about answers. A failed expectation raises an error that shows both sides. */

import { expect } from "chai";
import type { Answer } from "./answer.ts";

/** A value that must be equal, or a condition that it must meet. */
type Expected<Value> = Value | ((value: never) => boolean);

/** The expected value of every field of a message; none may be omitted. */
export type Fields<Message> = { readonly [Field in keyof Message]-?: Expected<Message[Field]> };

/** Lower bound for Unix times in milliseconds; no other value is that large by accident. */
const UNIX_MS_MIN = 1_000_000_000_000n;

/** Requires that the call succeeded, and returns its response. */
export function succeeded<Response>(answer: Answer<Response>): Response {
  expect(answer.code, answer.message).to.equal("OK");
  return answer.response as Response;
}

/** Requires that every field of the message is as expected. */
export function expectFields<Message extends object>(message: Message, fields: Fields<Message>, what = ""): void {
  const plain: Record<string, unknown> = {};
  const expected: Record<string, unknown> = {};
  for (const [name, wanted] of Object.entries<unknown>(fields)) {
    const value = Reflect.get(message, name);
    if (typeof wanted === "function") {
      plain[name] = (wanted as (value: unknown) => boolean)(value) ? "as expected" : value;
      expected[name] = "as expected";
    } else {
      plain[name] = value;
      expected[name] = wanted;
    }
  }
  expect(Object.keys(message).sort(), `fields ${what}`).to.deep.equal(Object.keys(fields).sort());
  expect(plain, what).to.deep.equal(expected);
}

/** Conditions. */
export const isPositive = (value: bigint): boolean => value > 0n;
export const isUnixMs = (value: bigint): boolean => value >= UNIX_MS_MIN;
export const isAnything = (): boolean => true;
export const isUuid = (value: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(value);

/** A remaining life of at most this many seconds, and at least one millisecond. */
export function isWithinSeconds(seconds: bigint): (value: bigint) => boolean {
  return (value) => value > 0n && value <= seconds * 1000n;
}

export function isAbove(floor: bigint): (value: bigint) => boolean {
  return (value) => value > floor;
}

export function isAtLeast(floor: bigint): (value: bigint) => boolean {
  return (value) => value >= floor;
}

/** For byte arrays that are too long for a readable difference. */
export function areSameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
