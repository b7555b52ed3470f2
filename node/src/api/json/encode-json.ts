/**
 * Messages as JSON, by the proto3 JSON mapping: names in lower camel case, 64-bit integers as strings, bytes in base64,
 * enums by their names.
 *
 * A field without presence is always there, also with its default value, so that a reader needs no knowledge of
 * defaults. An absent field with presence is left out. On request, bytes that are UTF-8 also come as text: `valueText`
 * beside `value`.
 */

import { isUtf8 } from "node:buffer";
import { type FieldPlan, type MessagePlan, messagePlan, textName } from "./message-plan.ts";

type JsonObject = Record<string, unknown>;

/**
 * Returns the JSON text of a message.
 *
 * @param typeName full name of the message, such as `coordination.v1.GetKeyResponse`.
 * @param withText whether bytes that are UTF-8 also come as text.
 */
export function encodeJson(typeName: string, message: object, withText: boolean): string {
  return JSON.stringify(jsonObject(messagePlan(typeName), message, withText));
}

/** The same as an object, to put into another one. */
export function toJsonObject(typeName: string, message: object, withText: boolean): Readonly<JsonObject> {
  return jsonObject(messagePlan(typeName), message, withText);
}

function jsonObject(plan: MessagePlan, message: object, withText: boolean): JsonObject {
  const json: JsonObject = {};
  for (const field of plan.fields) {
    const value = (message as Readonly<JsonObject>)[field.jsonName];
    if (value === undefined) {
      continue;
    }
    if (field.isMap) {
      json[field.jsonName] = mapObject(field, value as ReadonlyMap<string, unknown>, withText);
    } else if (field.isRepeated) {
      json[field.jsonName] = (value as readonly unknown[]).map((element) => jsonValue(field, element, withText));
    } else {
      json[field.jsonName] = jsonValue(field, value, withText);
      if (withText && field.kind === "bytes") {
        addText(json, field, value as Uint8Array);
      }
    }
  }
  return json;
}

function addText(json: JsonObject, field: FieldPlan, bytes: Uint8Array): void {
  if (isUtf8(bytes)) {
    json[textName(field)] = bufferOf(bytes).toString("utf8");
  }
}

/** A key may be `__proto__`: an object without a prototype treats it like any other. */
function mapObject(field: FieldPlan, entries: ReadonlyMap<string, unknown>, withText: boolean): JsonObject {
  const json: JsonObject = Object.create(null);
  for (const [name, value] of entries) {
    json[name] = jsonValue(field, value, withText);
  }
  return json;
}

function jsonValue(field: FieldPlan, value: unknown, withText: boolean): unknown {
  switch (field.kind) {
    case "int64":
    case "uint64":
      return String(value);
    case "bytes":
      return bufferOf(value as Uint8Array).toString("base64");
    case "enum":
      return field.names.get(value as number) ?? value;
    case "message":
      return jsonObject(field.message as MessagePlan, value as object, withText);
    default:
      return value;
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
