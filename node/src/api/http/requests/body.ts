/**
 * Reads the body of a request within its limit. A body that is announced too large is not read at all. A body that
 * turns out too large is refused at once, and its rest is discarded as it arrives (S45).
 *
 * Memory grows with the bytes that have arrived, not with the announced length or the number of pieces. All bodies
 * together have a limit as well, so that too many large ones are refused and do not end the process. A client may have
 * at most as much of it as is left for the others.
 */

import { MIMEType } from "node:util";
import { unknownName } from "@quoin/proto";
import type { Request, Response } from "express";
import * as z from "zod";
import { beginningOf } from "../../../primitives/index.ts";
import { CoordinationError } from "../../../state/index.ts";
import { parseBounded } from "../../json/index.ts";
import { HttpError } from "../answers/index.ts";

const JSON_TYPE = "application/json";
/** Memory for the first bytes; it doubles as more arrive. */
const BUFFER_BYTES_MIN = 4 * 1024;
/** A body that is silent for so many milliseconds is refused. */
export const BODY_IDLE_MS = 15_000;

/** Counts the bytes of bodies in memory, for all requests together and for each client: a user, or an address. */
export class BodyBudget {
  readonly #bytesMax: number;
  readonly #clients = new Map<string, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Throws OVERLOADED if the client would have more than is left now. */
  reserve(client: string, bytes: number): void {
    const ofClient = (this.#clients.get(client) ?? 0) + bytes;
    if (ofClient > this.#bytesMax - this.#bytes) {
      throw new CoordinationError("OVERLOADED", "too many large requests at a time; try again");
    }
    this.#bytes += bytes;
    this.#clients.set(client, ofClient);
  }

  release(client: string, bytes: number): void {
    this.#bytes -= bytes;
    const left = (this.#clients.get(client) ?? 0) - bytes;
    if (left > 0) {
      this.#clients.set(client, left);
    } else {
      this.#clients.delete(client);
    }
  }
}

export interface BodyLimits {
  readonly budget: BodyBudget;
  /** Milliseconds that a body may be silent. */
  readonly idleMs: number;
}

/**
 * Refuses a body by its headers: payload_too_large for a body that is announced too large; unsupported_media_type for
 * an encoded body, and for a type other than JSON if JSON is required.
 */
export function checkBodyHeaders(request: Request, mode: "json" | "bytes", bytesMax: number): void {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    throw new HttpError("unsupported_media_type", "the body must not have a Content-Encoding");
  }
  if (mode === "json" && !isJson(request.headers["content-type"] ?? JSON_TYPE)) {
    throw new HttpError("unsupported_media_type", `the Content-Type must be ${JSON_TYPE}`);
  }
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    throw tooLarge(bytesMax);
  }
}

/**
 * Resolves to the bytes of the body of this client. Rejects with payload_too_large above `bytesMax`, with
 * invalid_request for a body that ends early or stalls, and with OVERLOADED when the client's share of the budget is used
 * up. The budget is given back when the response closes.
 */
export function readBytes(
  request: Request,
  response: Response,
  { client, bytesMax, budget, idleMs }: BodyLimits & { readonly client: string; readonly bytesMax: number },
): Promise<Buffer> {
  const buffer = new RequestBuffer(response, client, bytesMax, budget);
  if (request.headers.expect?.toLowerCase() === "100-continue") {
    response.writeContinue();
  }
  return new Promise((resolve, reject) => {
    const idle = setTimeout(() => fail(new HttpError("invalid_request", "the body did not arrive in time")), idleMs);
    const settle = () => {
      clearTimeout(idle);
      request.off("data", onData).off("end", onEnd).off("close", onClose);
    };
    const fail = (error: Error) => {
      // The stream continues to flow without a listener: the rest of the body is discarded.
      settle();
      buffer.release();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      idle.refresh();
      try {
        buffer.add(chunk);
      } catch (error) {
        fail(error as Error);
      }
    };
    const onEnd = () => {
      settle();
      resolve(buffer.bytes);
    };
    const onClose = () => fail(new HttpError("invalid_request", "the connection ended before the body did"));
    if (request.destroyed) {
      onClose();
      return;
    }
    // "close" follows an error of the stream, and is handled above.
    request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", ignoreBecauseCloseFollows);
  });
}

