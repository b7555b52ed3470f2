/** Whether what a view shows is current. It always takes the same room. */

import type { JSX } from "preact";
import type { Loaded } from "../live/index.ts";
import { Button } from "./button.tsx";
import { Glyph } from "./glyph.tsx";

export interface LiveStateProps {
  readonly loaded: Loaded<unknown>;
  readonly onRefresh: () => void;
}

export function LiveState({ loaded, onRefresh }: LiveStateProps): JSX.Element {
  const isFailing = loaded.error !== undefined;
  const text = isFailing ? "Not current" : loaded.value === undefined ? "Loading" : "Current";
  return (
    <span class="live-state">
      <span class={`live-dot ${isFailing ? "live-dot-bad" : ""}`} aria-hidden="true" />
      <span title={loaded.error?.message}>{text}</span>
      <Button kind="quiet" label="Refresh" onClick={onRefresh}>
        <Glyph name="refresh" />
      </Button>
    </span>
  );
}

/** What a table shows in the place of rows: that they are coming, why they do not, or that there are none. */
export function emptyText(loaded: Loaded<unknown>, isEmpty: boolean, none: string): string | undefined {
  if (loaded.value === undefined) {
    return loaded.error === undefined ? "Loading …" : loaded.error.message;
  }
  return isEmpty ? none : undefined;
}
