/** How a field is bound to the state of its view. */

import type { Signal } from "@preact/signals";

/** The value that a field shows, and where a new one goes: into the signal itself, or to a function. */
export type Bound<Value> =
  | { readonly value: Signal<Value>; readonly onInput?: never }
  | { readonly value: Value; readonly onInput: (value: Value) => void };

/** Returns the value to show, and a function that takes the next one. */
export function boundValue<Value>({ value, onInput }: Bound<Value>): readonly [Value, (next: Value) => void] {
  if (onInput !== undefined) {
    return [value, onInput];
  }
  const set = (next: Value): void => {
    value.value = next;
  };
  return [value.value, set];
}
