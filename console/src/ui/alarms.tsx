/** What a person must know first, above a page. Nothing if all is well. */

import type { JSX } from "preact";

export interface AlarmsProps {
  /** What they are about, for screen readers. */
  readonly label: string;
  readonly items: readonly string[];
}

export function Alarms({ label, items }: AlarmsProps): JSX.Element | null {
  if (items.length === 0) {
    return null;
  }
  return (
    <section class="alarms" aria-label={label}>
      <ul>
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </section>
  );
}
