/**
 * A strict check of the bytes of a message, before the generated code decodes them.
 *
 * It guarantees that the bytes are complete and well-formed at every depth, that every string is valid UTF-8, and that
 * every int64 that is a count lies within ±(2^53 − 1). The generated decoders do none of this. They replace bad UTF-8 by U+FFFD, so
 * that two keys would become one. They stop silently at a zero tag, and let a field exceed the message that contains
 * it.
 *
 * It does not check values: a name that is too long or an unknown enum value passes. Unknown fields pass if they are
 * well-formed, whatever they contain. So does a known field with another wire type, which decoders treat as unknown.
 */

import { isUtf8 } from "node:buffer";
import { wireFields } from "./generated/wire_fields.ts";
import { MalformedMessageError, type MalformedMessageProblem } from "./malformed-message-error.ts";

/** What the check needs to know of one field. */
interface FieldPlan {
  /** Name in the protobuf definition. */
  readonly name: string;
  readonly wireType: number;
  readonly content: "string" | "int64" | "message" | "other";
  /** The fields of the message that this field contains. */
  readonly message: MessagePlan | undefined;
}

/** The fields of a message by their number. */
type MessagePlan = Map<number, FieldPlan>;

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const START_GROUP = 3;
const END_GROUP = 4;
const FIXED_32 = 5;

/** Fields that are no counts, but sums that clients have made: they have the whole range of an int64. */
const SUMS: ReadonlySet<string> = new Set(["coordination.v1.IncrementResult.value"]);

/** A 64-bit varint has at most ten bytes of seven bits; the tenth byte carries one bit. */
const VARINT_BYTES_MAX = 10;
/** A tag or length has 32 bits: at most five bytes; the fifth byte carries four bits. */
const VARINT_32_BYTES_MAX = 5;
/** A varint of up to seven bytes has 49 bits and no sign: it always lies within ±(2^53 − 1). */
const SAFE_VARINT_BYTES_MAX = 7;
/** The maximum depth of unknown groups, the same as in the generated decoders. */
const GROUP_DEPTH_MAX = 100;
/** Messages that lie within each other: a message may contain itself. The contract allows fewer. */
const MESSAGE_DEPTH_MAX = 32;

let plans: Map<string, MessagePlan> | undefined;

/**
 * Builds the plans once. It needs two passes, because a message may contain a message that comes later in the table.
 */
function messagePlans(): Map<string, MessagePlan> {
  if (plans !== undefined) {
    return plans;
  }
  const built = new Map<string, MessagePlan>();
  for (const [typeName] of wireFields) {
    built.set(typeName, new Map());
  }
  for (const [typeName, fields] of wireFields) {
    const plan = built.get(typeName);
    for (const [number, name, type] of fields) {
      const message = built.get(type);
      const isChecked = type === "string" || (type === "int64" && !SUMS.has(`${typeName}.${name}`));
      const content = message !== undefined ? "message" : isChecked ? type : "other";
      const wireType = content === "message" || type === "string" || type === "bytes" ? LENGTH_DELIMITED : VARINT;
      plan?.set(number, { name, wireType, content, message });
    }
  }
  plans = built;
  return built;
}

/**
 * Checks the bytes of one message.
 *
 * @param typeName full name of a message of the contract, such as `coordination.v1.PutKeyRequest`.
 * @param fieldsMax how many fields it may have, with those of the messages in it.
 * @throws MalformedMessageError naming the first field that is wrong.
 */
export function checkWire(bytes: Uint8Array, typeName: string, fieldsMax: number): void {
  const plan = messagePlans().get(typeName);
  if (plan === undefined) {
    throw new Error(`${typeName} is not a message of the contract`);
  }
  new WireWalk(bytes, typeName, fieldsMax).message(plan, bytes.length, "");
}

/** One pass over the bytes of one message. */
class WireWalk {
  readonly #bytes: Uint8Array;
  readonly #typeName: string;
  #fieldsLeft: number;
  #position = 0;
  #depth = 0;

  constructor(bytes: Uint8Array, typeName: string, fieldsMax: number) {
    this.#bytes = bytes;
    this.#typeName = typeName;
    this.#fieldsLeft = fieldsMax;
  }

  /** Checks a message that ends at `end`; `path` names the field that contains it, empty for the outermost. */
  message(plan: MessagePlan, end: number, path: string): void {
    while (this.#position < end) {
      const tag = this.#tag(end, path);
      const wireType = tag & 7;
      const field = plan.get(tag >>> 3);
      if (field === undefined || field.wireType !== wireType) {
        this.#unknown(tag, end, path);
      } else {
        this.#field(field, end, path);
      }
    }
  }

