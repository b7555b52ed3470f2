/** JSON schemas of the messages of the contract, for the OpenAPI document. They come from its descriptors. */

import type { JsonSchema } from "../http/index.ts";
import { type FieldPlan, type MessagePlan, messagePlan, textName } from "../json/index.ts";

const REFERENCE = "#/components/schemas/";
/** Both alphabets, with or without padding. */
const BASE64 = { type: "string", contentEncoding: "base64", pattern: "^[A-Za-z0-9+/_-]*={0,2}$" };
const INTEGER_TEXT = "^-?[0-9]+$";
const INT32 = { type: "integer", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
const UINT32 = { type: "integer", minimum: 0, maximum: 2 ** 32 - 1 };

export class MessageSchemas {
  /** The schemas by the full names of their messages. */
  readonly all: Record<string, JsonSchema> = {};
  readonly #commentOf: (name: string) => string | undefined;
  /** Messages that requests contain: their integers may also be numbers. */
  readonly #requested = new Set<string>();

  /** @param commentOf returns the comment of a message or of a field, by its full name. */
  constructor(commentOf: (name: string) => string | undefined) {
    this.#commentOf = commentOf;
  }

  /** Adds the message of a request, and returns a reference to it. Call it for all requests before all responses. */
  request(typeName: string): JsonSchema {
    this.#add(messagePlan(typeName), true);
    return { $ref: `${REFERENCE}${typeName}` };
  }

  /** The same for a response. */
  response(typeName: string): JsonSchema {
    this.#add(messagePlan(typeName), false);
    return { $ref: `${REFERENCE}${typeName}` };
  }

  #add(plan: MessagePlan, isRequest: boolean): void {
    const { typeName, fields } = plan;
    if (this.all[typeName] !== undefined) {
      return;
    }
    // Before its fields: a message may contain itself.
    this.all[typeName] = {};
    if (isRequest) {
      this.#requested.add(typeName);
    }
    for (const { message } of fields) {
      if (message !== null) {
        this.#add(message, isRequest);
      }
    }
    this.all[typeName] = this.#schemaOf(plan);
  }

  #schemaOf({ typeName, fields }: MessagePlan): JsonSchema {
    const isRequest = this.#requested.has(typeName);
    const properties: Record<string, JsonSchema> = {};
    for (const field of fields) {
      const description = this.#commentOf(`${typeName}.${field.name}`);
      properties[field.jsonName] = { ...fieldSchema(field, isRequest), ...(description && { description }) };
      if (hasText(field)) {
        const text = isRequest
          ? `The same as UTF-8 text, instead of \`${field.jsonName}\`.`
          : "The same as text, if it is UTF-8.";
        properties[textName(field)] = { type: "string", description: text };
      }
    }
    const alternatives = fields
      .filter(hasText)
      .map((field) => ({ not: { required: [field.jsonName, textName(field)] } }));
    const always = fields.filter(({ hasPresence }) => !hasPresence).map(({ jsonName }) => jsonName);
    const description = this.#commentOf(typeName);
    return {
      type: "object",
      ...(description && { description }),
      properties,
      ...(isRequest ? { additionalProperties: false } : { required: always }),
      ...(isRequest && alternatives.length > 0 ? { allOf: alternatives } : {}),
    };
  }
}

function hasText({ kind, isRepeated, isMap }: FieldPlan): boolean {
  return kind === "bytes" && !isRepeated && !isMap;
}

function fieldSchema(field: FieldPlan, isRequest: boolean): JsonSchema {
  const value = valueSchema(field, isRequest);
  if (field.isMap) {
    return { type: "object", additionalProperties: value };
  }
  return field.isRepeated ? { type: "array", items: value } : value;
}

function valueSchema({ kind, message, numbers }: FieldPlan, isRequest: boolean): JsonSchema {
  switch (kind) {
    case "string":
      return { type: "string" };
    case "bytes":
      return BASE64;
    case "bool":
      return { type: "boolean" };
    case "int64":
    case "uint64":
      return { type: isRequest ? ["integer", "string"] : "string", format: "int64", pattern: INTEGER_TEXT };
    case "int32":
      return INT32;
    case "uint32":
      return UINT32;
    case "enum":
      return { type: "string", enum: [...numbers.keys()] };
    case "message":
      return { $ref: `${REFERENCE}${message?.typeName}` };
  }
}
