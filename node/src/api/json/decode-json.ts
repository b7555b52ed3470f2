/**
 * Messages from JSON, by the proto3 JSON mapping, strictly.
 *
 * A field may have its name in lower camel case or its protobuf name. A 64-bit integer may be a number or a string. It
 * must lie within ±(2^53 − 1) and is never rounded (S17). `null` is the default value. Bytes are base64 or, under the
 * name of the field with `Text` appended, UTF-8 text. An unknown field is refused, because it may be a misspelt
 * condition of a write, and so is a field that is given twice. Every refusal is BAD_FIELD, names the field, and contains no value.
 */

import { unknownName } from "@quoin/proto";
import { beginningOf } from "../../primitives/index.ts";
import { badRequestField, CoordinationError } from "../../state/index.ts";
import { type FieldPlan, type MessagePlan, messagePlan, textName } from "./message-plan.ts";
import { parseBounded } from "./parse-bounded.ts";

type JsonObject = Readonly<Record<string, unknown>>;

const INTEGER = /^-?[0-9]+$/;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const URL_SAFE = /[-_]/;
const UNSAFE_INTEGER = "is outside ±(2^53 - 1)";
const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;
const UINT32_MAX = 2 ** 32 - 1;
/** An enum has 32 bits, and a number that the contract does not know passes, as it does in protobuf. */
const INT32_RULE = `must be a whole number from ${INT32_MIN} to ${INT32_MAX}`;
const UINT32_RULE = `must be a whole number from 0 to ${UINT32_MAX}`;

/**
 * Returns the message in the form that the generated decoder of its type returns.
 *
 * @param typeName full name of the message, such as `coordination.v1.PutKeyRequest`.
 * @param bytes the JSON text in UTF-8; no bytes mean a message without fields.
 * @param fieldsMax how many names and values it may have, about; absent = as any document.
 * @throws CoordinationError BAD_FIELD, with the field if one is wrong.
 */
export function decodeJson(typeName: string, bytes: Uint8Array, fieldsMax?: number): unknown {
  return bytes.length === 0 ? fromJsonObject(typeName, {}) : fromJsonObject(typeName, parse(bytes, fieldsMax));
}

/** The same from a parsed value. */
export function fromJsonObject(typeName: string, json: unknown): unknown {
  return decodeMessage(messagePlan(typeName), json, "");
}

function parse(bytes: Uint8Array, fieldsMax: number | undefined): unknown {
  const refusal = (problem: string, field?: string): Error =>
    field === undefined ? new CoordinationError("BAD_FIELD", `the request ${problem}`) : badPath(field, problem);
  return parseBounded(bytes, refusal, fieldsMax);
}

function decodeMessage(plan: MessagePlan, json: unknown, path: string): unknown {
  if (!isObject(json)) {
    throw path === ""
      ? new CoordinationError("BAD_FIELD", "the request must be a JSON object")
      : badPath(path, "must be a JSON object");
  }
  const message = emptyMessage(plan);
  const given = new Set<FieldPlan>();
  for (const name of Object.keys(json)) {
    const value = json[name];
    const field = plan.byName.get(name);
    const ofText = field === undefined ? plan.byTextName.get(name) : undefined;
    const known = field ?? ofText;
    if (known === undefined) {
      throw unknownField(plan, name, joined(path, name));
    }
    const fieldPath = joined(path, known.name);
    if (given.has(known)) {
      throw badPath(fieldPath, givenTwice(known));
    }
    given.add(known);
    if (value !== null) {
      message[known.jsonName] =
        ofText === undefined ? decodeField(known, value, fieldPath) : textBytes(value, joined(path, name));
    }
  }
  return message;
}

function emptyMessage({ fields }: MessagePlan): Record<string, unknown> {
  const message: Record<string, unknown> = {};
  for (const field of fields) {
    message[field.jsonName] = defaultOf(field);
  }
  return message;
}

function defaultOf({ kind, isRepeated, isMap, hasPresence }: FieldPlan): unknown {
  if (isRepeated) {
    return [];
  }
  if (isMap) {
    return new Map();
  }
  if (hasPresence) {
    return undefined;
  }
  switch (kind) {
    case "string":
      return "";
    case "bytes":
      return new Uint8Array(0);
    case "bool":
      return false;
    case "int64":
    case "uint64":
      return 0n;
    case "message":
      return undefined;
    default:
      return 0;
  }
}

