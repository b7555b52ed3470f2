/** The mark of Quoin: a cornerstone. */

import type { JSX } from "preact";

export function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <path class="mark-right" d="M16 16 29 9v14L16 30z" />
      <path class="mark-left" d="M16 16v14L3 23V9z" />
      <path class="mark-top" d="M16 2 29 9l-13 7L3 9z" />
    </svg>
  );
}
