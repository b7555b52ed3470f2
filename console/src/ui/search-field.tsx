/**
 * A field whose text takes effect when the person presses Enter. Names are shown with escapes, so a person may type one: it
 * is searched as typed, because a name may contain a backslash, and the field offers the character in its place.
 */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { meantText, shownText } from "../text/index.ts";
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
      <Searched text={value} onSearch={onSearch} />
    </form>
  );
}

/** What was searched, if the field cannot show it or the person may have meant something else. */
function Searched({ text, onSearch }: Pick<SearchFieldProps, "onSearch"> & { readonly text: string }) {
  const meant = meantText(text);
  if (meant !== text) {
    return (
      <p class="hint">
        Searched as typed, with the backslash.{" "}
        <button type="button" class="link" onClick={() => onSearch(meant)}>
          Search for the character that it stands for
        </button>
      </p>
    );
  }
  return shownText(text) === text ? null : (
    <p class="hint">
      Searched: <code>{text}</code>
    </p>
  );
}