function decodeField(field: FieldPlan, value: unknown, path: string): unknown {
  if (field.isRepeated) {
    if (!Array.isArray(value)) {
      throw badPath(path, "must be a JSON array");
    }
    return value.map((element) => decodeValue(field, element, path));
  }
  if (!field.isMap) {
    return decodeValue(field, value, path);
  }
  if (!isObject(value)) {
    throw badPath(path, "must be a JSON object");
  }
  const entries = Object.keys(value).map((name) => [text(name, path), decodeValue(field, value[name], path)] as const);
  return new Map(entries);
}

function decodeValue(field: FieldPlan, value: unknown, path: string): unknown {
  switch (field.kind) {
    case "string":
      return text(value, path);
    case "bytes":
      return base64(value, path);
    case "bool":
      if (typeof value !== "boolean") {
        throw badPath(path, "must be true or false");
      }
      return value;
    case "int64":
      return BigInt(wholeNumber(value, path, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, UNSAFE_INTEGER));
    case "uint64":
      return BigInt(wholeNumber(value, path, 0, Number.MAX_SAFE_INTEGER, "is outside 0 to 2^53 - 1"));
    case "int32":
      return wholeNumber(value, path, INT32_MIN, INT32_MAX, INT32_RULE);
    case "uint32":
      return wholeNumber(value, path, 0, UINT32_MAX, UINT32_RULE);
    case "enum":
      return enumNumber(field, value, path);
    case "message":
      return decodeMessage(field.message as MessagePlan, value, path);
  }
}

function text(value: unknown, path: string): string {
  if (typeof value !== "string") {
    throw badPath(path, "must be a string");
  }
  if (!value.isWellFormed()) {
    throw badPath(path, "has a surrogate without its other half, which is not Unicode text");
  }
  return value;
}

function textBytes(value: unknown, path: string): Uint8Array {
  return plainBytes(Buffer.from(text(value, path), "utf8"));
}

/** Both alphabets, with or without padding. */
function base64(value: unknown, path: string): Uint8Array {
  if (typeof value === "string" && BASE64.test(value)) {
    try {
      return Uint8Array.fromBase64(value, { alphabet: URL_SAFE.test(value) ? "base64url" : "base64" });
    } catch {
      // Refused below like other text that is no base64.
    }
  }
  throw badPath(path, `must be base64; send UTF-8 text as ${path}_text`);
}

/** @param rule the end of the message for a whole number outside the bounds. */
function wholeNumber(value: unknown, path: string, min: number, max: number, rule: string): number {
  const isDigits = typeof value === "string" && INTEGER.test(value);
  const number = typeof value === "number" ? value : isDigits ? Number(value) : Number.NaN;
  if (Number.isNaN(number) || (Number.isFinite(number) && !Number.isInteger(number))) {
    throw badPath(path, "must be a whole number");
  }
  if (!(number >= min && number <= max)) {
    throw badPath(path, rule);
  }
  // Without a sign before zero.
  return number + 0;
}

function enumNumber({ numbers }: FieldPlan, value: unknown, path: string): number {
  if (typeof value === "number") {
    return wholeNumber(value, path, INT32_MIN, INT32_MAX, INT32_RULE);
  }
  const number = typeof value === "string" ? numbers.get(value) : undefined;
  if (number === undefined) {
    throw badPath(path, `must be one of ${[...numbers.keys()].join(", ")}`);
  }
  return number;
}

function givenTwice(field: FieldPlan): string {
  return field.kind === "bytes"
    ? `is given twice: send ${field.jsonName} or ${textName(field)}, not both`
    : `is given twice, as ${field.name} and as ${field.jsonName}`;
}

function unknownField({ typeName, byTextName, fields }: MessagePlan, name: string, path: string): CoordinationError {
  const message = typeName.slice(typeName.lastIndexOf(".") + 1);
  const names = fields.flatMap((field) =>
    [field.jsonName, textName(field)].filter((known) => known === field.jsonName || byTextName.has(known)),
  );
  return badPath(path, unknownName(name, message, names));
}

function badPath(path: string, rule: string): CoordinationError {
  return badRequestField(beginningOf(path), rule);
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A plain view: the slice() of a Buffer does not copy. */
function plainBytes(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}
