/** What an answer must be like. A failed expectation is an error that shows both sides. */

import { expect } from "chai";
import type { Answer } from "./connection.ts";

/** A value that must be equal, or a condition that it must meet. */
type Expected<Value> = Value | ((value: never) => boolean);

/** What every field of a message must be; none may be left out. */
export type Fields<Message> = { readonly [Field in keyof Message]-?: Expected<Message[Field]> };

/** Unix times of this century in milliseconds, which none of our values is by accident. */
const UNIX_MS_MIN = 1_000_000_000_000n;

/** The response of a call that must have succeeded. */
export function succeeded<Response>(answer: Answer<Response>): Response {
  expect(answer.code, answer.message).to.equal("OK");
  return answer.response as Response;
}

/** Requires of every field of the message what is given for it. */
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

/** A remaining life of at most so many seconds, and of at least one millisecond. */
export function isWithinSeconds(seconds: bigint): (value: bigint) => boolean {
  return (value) => value > 0n && value <= seconds * 1000n;
}

export function isAbove(floor: bigint): (value: bigint) => boolean {
  return (value) => value > floor;
}

export function isAtLeast(floor: bigint): (value: bigint) => boolean {
  return (value) => value >= floor;
}

/** For bytes so many that their difference would not be readable. */
export function areSameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
