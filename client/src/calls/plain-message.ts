/**
 * Messages of the contract in the form of the SDK: the same fields, with counts as numbers. Nothing is lost, because
 * decodeRequest of @quoin/proto, which also reads the answers, refuses an int64 outside ±(2^53 − 1) (rule S17).
 */

/** A decoded message with its int64 fields as numbers, at any depth. */
export type Plain<Value> = Value extends bigint
  ? number
  : Value extends string | number | boolean | undefined | Uint8Array
    ? Value
    : Value extends readonly (infer Element)[]
      ? Plain<Element>[]
      : { [Field in keyof Value]: Plain<Value[Field]> };

/** Converts a message from decodeRequest. Bytes are passed on, not copied. */
export function toPlain<Message>(message: Message): Plain<Message> {
  return convert(message) as Plain<Message>;
}

function convert(value: unknown): unknown {
  if (typeof value === "bigint") {
    return Number(value);
  }
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(convert);
  }
  return Object.fromEntries(Object.entries(value).map(([field, content]) => [field, convert(content)]));
}
