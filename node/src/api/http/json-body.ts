/**
 * The body of a request as a JSON object, read with its limit in mind: one that is announced too large is not read at
 * all, one that turns out too large is answered at once and the rest of it thrown away as it comes (S45).
 *
 * Messages name fields and never repeat values: bodies carry secrets.
 */

import { MIMEType } from "node:util";
import type { Request } from "express";
import { HttpError } from "./http-error.ts";

const JSON_TYPE = "application/json";
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The fields of a JSON object, as names and values. Unknown ones are for the reader to ignore. */
export type JsonObject = ReadonlyMap<string, unknown>;

/**
 * The fields of the body. Raises unsupported_media_type, payload_too_large above `bytesMax`, and invalid_request for
 * what is not a JSON object in UTF-8 or ends early.
 */
export async function readJsonObject(request: Request, bytesMax: number): Promise<JsonObject> {
  requireJson(request);
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    throw tooLarge(bytesMax);
  }
  const bytes = await readBytes(request, bytesMax);
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(bytes));
  } catch {
    // The parser's own message would repeat a piece of the body.
    throw new HttpError("invalid_request", "the body is not valid JSON in UTF-8");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new HttpError("invalid_request", "the body must be a JSON object");
  }
  return new Map(Object.entries(value));
}

/** The text in the field. Raises invalid_request with the field's name if it is absent or anything else. */
export function requiredText(body: JsonObject, field: string): string {
  const value = body.get(field);
  if (value === undefined) {
    throw new HttpError("invalid_request", `${field} is required`);
  }
  if (typeof value !== "string") {
    throw new HttpError("invalid_request", `${field} must be a string`);
  }
  return value;
}

/** The number in the field, or null if it is absent or null. Raises invalid_request with the field's name otherwise. */
export function optionalNumber(body: JsonObject, field: string): number | null {
  const value = body.get(field) ?? null;
  if (value !== null && typeof value !== "number") {
    throw new HttpError("invalid_request", `${field} must be a number or null`);
  }
  return value;
}

function requireJson(request: Request): void {
  const type = mediaType(request.headers["content-type"] ?? "");
  const charset = type?.params.get("charset") ?? "utf-8";
  if (type?.essence !== JSON_TYPE || charset.toLowerCase() !== "utf-8") {
    throw new HttpError("unsupported_media_type", `the Content-Type must be ${JSON_TYPE}`);
  }
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    throw new HttpError("unsupported_media_type", "the body must not have a Content-Encoding");
  }
}

function mediaType(header: string): MIMEType | null {
  try {
    return new MIMEType(header);
  } catch {
    return null;
  }
}

function readBytes(request: Request, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = () => {
      request.off("data", onData).off("end", onEnd).off("close", onClose);
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > bytesMax) {
        // The stream goes on flowing without a listener: the rest of the body is thrown away.
        settle();
        reject(tooLarge(bytesMax));
      }
    };
    const onEnd = () => {
      settle();
      resolve(Buffer.concat(chunks));
    };
    const onClose = () => {
      settle();
      reject(new HttpError("invalid_request", "the connection ended before the body did"));
    };
    // An error of the stream is followed by "close", which tells the same.
    request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", ignoreBecauseCloseFollows);
  });
}

function ignoreBecauseCloseFollows(): void {}

function tooLarge(bytesMax: number): HttpError {
  return new HttpError("payload_too_large", `the body must have at most ${bytesMax} bytes`);
}
