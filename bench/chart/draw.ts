/**
 * Draws a bar chart as SVG: a horizontal bar for each ratio, a line at 1, and both figures beside each bar.
 *
 * Bars show ratios, not figures, because the figures of different scenarios differ by orders of magnitude.
 */

import type { Bar, Chart } from "./figures.ts";
import { heading, LINE_COLOR, round, svgDocument, text } from "./svg.ts";

const WIDTH = 790;
const LABEL_WIDTH = 220;
const FIGURES_WIDTH = 190;
const TOP = 56;
const ROW_HEIGHT = 24;
const BAR_HEIGHT = 14;
const BOTTOM = 28;
/** The bars have room for at least twice the other system's figure. */
const RATIO_MIN = 2;
const BAR_COLOR = "#2f6f9f";

/** The chart as an SVG document. */
export function drawChart({ title, note, bars }: Chart): string {
  const height = TOP + bars.length * ROW_HEIGHT + BOTTOM;
  const largest = Math.max(RATIO_MIN, ...bars.map(({ ours, theirs }) => ours / theirs));
  const scale = (WIDTH - LABEL_WIDTH - FIGURES_WIDTH) / largest;
  const oneAt = LABEL_WIDTH + scale;
  return svgDocument(WIDTH, height, title, [
    ...heading(title, note),
    ...bars.flatMap((bar, at) => rowOf(bar, TOP + at * ROW_HEIGHT, scale)),
    `<path d="M${round(oneAt)} ${TOP - 4}V${height - BOTTOM + 4}" stroke="${LINE_COLOR}" stroke-dasharray="3 3"/>`,
    text(oneAt, height - 8, "1×: equal", `text-anchor="middle" fill="${LINE_COLOR}"`),
  ]);
}

function rowOf({ label, ours, theirs }: Bar, top: number, scale: number): string[] {
  const ratio = ours / theirs;
  const baseline = top + BAR_HEIGHT - 2;
  const figures = `${ratio.toFixed(2)}× (${shown(ours)} / ${shown(theirs)})`;
  return [
    text(LABEL_WIDTH - 8, baseline, label, 'text-anchor="end"'),
    `<rect x="${LABEL_WIDTH}" y="${top}" width="${round(ratio * scale)}" height="${BAR_HEIGHT}" fill="${BAR_COLOR}"/>`,
    text(LABEL_WIDTH + ratio * scale + 6, baseline, figures),
  ];
}

/** Three significant digits, or a whole number. */
function shown(figure: number): string {
  return figure >= 100 ? Math.round(figure).toLocaleString("en-US") : String(Number(figure.toPrecision(3)));
}
