/** How much of a limit is used, as a bar with a text. */

import type { JSX } from "preact";

export interface MeterProps {
  readonly used: number;
  readonly limit: number;
  readonly label: string;
  readonly text: string;
}

const [WARNING, FULL] = [0.75, 0.9];
const PERCENT = 100;

export function Meter({ used, limit, label, text }: MeterProps): JSX.Element {
  const share = limit > 0 ? Math.min(1, used / limit) : 0;
  const tone = share >= FULL ? "bad" : share >= WARNING ? "warning" : "good";
  const description = `${label}: ${text}`;
  return (
    <svg
      class={`meter meter-${tone}`}
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      role="img"
      aria-label={description}
    >
      <title>{description}</title>
      <rect class="meter-rest" width="100" height="6" rx="1" />
      <rect class="meter-used" width={share * PERCENT} height="6" rx="1" />
    </svg>
  );
}
