/**
 * Draws a bar chart as SVG: a horizontal bar for each ratio, a line at 1, and both figures beside each bar.
 *
 * Bars show ratios, not figures, because the figures of different scenarios differ by orders of magnitude.
 */

import type { Bar, Chart } from "./figures.ts";

const WIDTH = 790;
const LABEL_WIDTH = 220;
const FIGURES_WIDTH = 190;
const TOP = 56;
const ROW_HEIGHT = 24;
const BAR_HEIGHT = 14;
const BOTTOM = 28;
/** The bars have room for at least twice the other system's figure. */
const RATIO_MIN = 2;
const INK = "#1a1a1a";
const BAR_COLOR = "#2f6f9f";
const LINE_COLOR = "#767676";

/** The chart as an SVG document. */
export function drawChart({ title, note, bars }: Chart): string {
  const height = TOP + bars.length * ROW_HEIGHT + BOTTOM;
  const largest = Math.max(RATIO_MIN, ...bars.map(({ ours, theirs }) => ours / theirs));
  const scale = (WIDTH - LABEL_WIDTH - FIGURES_WIDTH) / largest;
  const oneAt = LABEL_WIDTH + scale;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" ` +
      `role="img" font-family="sans-serif" font-size="12" fill="${INK}">`,
    `<title>${escapeMarkup(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    text(12, 20, title, 'font-size="14" font-weight="bold"'),
    text(12, 38, note, `fill="${LINE_COLOR}"`),
    ...bars.flatMap((bar, at) => rowOf(bar, TOP + at * ROW_HEIGHT, scale)),
    `<path d="M${round(oneAt)} ${TOP - 4}V${height - BOTTOM + 4}" stroke="${LINE_COLOR}" stroke-dasharray="3 3"/>`,
    text(oneAt, height - 8, "1×: equal", `text-anchor="middle" fill="${LINE_COLOR}"`),
    "</svg>",
    "",
  ].join("\n");
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

function text(x: number, y: number, content: string, attributes = ""): string {
  const gap = attributes === "" ? "" : " ";
  return `<text x="${round(x)}" y="${y}"${gap}${attributes}>${escapeMarkup(content)}</text>`;
}

/** Three significant digits, or a whole number. */
function shown(figure: number): string {
  return figure >= 100 ? Math.round(figure).toLocaleString("en-US") : String(Number(figure.toPrecision(3)));
}

function round(length: number): string {
  return String(Number(length.toFixed(1)));
}

function escapeMarkup(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
