/** Messages of the contract on their way through a proxy: decoded into neutral values, and changed. */

import { type MessageCodec, serviceDefinitions } from "@quoin/proto";
import type { Value } from "./values.ts";

/** Before each message of gRPC: a flag for compression, and the length. */
const FRAME_HEADER_BYTES = 5;

/** A method of the contract. */
export interface ContractMethod {
  /** Such as `PutKey`. */
  readonly name: string;
  readonly isStream: boolean;
  readonly request: MessageCodec<object>;
  readonly response: MessageCodec<object>;
}

/** All methods, by their path. */
const METHODS: ReadonlyMap<string, ContractMethod> = new Map(
  Object.values(serviceDefinitions).flatMap((definition) =>
    Object.values(definition).map(({ path, responseStream, requestCodec, responseCodec }) => [
      path,
      {
        name: path.slice(path.lastIndexOf("/") + 1),
        isStream: responseStream,
        request: requestCodec as unknown as MessageCodec<object>,
        response: responseCodec as unknown as MessageCodec<object>,
      },
    ]),
  ),
);

/** Names of all methods of the contract. */
export const METHOD_NAMES: ReadonlySet<string> = new Set([...METHODS.values()].map(({ name }) => name));

/** The method of a path; undefined = it is not in the contract. */
export function methodOf(path: string): ContractMethod | undefined {
  return METHODS.get(path);
}

/** The message of a frame that is not compressed. */
export function messageOf(frame: Buffer): Buffer {
  return frame.subarray(FRAME_HEADER_BYTES);
}

/** The frame of a message. */
function frameOf(message: Uint8Array): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}

/** Divides received bytes into whole frames and the rest. */
export function framesOf(bytes: Buffer): { readonly frames: readonly Buffer[]; readonly rest: Buffer } {
  const frames: Buffer[] = [];
  let rest = bytes;
  while (rest.length >= FRAME_HEADER_BYTES) {
    const length = FRAME_HEADER_BYTES + rest.readUInt32BE(1);
    if (rest.length < length) {
      break;
    }
    frames.push(rest.subarray(0, length));
    rest = rest.subarray(length);
  }
  return { frames, rest };
}

/** A frame as a neutral value: names in snake case, counts as numbers, bytes as text. */
export function neutralOf(codec: MessageCodec<object>, frame: Buffer): Value {
  return frame.length === 0 ? {} : neutral(codec.decode(messageOf(frame)));
}

function neutral(value: unknown): Value {
  if (typeof value === "bigint") {
    return Number(value);
  }
  if (value instanceof Uint8Array) {
    return new TextDecoder().decode(value);
  }
  if (Array.isArray(value)) {
    return value.map(neutral);
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [snakeCase(name), neutral(one)]));
  }
  return value as Value;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The frame with another content. */
export function changed(
  codec: MessageCodec<object>,
  frame: Buffer,
  change: (message: Record<string, unknown>) => void,
): Buffer {
  const message = codec.decode(messageOf(frame)) as Record<string, unknown>;
  change(message);
  return frameOf(codec.encode(message).finish());
}

/** Sets fields of a message, given in snake case. */
export function setFields(message: Record<string, unknown>, fields: Readonly<Record<string, Value>>): void {
  for (const [name, value] of Object.entries(fields)) {
    const field = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    message[field] = typeof message[field] === "bigint" ? BigInt(Number(value)) : value;
  }
}
