/**
 * Fields of forms, each with a label and, where it helps, a rule. A field that is bound to a signal draws itself at each
 * change, and not its whole form.
 */

import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { type Bound, boundValue } from "./bound.ts";

interface FieldProps {
  readonly label: string;
  /** What may be entered. */
  readonly hint?: string;
  readonly isRequired?: boolean;
}

export type TextFieldProps = FieldProps &
  Bound<string> & {
    readonly type?: "text" | "password" | "email" | "number" | "search";
    readonly autoComplete?: string;
    readonly isMonospaced?: boolean;
    readonly placeholder?: string;
    readonly min?: number;
    readonly max?: number;
    readonly maxLength?: number;
    readonly isLabelHidden?: boolean;
    readonly hasFocus?: boolean;
  };

export function TextField(props: TextFieldProps): JSX.Element {
  const { label, hint, isRequired = false, type = "text", autoComplete = "off", isMonospaced = false } = props;
  const { placeholder, min, max, maxLength, isLabelHidden = false, hasFocus = false } = props;
  const [value, setValue] = boundValue<string>(props);
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? "hidden" : undefined}>
        {label}
      </label>
      <input
        id={id}
        class={isMonospaced ? "mono" : undefined}
        // The library's types demand one known type, because each type of input has other roles.
        type={type as "text"}
        value={value}
        required={isRequired}
        autocomplete={autoComplete}
        spellcheck={false}
        placeholder={placeholder}
        min={min}
        max={max}
        maxLength={maxLength}
        autofocus={hasFocus}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => setValue(event.currentTarget.value)}
      />
      <Hint id={id} text={hint} />
    </div>
  );
}

export type TextAreaProps = FieldProps & Bound<string> & { readonly rows: number };

export function TextArea(props: TextAreaProps): JSX.Element {
  const { label, hint, rows, isRequired = false } = props;
  const [value, setValue] = boundValue<string>(props);
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class="mono"
        rows={rows}
        spellcheck={false}
        required={isRequired}
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => setValue(event.currentTarget.value)}
      />
      <Hint id={id} text={hint} />
    </div>
  );
}

export type SelectProps<Value extends string> = Bound<Value> & {
  readonly label: string;
  /** Values, each with its text. */
  readonly options: readonly (readonly [value: Value, text: string])[];
};

export function Select<Value extends string>(props: SelectProps<Value>): JSX.Element {
  const { label, options } = props;
  const [value, setValue] = boundValue<Value>(props);
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={(event) => {
          const [chosen] = options[event.currentTarget.selectedIndex] ?? [];
          if (chosen !== undefined) {
            setValue(chosen);
          }
        }}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

export type CheckboxProps = Bound<boolean> & Pick<FieldProps, "label" | "hint">;

export function Checkbox(props: CheckboxProps): JSX.Element {
  const { label, hint } = props;
  const [isChecked, setChecked] = boundValue<boolean>(props);
  const id = useId();
  const box = (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={isChecked}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => setChecked(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
  return hint === undefined ? (
    box
  ) : (
    <div class="field">
      {box}
      <Hint id={id} text={hint} />
    </div>
  );
}

function Hint({ id, text }: { readonly id: string; readonly text: string | undefined }): JSX.Element | null {
  return text === undefined ? null : (
    <p class="hint" id={`${id}-hint`}>
      {text}
    </p>
  );
}