  #field(field: FieldPlan, end: number, path: string): void {
    if (field.wireType === VARINT) {
      const start = this.#position;
      this.#varint(end, path, field);
      const isLong = this.#position - start > SAFE_VARINT_BYTES_MAX;
      if (isLong && field.content === "int64" && !isSafeVarint(this.#bytes, start, this.#position)) {
        this.#fail("int64-range", path, field);
      }
      return;
    }
    const length = this.#varint32(end, path, field);
    const start = this.#position;
    const fieldEnd = start + length;
    if (fieldEnd > end) {
      this.#fail("wire", path, field);
    }
    if (field.message !== undefined) {
      if (this.#depth === MESSAGE_DEPTH_MAX) {
        this.#fail("depth", path, field);
      }
      this.#depth++;
      this.message(field.message, fieldEnd, joinPath(path, field));
      this.#depth--;
    } else {
      if (field.content === "string" && !isUtf8Between(this.#bytes, start, fieldEnd)) {
        this.#fail("utf8", path, field);
      }
      this.#position = fieldEnd;
    }
  }

  /** Skips a field that the contract does not know, including groups, which older encodings may contain. */
  #unknown(firstTag: number, end: number, path: string): void {
    const openGroups: number[] = [];
    let tag = firstTag;
    for (;;) {
      const number = tag >>> 3;
      if (number === 0) {
        this.#fail("wire", path);
      }
      switch (tag & 7) {
        case VARINT:
          this.#varint(end, path);
          break;
        case FIXED_64:
          this.#skip(8, end, path);
          break;
        case LENGTH_DELIMITED:
          this.#skip(this.#varint32(end, path), end, path);
          break;
        case FIXED_32:
          this.#skip(4, end, path);
          break;
        case START_GROUP:
          if (openGroups.length === GROUP_DEPTH_MAX) {
            this.#fail("wire", path);
          }
          openGroups.push(number);
          break;
        case END_GROUP:
          if (openGroups.pop() !== number) {
            this.#fail("wire", path);
          }
          break;
        default:
          this.#fail("wire", path);
      }
      if (openGroups.length === 0) {
        return;
      }
      tag = this.#tag(end, path);
    }
  }

  /** Reads the tag of a field. Megabytes of fields with nothing in them would take a tenth of a second to decode. */
  #tag(end: number, path: string): number {
    if (this.#fieldsLeft-- === 0) {
      this.#fail("fields", "");
    }
    return this.#varint32(end, path);
  }

  #skip(length: number, end: number, path: string): void {
    this.#position += length;
    if (this.#position > end) {
      this.#fail("wire", path);
    }
  }

  /** Skips a varint of up to 64 bits. */
  #varint(end: number, path: string, field?: FieldPlan): void {
    const start = this.#position;
    for (;;) {
      if (this.#position >= end) {
        this.#fail("wire", path, field);
      }
      const byte = this.#bytes[this.#position++] ?? 0;
      if (this.#position - start === VARINT_BYTES_MAX && byte > 1) {
        this.#fail("wire", path, field);
      }
      if (byte < 0x80) {
        return;
      }
    }
  }

  /** Reads a tag or a length. */
  #varint32(end: number, path: string, field?: FieldPlan): number {
    let value = 0;
    for (let index = 0; index < VARINT_32_BYTES_MAX; index++) {
      if (this.#position >= end) {
        break;
      }
      const byte = this.#bytes[this.#position++] ?? 0;
      if (index === VARINT_32_BYTES_MAX - 1 && byte > 0x0f) {
        break;
      }
      value |= (byte & 0x7f) << (7 * index);
      if (byte < 0x80) {
        return value >>> 0;
      }
    }
    return this.#fail("wire", path, field);
  }

  #fail(problem: MalformedMessageProblem, path: string, field?: FieldPlan): never {
    const name = field === undefined ? path : joinPath(path, field);
    throw new MalformedMessageError(this.#typeName, problem, name === "" ? undefined : name);
  }
}

function joinPath(path: string, field: FieldPlan): string {
  return path === "" ? field.name : `${path}.${field.name}`;
}

/** Whether a well-formed varint of more than seven bytes is a safe integer. Such varints are rare: negative or huge. */
function isSafeVarint(bytes: Uint8Array, start: number, end: number): boolean {
  let bits = 0n;
  for (let index = end - 1; index >= start; index--) {
    bits = (bits << 7n) | BigInt((bytes[index] ?? 0) & 0x7f);
  }
  return Number.isSafeInteger(Number(BigInt.asIntN(64, bits)));
}

/** Most strings are short and ASCII; for these a loop is cheaper than a view and a call. */
function isUtf8Between(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    if ((bytes[index] ?? 0) >= 0x80) {
      return isUtf8(bytes.subarray(index, end));
    }
  }
  return true;
}