/**
 * Returns the JSON object in the bytes, read by the schema. Throws invalid_request with the field's name, and never
 * with contents of the body, which may be secret.
 */
export function parseJson<Value>(bytes: Buffer, schema: z.ZodType<Value>): Value {
  const refusal = (problem: string, field = "the body") => new HttpError("invalid_request", `${field} ${problem}`);
  const value = parseBounded(bytes, refusal);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new HttpError("invalid_request", "the body must be a JSON object");
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const { issues } = parsed.error;
    // An unknown field may be a misspelt one that is missing.
    const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
    throw new HttpError("invalid_request", problemOf(issue, schema));
  }
  return parsed.data;
}

/** The bytes of a body that have arrived, in one growing buffer. */
class RequestBuffer {
  readonly #client: string;
  readonly #bytesMax: number;
  readonly #budget: BodyBudget;
  #buffer = Buffer.alloc(0);
  #length = 0;

  constructor(response: Response, client: string, bytesMax: number, budget: BodyBudget) {
    this.#client = client;
    this.#bytesMax = bytesMax;
    this.#budget = budget;
    response.once("close", () => this.release());
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Copies the chunk: it may be one byte of a much larger buffer, which would stay in memory. */
  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#bytesMax) {
      throw tooLarge(this.#bytesMax);
    }
    if (length > this.#buffer.length) {
      const bytes = Math.min(this.#bytesMax, Math.max(length, BUFFER_BYTES_MIN, 2 * this.#buffer.length));
      this.#budget.reserve(this.#client, bytes - this.#buffer.length);
      const buffer = Buffer.allocUnsafeSlow(bytes);
      this.#buffer.copy(buffer, 0, 0, this.#length);
      this.#buffer = buffer;
    }
    chunk.copy(this.#buffer, this.#length);
    this.#length = length;
  }

  release(): void {
    this.#budget.release(this.#client, this.#buffer.length);
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
  }
}

function isJson(contentType: string): boolean {
  try {
    const type = new MIMEType(contentType);
    return type.essence === JSON_TYPE && (type.params.get("charset") ?? "utf-8").toLowerCase() === "utf-8";
  } catch {
    return false;
  }
}

function problemOf(issue: z.core.$ZodIssue | undefined, schema: z.ZodType): string {
  const path = issue?.path.map(String).join(".") ?? "";
  const field = path || "the body";
  if (issue === undefined) {
    return `${field} is not valid`;
  }
  if (issue.code === "unrecognized_keys") {
    const [name = ""] = issue.keys;
    const shown = beginningOf(path === "" ? name : `${path}.${name}`);
    return `${shown} ${unknownName(name, field, namesAt(schema, issue.path))}`;
  }
  if (issue.code === "invalid_type") {
    return issue.message.endsWith("received undefined") ? `${field} is required` : `${field} must be ${issue.expected}`;
  }
  return `${field}: ${issue.message}`;
}

/** The names of the object at this place of a schema; none if they are not known, as below a list. */
function namesAt(schema: z.ZodType, [name, ...rest]: readonly PropertyKey[]): readonly string[] {
  const object = unwrapped(schema);
  if (!(object instanceof z.ZodObject)) {
    return [];
  }
  return name === undefined ? Object.keys(object.shape) : namesAt(object.shape[String(name)] as z.ZodType, rest);
}

function unwrapped(schema: z.ZodType): z.ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return isWrapped ? unwrapped(schema.unwrap() as z.ZodType) : schema;
}

function ignoreBecauseCloseFollows(): void {}

function tooLarge(bytesMax: number): HttpError {
  return new HttpError("payload_too_large", `the body must have at most ${bytesMax} bytes`);
}
