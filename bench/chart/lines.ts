/**
 * Draws figures over time as SVG: panels below each other with a common time axis, several lines in each, and marks for
 * events.
 */

import { heading, LINE_COLOR, round, svgDocument, text } from "./svg.ts";

export interface Point {
  readonly atSeconds: number;
  /** Null = not known then: the line is interrupted. */
  readonly value: number | null;
}

export interface Line {
  readonly label: string;
  readonly points: readonly Point[];
}

export interface Panel {
  readonly title: string;
  /** A logarithmic axis shows values of very different sizes. Then values must be above 0. */
  readonly isLogarithmic: boolean;
  /** At most as many as there are colors. */
  readonly lines: readonly Line[];
}

/** A moment that all panels mark. */
export interface Mark {
  readonly atSeconds: number;
  readonly label: string;
}

export interface TimeChart {
  readonly title: string;
  readonly note: string;
  readonly seconds: number;
  readonly panels: readonly Panel[];
  readonly marks: readonly Mark[];
}

const WIDTH = 790;
const LEFT = 56;
const RIGHT = 28;
const TOP = 52;
const PANEL_HEIGHT = 200;
/** Above the lines of a panel: its title and its legend. */
const PANEL_TOP = 40;
const GAP = 16;
const BOTTOM = 84;
/** Distinct to most people with a color deficiency as well. */
const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9"];
const MARK_COLOR = "#d0d0d0";
const LEGEND_WIDTH = 110;
const STEPS_MAX = 6;
const ROUND = [1, 2, 5, 10];
const SECONDS_PER_MINUTE = 60;

/** The chart as an SVG document. */
export function drawLines({ title, note, seconds, panels, marks }: TimeChart): string {
  const height = TOP + panels.length * (PANEL_HEIGHT + GAP) + BOTTOM;
  const xOf = (atSeconds: number): number => LEFT + (atSeconds / seconds) * (WIDTH - LEFT - RIGHT);
  const bottom = height - BOTTOM - GAP;
  return svgDocument(WIDTH, height, title, [
    ...heading(title, note),
    ...marks.map(({ atSeconds }) => {
      return `<path d="M${round(xOf(atSeconds))} ${TOP + PANEL_TOP}V${bottom}" stroke="${MARK_COLOR}"/>`;
    }),
    ...panels.flatMap((panel, at) => drawPanel(panel, TOP + at * (PANEL_HEIGHT + GAP), xOf)),
    ...steps(seconds / SECONDS_PER_MINUTE)
      .filter((minutes) => minutes * SECONDS_PER_MINUTE <= seconds)
      .map((minutes) => {
        return text(xOf(minutes * SECONDS_PER_MINUTE), bottom + 16, `${shown(minutes)} min`, 'text-anchor="middle"');
      }),
    ...marks.map(({ atSeconds, label }) => {
      const x = round(xOf(atSeconds));
      const attributes = `transform="rotate(35 ${x} ${bottom + 28})" font-size="9" fill="${LINE_COLOR}"`;
      return text(xOf(atSeconds), bottom + 28, label, attributes);
    }),
  ]);
}

function drawPanel({ title, isLogarithmic, lines }: Panel, top: number, xOf: (atSeconds: number) => number): string[] {
  const values = lines.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []));
  const scale = isLogarithmic ? Math.log10 : (value: number): number => value;
  const axis = isLogarithmic ? powersAround(values) : steps(Math.max(0, ...values) || 1);
  const [low, high] = [axis[0] as number, axis.at(-1) as number];
  const [first, last] = [scale(low), scale(high)];
  const [lowest, height] = [top + PANEL_HEIGHT, PANEL_HEIGHT - PANEL_TOP];
  const yOf = (value: number): number => lowest - ((scale(value) - first) / (last - first)) * height;
  return [
    text(LEFT, top + 12, title, 'font-weight="bold"'),
    ...lines.map(({ label }, at) => {
      return text(LEFT + at * LEGEND_WIDTH, top + 28, `— ${label}`, `fill="${COLORS[at]}"`);
    }),
    ...axis.flatMap((value) => [
      `<path d="M${LEFT} ${round(yOf(value))}H${WIDTH - RIGHT}" stroke="${MARK_COLOR}" stroke-dasharray="2 3"/>`,
      text(LEFT - 6, yOf(value) + 4, shown(value), 'text-anchor="end"'),
    ]),
    ...lines.map(({ points }, at) => {
      return `<path d="${pathOf(points, xOf, yOf)}" fill="none" stroke="${COLORS[at]}" stroke-width="1.3"/>`;
    }),
  ];
}

/** A path with a gap at each unknown value. */
function pathOf(points: readonly Point[], xOf: (atSeconds: number) => number, yOf: (value: number) => number): string {
  let isBegun = false;
  let path = "";
  for (const { atSeconds, value } of points) {
    if (value !== null) {
      path += `${isBegun ? "L" : "M"}${round(xOf(atSeconds))} ${round(yOf(value))}`;
    }
    isBegun = value !== null;
  }
  return path;
}

/** Round values at equal distances, from 0 to the first one that is not below the largest value, which is above 0. */
function steps(largest: number): number[] {
  const rough = largest / STEPS_MAX;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (ROUND.find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.ceil(largest / step) + 1 }, (_, at) => at * step);
}

/** The powers of ten from the last one below all values to the first one above them. */
function powersAround(values: readonly number[]): number[] {
  const first = Math.floor(Math.log10(Math.min(1, ...values)));
  const last = Math.ceil(Math.log10(Math.max(10, ...values)));
  return Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
}

function shown(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(2)));
}
