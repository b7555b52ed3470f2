/** Values of equal periods as bars, with an axis. */

import type { JSX } from "preact";

export interface Bar {
  readonly label: string;
  readonly value: number;
}

export interface BarChartProps {
  readonly label: string;
  readonly bars: readonly Bar[];
  readonly text: (value: number) => string;
}

const WIDTH = 800;
const HEIGHT = 160;
const GAP_SHARE = 0.2;
const MOST_GRID_LINES = 4;

export function BarChart({ label, bars, text }: BarChartProps): JSX.Element {
  const highest = Math.max(1, ...bars.map(({ value }) => value));
  const step = WIDTH / Math.max(1, bars.length);
  return (
    <figure class="chart">
      <figcaption class="hidden">{label}</figcaption>
      <div class="chart-axis" aria-hidden="true">
        <span>{text(highest)}</span>
        <span>{text(highest / 2)}</span>
        <span>0</span>
      </div>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {Array.from({ length: MOST_GRID_LINES + 1 }, (_, line) => (
          <line
            key={line}
            class="chart-grid"
            x1="0"
            x2={WIDTH}
            y1={(HEIGHT * line) / MOST_GRID_LINES}
            y2={(HEIGHT * line) / MOST_GRID_LINES}
          />
        ))}
        {bars.map(({ label: name, value }, at) => {
          const height = (value / highest) * HEIGHT;
          return (
            <rect
              key={name}
              class="chart-bar"
              x={at * step + (step * GAP_SHARE) / 2}
              y={HEIGHT - height}
              width={step * (1 - GAP_SHARE)}
              height={height}
            >
              <title>{`${name}: ${text(value)}`}</title>
            </rect>
          );
        })}
      </svg>
      <div class="chart-times" aria-hidden="true">
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
    </figure>
  );
}
