/** A field whose text takes effect when the person presses Enter. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { TextField } from "./fields.tsx";

export interface SearchFieldProps {
  readonly label: string;
  /** The text that has effect now. */
  readonly value: string;
  readonly onSearch: (text: string) => void;
}

export function SearchField({ label, value, onSearch }: SearchFieldProps): JSX.Element {
  const typed = useSignal<string | null>(null);
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(typed.value ?? value);
        typed.value = null;
      }}
    >
      <TextField
        label={label}
        isLabelHidden
        isMonospaced
        type="search"
        placeholder={`${label}, then Enter`}
        value={typed.value ?? value}
        onInput={(text) => {
          typed.value = text;
        }}
      />
    </form>
  );
}
