/**
 * Fields of records as values: how each is written and read. The fields of a record are encoded one after the other, in
 * the order in which its list names them, without names or tags.
 */

import { invariant } from "../../primitives/index.ts";
import { RecordReader, RecordWriter } from "./record.ts";

export interface Field<Value> {
  write(writer: RecordWriter, value: Value): void;
  read(reader: RecordReader): Value;
  /** Whether a record without a value does not have the field at all. */
  readonly mayBeLeftOut?: true;
}

/** A field for each property, in the order in which they are encoded. */
export type FieldsOf<Shape> = {
  readonly [Name in keyof Shape]-?: Field<
    Shape[Name] | (Pick<Shape, Name> extends Required<Pick<Shape, Name>> ? never : undefined)
  >;
};

export const text: Field<string> = {
  write: (writer, value) => void writer.text(value),
  read: (reader) => reader.text(),
};

/** A text that occurs often, such as a namespace. */
export const name: Field<string> = {
  write: (writer, value) => void writer.text(value),
  read: (reader) => reader.name(),
};

export const bytes: Field<Uint8Array> = {
  write: (writer, value) => void writer.bytes(value),
  read: (reader) => reader.bytes(),
};

export const flag: Field<boolean> = {
  write: (writer, value) => void writer.boolean(value),
  read: (reader) => reader.boolean(),
};

/** 0 to 2^53 − 1. */
export const count: Field<number> = {
  write: (writer, value) => void writer.uint53(value),
  read: (reader) => reader.uint53(),
};

const HALF_BITS = 32n;
const HALF_MASK = 0xffff_ffffn;

/** 0 to 2^64 − 1. */
export const uint64: Field<bigint> = {
  write: (writer, value) => void writer.uint32(Number(value >> HALF_BITS)).uint32(Number(value & HALF_MASK)),
  read: (reader) => (BigInt(reader.uint32()) << HALF_BITS) | BigInt(reader.uint32()),
};

/** −2^63 to 2^63 − 1. */
export const int64: Field<bigint> = {
  write: (writer, value) => uint64.write(writer, BigInt.asUintN(64, value)),
  read: (reader) => BigInt.asIntN(64, uint64.read(reader)),
};

/** 0 to 2^32 − 1. */
export const smallCount: Field<number> = {
  write: (writer, value) => void writer.uint32(value),
  read: (reader) => reader.uint32(),
};

export function fixedBytes(length: number): Field<Uint8Array> {
  return {
    write: (writer, value) => void writer.fixed(value, length),
    read: (reader) => reader.fixed(length),
  };
}

/** One of these values, as its place among them. */
export function oneOf<Value>(values: readonly Value[], rule: string): Field<Value> {
  return {
    write: (writer, value) => void writer.uint8(values.indexOf(value)),
    read: (reader) => {
      const code = reader.uint8();
      const value = values[code];
      invariant(value !== undefined, rule, () => String(code));
      return value;
    },
  };
}

/** Whether there is a value, and the value; without one, this empty value. */
export function orEmpty<Value extends string | number | bigint | null | Uint8Array>(
  field: Field<Value>,
  empty: Value,
): Field<Value | undefined> {
  return {
    write: (writer, value) => {
      writer.boolean(value !== undefined);
      field.write(writer, value ?? empty);
    },
    read: (reader) => {
      const isPresent = reader.boolean();
      const value = field.read(reader);
      const isEmpty = value === empty || (value instanceof Uint8Array && value.length === 0);
      invariant(isPresent || isEmpty, "fields that are absent are empty");
      return isPresent ? value : undefined;
    },
  };
}

export const optionalCount = orEmpty(count, 0);

/** The same field with null instead of undefined. */
export function nullInstead<Value>(field: Field<Value | undefined>): Field<Value | null> {
  return {
    write: (writer, value) => field.write(writer, value ?? undefined),
    read: (reader) => field.read(reader) ?? null,
  };
}

/** Whether there is a value, and the value if there is. */
export function nullable<Value>(field: Field<Value>): Field<Value | null> {
  return {
    write: (writer, value) => {
      writer.boolean(value !== null);
      if (value !== null) {
        field.write(writer, value);
      }
    },
    read: (reader) => (reader.boolean() ? field.read(reader) : null),
  };
}

/** The same for a property that a record without a value does not have. */
export function optional<Value>(field: Field<Value>): Field<Value | undefined> {
  const inner = nullable(field);
  return {
    write: (writer, value) => inner.write(writer, value ?? null),
    read: (reader) => inner.read(reader) ?? undefined,
    mayBeLeftOut: true,
  };
}

/** The number of values, and each of them. */
export function listOf<Value>(field: Field<Value>): Field<readonly Value[]> {
  return {
    write: (writer, values) => {
      writer.uint32(values.length);
      for (const value of values) {
        field.write(writer, value);
      }
    },
    read: (reader) => {
      const values: Value[] = [];
      for (let left = reader.uint32(); left > 0; left--) {
        values.push(field.read(reader));
      }
      return values;
    },
  };
}

/**
 * A record of these fields.
 *
 * @param known properties that are not encoded, because every such record has them.
 */
export function recordOf<Shape extends object, Known extends object = object>(
  fields: FieldsOf<Omit<Shape, keyof Known>>,
  known: Known = {} as Known,
): Field<Shape> {
  const properties = Object.keys(fields);
  const list = Object.values<Field<unknown>>(fields);
  const { length } = list;
  // A copy of a record with all of its properties takes less time than to add them one by one.
  const always = properties.filter((_, at) => list[at]?.mayBeLeftOut !== true);
  const blank = { ...known, ...Object.fromEntries(always.map((property) => [property, undefined])) };
  return {
    write: (writer, value) => {
      const record = value as Readonly<Record<string, unknown>>;
      for (let at = 0; at < length; at++) {
        (list[at] as Field<unknown>).write(writer, record[properties[at] as string]);
      }
    },
    read: (reader) => {
      const record = { ...blank } as Record<string, unknown>;
      for (let at = 0; at < length; at++) {
        const field = list[at] as Field<unknown>;
        const value = field.read(reader);
        if (value !== undefined || field.mayBeLeftOut !== true) {
          record[properties[at] as string] = value;
        }
      }
      return record as Shape;
    },
  };
}

/** The value as the bytes of a row. */
export function encodeRow<Value>(field: Field<Value>, value: Value): Uint8Array {
  const writer = new RecordWriter();
  field.write(writer, value);
  return writer.finish();
}

/** Raises an InvariantViolation for bytes that `encodeRow` never wrote. */
export function decodeRow<Value>(field: Field<Value>, bytes: Uint8Array): Value {
  const reader = new RecordReader(bytes);
  const value = field.read(reader);
  reader.end();
  return value;
}
