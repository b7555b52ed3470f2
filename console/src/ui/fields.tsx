/** Fields of forms, each with a label and, where it helps, a rule. */

import type { JSX } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** What may be entered. */
  readonly hint?: string;
  readonly isRequired?: boolean;
}

export interface TextFieldProps extends FieldProps {
  readonly type?: "text" | "password" | "email" | "number" | "search";
  readonly autoComplete?: string;
  readonly isMonospaced?: boolean;
  readonly placeholder?: string;
  readonly min?: number;
  readonly max?: number;
  readonly maxLength?: number;
  readonly isLabelHidden?: boolean;
  readonly hasFocus?: boolean;
}

export function TextField({
  label,
  value,
  onInput,
  hint,
  isRequired = false,
  type = "text",
  autoComplete = "off",
  isMonospaced = false,
  placeholder,
  min,
  max,
  maxLength,
  isLabelHidden = false,
  hasFocus = false,
}: TextFieldProps): JSX.Element {
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
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <Hint id={id} text={hint} />
    </div>
  );
}

export interface TextAreaProps extends FieldProps {
  readonly rows: number;
}

export function TextArea({ label, value, onInput, hint, rows, isRequired = false }: TextAreaProps): JSX.Element {
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
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <Hint id={id} text={hint} />
    </div>
  );
}

export interface SelectProps extends FieldProps {
  /** Values, each with its text. */
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly isLabelHidden?: boolean;
}

export function Select({ label, value, onInput, options, hint, isLabelHidden = false }: SelectProps): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? "hidden" : undefined}>
        {label}
      </label>
      <select id={id} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
      <Hint id={id} text={hint} />
    </div>
  );
}

export interface CheckboxProps {
  readonly label: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

export function Checkbox({ label, isChecked, onChange }: CheckboxProps): JSX.Element {
  return (
    <label class="checkbox">
      <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  );
}

function Hint({ id, text }: { readonly id: string; readonly text: string | undefined }): JSX.Element | null {
  return text === undefined ? null : (
    <p class="hint" id={`${id}-hint`}>
      {text}
    </p>
  );
}
