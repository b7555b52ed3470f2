/**
 * Messages of the contract in JSON. The types follow from those that are generated from the contract, so a renamed field
 * does not compile; nothing of the generated code reaches the bundle.
 */

/** A message as members write it (proto3 JSON): int64 and bytes as strings, enums by name, absent messages left out. */
export type Json<Value> = Value extends bigint | Uint8Array
  ? string
  : Value extends number
    ? number extends Value
      ? number
      : string
    : Value extends string | boolean
      ? Value
      : Value extends readonly (infer Element)[]
        ? Json<Element>[]
        : { [Name in keyof Value]: Json<Value[Name]> };

/** A message as members read it: any field may be left out, and an int64 may be a number. */
export type JsonInput<Value> = Value extends bigint
  ? string | number
  : Value extends Uint8Array
    ? string
    : Value extends number
      ? number extends Value
        ? number
        : string
      : Value extends string | boolean | undefined
        ? Value
        : Value extends readonly (infer Element)[]
          ? readonly JsonInput<Element>[]
          : { readonly [Name in keyof Value]?: JsonInput<Value[Name]> };
