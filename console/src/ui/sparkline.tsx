/** A small line of values over time, with its last value in words for those who do not see it. */

import type { JSX } from "preact";
import { sparklinePath } from "./sparkline-path.ts";

export interface SparklineProps {
  /** The oldest first. */
  readonly values: readonly number[];
  /** What the line shows, with units. */
  readonly label: string;
  /** Writes a value for people. */
  readonly text: (value: number) => string;
}

const WIDTH = 120;
const HEIGHT = 24;

export function Sparkline({ values, label, text }: SparklineProps): JSX.Element {
  const highest = Math.max(0, ...values);
  const last = values.at(-1) ?? 0;
  const { line, area } = sparklinePath(values, WIDTH, HEIGHT);
  const description = `${label}: now ${text(last)}, at most ${text(highest)}`;
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={description}
    >
      <title>{description}</title>
      <path class="sparkline-area" d={area} />
      <path class="sparkline-line" d={line} />
    </svg>
  );
}
