/** Small drawings in the place of words on buttons, which have a label for everyone who does not see them. */

import type { JSX } from "preact";

/** Each is a path in a box of 16 by 16. */
const PATHS = {
  close: "M4 4l8 8M12 4l-8 8",
  delete: "M2 4h12M6 4V2h4v2M3.5 4l.7 10h7.6l.7-10M6.5 7v4.5M9.5 7v4.5",
  copy: "M6 6h8v8H6zM3 10H2V2h8v1",
  first: "M4 3v10M12 3 7 8l5 5",
  next: "M6 3l5 5-5 5",
  plus: "M8 3v10M3 8h10",
  previous: "M10 3 5 8l5 5",
  refresh: "M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3",
} as const;

export type GlyphName = keyof typeof PATHS;

export function Glyph({ name }: { readonly name: GlyphName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
