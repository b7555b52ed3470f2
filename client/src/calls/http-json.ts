/** JSON in requests to the HTTP interface and in its answers. */

import { QuoinError } from "../errors/index.ts";
import type { HttpCallOptions, HttpMembers, MemberRequest } from "./http-members.ts";

/** A request with a JSON object as its body, or without a body. */
export interface JsonRequest extends Pick<MemberRequest, "path" | "isRepeatable"> {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly value?: object;
}

/** Reads a path. The caller knows the form of the answer from its request. */
export async function getJson<Message>(members: HttpMembers, path: string, options: HttpCallOptions): Promise<Message> {
  const { body } = await members.request({ method: "GET", path, headers: {}, isRepeatable: true }, options);
  return parseJson(body.toString("utf8"));
}

/** Sends a change. The caller knows the form of the answer from its request. */
export async function sendJson<Message>(
  members: HttpMembers,
  { value, ...request }: JsonRequest,
  options: HttpCallOptions,
): Promise<Message> {
  const sent =
    value === undefined
      ? { headers: {} }
      : { headers: { "content-type": "application/json" }, body: Buffer.from(JSON.stringify(value)) };
  const { body } = await members.request({ ...request, ...sent }, options);
  return parseJson(body.toString("utf8"));
}

/** @throws QuoinError INTERNAL if the text is not JSON. */
export function parseJson<Message>(text: string): Message {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new QuoinError({ code: "INTERNAL", message: "the answer is not JSON", cause });
  }
}

/** A timestamp of the service as Unix time in milliseconds; undefined = none. */
export function optionalTimeMs(timestamp: string | null): number | undefined {
  return timestamp === null ? undefined : Date.parse(timestamp);
}
