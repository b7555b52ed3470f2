/** Answers to retries: the first answer again, marked as replayed. */

import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { Answer } from "./answer.ts";
import type { Operation } from "./operations.ts";
import type { TestContext } from "./test-context.ts";

/** The value of the header, `undefined` if there is none; a refusal has it among its trailers. */
export function replayed({ headers, trailers }: Answer<unknown>): string | undefined {
  return [...headers.get("replayed"), ...trailers.get("replayed")].map(String).at(0);
}

/** Fields that are current in every answer, also in a replay: remaining lives, and an acquisition's lock state. */
const FIELDS_OF_EACH_CALL: ReadonlySet<string> = new Set(["expiresInMs"]);
const FIELDS_OF_EACH_LOCK_CALL: ReadonlySet<string> = new Set(["expiresInMs", "revision", "waitedMs", "queueLength"]);

/** Executes the request, then requires that another member replays the same answer and marks it as replayed. */
export async function expectReplay<Request, Response>(
  context: TestContext,
  operation: Operation<Request, Response>,
  fields: Partial<Request>,
): Promise<void> {
  const requestId = randomUUID();
  const ofEachCall = operation.name.startsWith("Acquire") ? FIELDS_OF_EACH_LOCK_CALL : FIELDS_OF_EACH_CALL;
  const first = await context.here.call(operation, fields, { metadata: { "request-id": requestId } });
  expect([first.code, replayed(first)], `${operation.name}: ${first.message}`).to.deep.equal(["OK", undefined]);
  const options = { metadata: { "request-id": requestId.toUpperCase() } };
  for (const connection of [context.elsewhere, context.here]) {
    const again = await connection.call(operation, fields, options);
    expect([again.code, replayed(again)], `${operation.name} again: ${again.message}`).to.deep.equal(["OK", "true"]);
    expect(textOf(again.response, ofEachCall), operation.name).to.equal(textOf(first.response, ofEachCall));
  }
}

/** The message as text for comparison, without the fields of these names. */
function textOf(message: unknown, without: ReadonlySet<string>): string {
  const write = (name: string, value: unknown): unknown => {
    if (without.has(name)) {
      return undefined;
    }
    if (value instanceof Map) {
      return [...value];
    }
    return typeof value === "bigint" ? String(value) : value;
  };
  return JSON.stringify(message, write, 1);
}
