/**
 * What the JSON codec must know of each message of the contract. It comes from the descriptors of the contract, so a
 * new message, field or method needs no code here.
 */

import { createFileRegistry, type DescField, type DescMessage, fromBinary, ScalarType } from "@bufbuild/protobuf";
import { type FeatureSet_FieldPresence, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { readDescriptorSet } from "@quoin/proto";
import { invariant } from "../../primitives/index.ts";

/** The kinds of a value. A 64-bit integer is a bigint in a message, and a decimal string in JSON. */
export type ValueKind = "string" | "bytes" | "bool" | "int32" | "uint32" | "int64" | "uint64" | "enum" | "message";

export interface FieldPlan {
  /** Name in the protobuf definition, such as `ttl_seconds`. Errors name the field by it. */
  readonly name: string;
  /** Name in JSON and in TypeScript, such as `ttlSeconds`. */
  readonly jsonName: string;
  readonly kind: ValueKind;
  readonly isRepeated: boolean;
  /** Whether it is a map, whose keys are strings and whose values have the kind. */
  readonly isMap: boolean;
  /** Whether an absent field differs from one with the default value. */
  readonly hasPresence: boolean;
  /** The message of a field of the kind `message`. */
  readonly message: MessagePlan | null;
  /** The numbers of the values of an enum by their names. */
  readonly numbers: ReadonlyMap<string, number>;
  /** The names of the values of an enum by their numbers. */
  readonly names: ReadonlyMap<number, string>;
}

export interface MessagePlan {
  /** Full name, such as `coordination.v1.PutKeyRequest`. */
  readonly typeName: string;
  /** In the order of their numbers. */
  readonly fields: readonly FieldPlan[];
  /** The fields by both of their names. */
  readonly byName: ReadonlyMap<string, FieldPlan>;
  /** The fields of bytes by both names of their text alternative, such as `valueText` and `value_text`. */
  readonly byTextName: ReadonlyMap<string, FieldPlan>;
}

/** FieldPresence.IMPLICIT of the descriptors, which exports its values only as an enum. */
const IMPLICIT: FeatureSet_FieldPresence = 2;
const SCALARS: ReadonlyMap<ScalarType, ValueKind> = new Map([
  [ScalarType.STRING, "string"],
  [ScalarType.BYTES, "bytes"],
  [ScalarType.BOOL, "bool"],
  [ScalarType.INT32, "int32"],
  [ScalarType.UINT32, "uint32"],
  [ScalarType.INT64, "int64"],
  [ScalarType.UINT64, "uint64"],
]);

const NO_NUMBERS: ReadonlyMap<string, number> = new Map();
const NO_NAMES: ReadonlyMap<number, string> = new Map();

let registry: ReturnType<typeof createFileRegistry> | undefined;
const plans = new Map<string, MessagePlan>();

/** Returns the descriptors of the contract. They are read once. */
export function contractRegistry(): ReturnType<typeof createFileRegistry> {
  registry ??= createFileRegistry(fromBinary(FileDescriptorSetSchema, readDescriptorSet()));
  return registry;
}

/** Returns the plan of a message of the contract. It is made once. */
export function messagePlan(typeName: string): MessagePlan {
  const known = plans.get(typeName);
  if (known !== undefined) {
    return known;
  }
  const message = contractRegistry().getMessage(typeName);
  invariant(message !== undefined, "a message of a method is a message of the contract", () => typeName);
  return makePlan(message);
}

function makePlan(message: DescMessage): MessagePlan {
  const fields: FieldPlan[] = [];
  const byName = new Map<string, FieldPlan>();
  const byTextName = new Map<string, FieldPlan>();
  const plan: MessagePlan = { typeName: message.typeName, fields, byName, byTextName };
  // Before its fields: a message may contain itself.
  plans.set(message.typeName, plan);
  for (const descriptor of message.fields.toSorted((left, right) => left.number - right.number)) {
    const field = fieldPlan(descriptor);
    fields.push(field);
    byName.set(field.name, field).set(field.jsonName, field);
    if (field.kind === "bytes" && !field.isRepeated && !field.isMap) {
      byTextName.set(`${field.name}_text`, field).set(textName(field), field);
    }
  }
  for (const name of byTextName.keys()) {
    invariant(!byName.has(name), "no field has the name of a text alternative", () => `${message.typeName}.${name}`);
  }
  return plan;
}

/** The name in JSON of the text alternative of a field of bytes. */
export function textName({ jsonName }: FieldPlan): string {
  return `${jsonName}Text`;
}

function fieldPlan(field: DescField): FieldPlan {
  const { message, enum: values, scalar } = field;
  const isMap = field.fieldKind === "map";
  invariant(!isMap || field.mapKey === ScalarType.STRING, "the keys of maps are strings", () => field.name);
  const kind = message !== undefined ? "message" : values !== undefined ? "enum" : SCALARS.get(scalar as ScalarType);
  invariant(kind !== undefined, "the contract has only kinds of fields that have a form in JSON", () => field.name);
  return {
    name: field.name,
    jsonName: field.jsonName,
    kind,
    isRepeated: field.fieldKind === "list",
    isMap,
    hasPresence: field.fieldKind !== "list" && !isMap && field.presence !== IMPLICIT,
    message: message === undefined ? null : messagePlan(message.typeName),
    numbers: values === undefined ? NO_NUMBERS : new Map(values.values.map(({ name, number }) => [name, number])),
    names: values === undefined ? NO_NAMES : new Map(values.values.map(({ name, number }) => [number, name])),
  };
}
