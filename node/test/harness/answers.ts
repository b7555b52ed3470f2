/** What tests of the services read in answers. */

import { expect } from "chai";
import type { Answer } from "./grpc-caller.ts";

/** Code and reason, and the field if one is wrong. */
export function verdict(answer: Answer<unknown>): readonly string[] {
  const field = answer.details?.metadata.get("field");
  return [answer.code, answer.reason, ...(field === undefined ? [] : [field])];
}

/** The response of a call that must succeed. */
export function ok<Response>(answer: Answer<Response>): Response {
  expect(answer.code, answer.message).equal("OK");
  return answer.response as Response;
}
