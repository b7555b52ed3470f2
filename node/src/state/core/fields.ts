/**
 * Fields of records as values: how each is written and read. The fields of a record are encoded one after the other, in
 * the order in which its list names them, without names or tags.
 */

import { invariant } from "../../primitives/index.ts";
import { RecordReader, RecordWriter } from "./record.ts";

export interface Field<Value> {
  /** @param record whose field it is, if it is one of a record. */
  write(writer: RecordWriter, value: Value, record?: object): void;
  read(reader: RecordReader, record?: object): Value;
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

/** What may belong to a session. */
export interface Owned {
  /** Absent = it belongs to none. */
  readonly sessionId?: number;
}

/** The first bit of a count says that a session follows it. No count needs that bit. */
const SESSION_BIT = 0x8000_0000;
const UINT32_VALUES = 2 ** 32;

/** Writes a count, and the session if there is one; without a session it is as before there were sessions. */
export function writeOwned(writer: RecordWriter, value: number, { sessionId }: Owned): void {
  if (sessionId === undefined) {
    writer.uint53(value);
  } else {
    writer.uint32(SESSION_BIT + Math.floor(value / UINT32_VALUES)).uint32(value % UINT32_VALUES);
    writer.uint53(sessionId);
  }
}

/** Reads the form of `writeOwned`; `owned` gets the session if there is one. */
export function readOwned(reader: RecordReader, owned: { sessionId?: number }): number {
  if (reader.peek() < 0x80) {
    return reader.uint53();
  }
  const value = (reader.uint32() - SESSION_BIT) * UINT32_VALUES + reader.uint32();
  invariant(Number.isSafeInteger(value), "counts are at most 2^53 - 1", () => String(value));
  owned.sessionId = reader.uint53();
  return value;
}

/** A count, and the session of its record. The record also has `ownSession`, in any place after it. */
export const countWithSession: Field<number> = {
  write: (writer, value, record) => writeOwned(writer, value, record as Owned),
  read: (reader, record) => readOwned(reader, record as { sessionId?: number }),
};

/** The session that `countWithSession` writes and reads. */
export const ownSession: Field<number | undefined> = {
  write: () => undefined,
  read: (_reader, record) => (record as Owned).sessionId,
  mayBeLeftOut: true,
};

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
        (list[at] as Field<unknown>).write(writer, record[properties[at] as string], record);
      }
    },
    read: (reader) => {
      const record = { ...blank } as Record<string, unknown>;
      for (let at = 0; at < length; at++) {
        const field = list[at] as Field<unknown>;
        const value = field.read(reader, record);
        if (value !== undefined || field.mayBeLeftOut !== true) {
          record[properties[at] as string] = value;
        }
      }
      return record as Shape;
    },
  };
}

/** A record behind a byte that names its format. */
export function formatted<Value>(format: number, rule: string, field: Field<Value>): Field<Value> {
  return {
    write: (writer, value) => field.write(writer.uint8(format), value),
    read: (reader) => {
      const found = reader.uint8();
      invariant(found === format, rule, () => String(found));
      return field.read(reader);
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
