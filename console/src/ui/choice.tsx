/** A choice between a few forms of the same thing. */

import type { JSX } from "preact";
import { type Bound, boundValue } from "./bound.ts";

export type ChoiceProps<Value extends string> = Bound<Value> & {
  readonly label: string;
  readonly options: readonly (readonly [value: Value, text: string])[];
};

export function Choice<Value extends string>(props: ChoiceProps<Value>): JSX.Element {
  const { label, options } = props;
  const [value, setValue] = boundValue<Value>(props);
  return (
    <fieldset class="choice" aria-label={label}>
      {options.map(([option, text]) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => setValue(option)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}
