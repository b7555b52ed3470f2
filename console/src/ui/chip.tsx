/** A short state, such as the role of a member. Its color never carries the meaning alone. */

import type { ComponentChildren, JSX } from "preact";

export type Tone = "neutral" | "good" | "warning" | "bad" | "accent";

export interface ChipProps {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}

export function Chip({ tone = "neutral", children }: ChipProps): JSX.Element {
  return <span class={`chip chip-${tone}`}>{children}</span>;
}
