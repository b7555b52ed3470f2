/**
 * Sequence diagrams: a text that lists the messages between columns, in order, drawn as SVG.
 *
 * One statement per line. Empty lines and lines that begin with `#` have no effect. `|` breaks a label into lines.
 *
 *     title A lock with fencing
 *     column a Client A             a column, from left to right
 *     a -> b: text                  a message; `-->` draws it dashed, for an answer
 *     a -x b: text                  a message that does not arrive
 *     note a: text                  a box on a column
 *     span a: text                  the same, with a heavy border: a state that lasts
 *     time text                     a line through all columns
 *
 * Columns are as far apart as their labels need, so no text overlaps another one.
 */

/** The text is not a sequence diagram. The message names the line. */
export class DiagramError extends Error {}

interface Column {
  readonly id: string;
  readonly lines: readonly string[];
}

interface Arrow {
  readonly kind: "arrow";
  readonly from: number;
  readonly to: number;
  readonly style: "solid" | "dashed" | "lost";
  readonly lines: readonly string[];
}

interface Box {
  readonly kind: "note" | "span";
  readonly column: number;
  readonly lines: readonly string[];
}

interface Divider {
  readonly kind: "time";
  readonly lines: readonly string[];
}

type Step = Arrow | Box | Divider;

interface Sequence {
  readonly title: string;
  readonly columns: readonly Column[];
  readonly steps: readonly Step[];
}

const FONT_SIZE = 13;
const LINE_HEIGHT = 17;
/** Wider than the letters of Helvetica are on average, so that a label fits in other fonts too. */
const CHARACTER_WIDTH = 7.2;
const CAPITAL_WIDTH = 9.6;
const PADDING = 8;
const MARGIN = 20;
/** Between the widest label and the columns at both of its ends. */
const LABEL_GAP = 14;
const STEP_GAP = 14;
const SELF_ARROW_WIDTH = 26;
const ARROW_STYLES = new Map<string, Arrow["style"]>([
  ["->", "solid"],
  ["-->", "dashed"],
  ["-x", "lost"],
]);

/** @returns the diagram as an SVG document; raises DiagramError, which names the line */
export function drawSequence(text: string): string {
  return render(parse(text));
}

function parse(text: string): Sequence {
  let title = "";
  const columns: Column[] = [];
  const steps: Step[] = [];
  const columnOf = (id: string, at: string): number => {
    const index = columns.findIndex((column) => column.id === id);
    if (index < 0) {
      throw new DiagramError(`${at}: no column is named ${JSON.stringify(id)}`);
    }
    return index;
  };
  for (const [index, raw] of text.split("\n").entries()) {
    const at = `line ${index + 1}`;
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) {
      continue;
    }
    const [, keyword = "", rest = ""] = /^(title|time) (.+)$/.exec(line) ?? [];
    const [, id = "", name = ""] = /^column (\w+) (.+)$/.exec(line) ?? [];
    const [, kind = "", place = "", words = ""] = /^(note|span) (\w+): (.+)$/.exec(line) ?? [];
    const [, from = "", arrow = "", to = "", label = ""] = /^(\w+) (->|-->|-x) (\w+): (.+)$/.exec(line) ?? [];
    const style = ARROW_STYLES.get(arrow);
    if (keyword === "title") {
      title = rest;
    } else if (keyword === "time") {
      steps.push({ kind: "time", lines: linesOf(rest) });
    } else if (id !== "") {
      columns.push({ id, lines: linesOf(name) });
    } else if (kind === "note" || kind === "span") {
      steps.push({ kind, column: columnOf(place, at), lines: linesOf(words) });
    } else if (style !== undefined) {
      const ends = { from: columnOf(from, at), to: columnOf(to, at) };
      steps.push({ kind: "arrow", ...ends, style, lines: linesOf(label) });
    } else {
      throw new DiagramError(`${at}: not a statement: ${line}`);
    }
  }
  if (title === "" || columns.length === 0 || steps.length === 0) {
    throw new DiagramError("a diagram has a title, columns and steps");
  }
  return { title, columns, steps };
}

function linesOf(label: string): string[] {
  return label.split("|").map((line) => line.trim());
}

function widthOf(lines: readonly string[]): number {
  return Math.ceil(Math.max(...lines.map(lengthOf)));
}

function lengthOf(line: string): number {
  const capitals = line.match(/[A-Z_]/g)?.length ?? 0;
  return (line.length - capitals) * CHARACTER_WIDTH + capitals * CAPITAL_WIDTH;
}

/** @returns the middle of each column, and the width of all */
function placeColumns({ title, columns, steps }: Sequence): { middles: number[]; width: number } {
  const halves = columns.map(({ lines }) => widthOf(lines) / 2 + PADDING);
  for (const step of steps) {
    if (step.kind === "note" || step.kind === "span") {
      halves[step.column] = Math.max(halves[step.column] ?? 0, widthOf(step.lines) / 2 + PADDING);
    }
  }
  const arrows = steps.filter((step) => step.kind === "arrow");
  const middles: number[] = [];
  for (const [index, half] of halves.entries()) {
    const before = middles[index - 1];
    let middle = before === undefined ? MARGIN + half : before + (halves[index - 1] ?? 0) + half + LABEL_GAP;
    for (const { from, to, lines } of arrows) {
      const [left, right] = [Math.min(from, to), from === to ? from + 1 : Math.max(from, to)];
      const start = middles[left];
      if (right === index && start !== undefined) {
        const extra = from === to ? SELF_ARROW_WIDTH + half : 0;
        middle = Math.max(middle, start + widthOf(lines) + 2 * LABEL_GAP + extra);
      }
    }
    middles.push(Math.ceil(middle));
  }
  const last = middles.length - 1;
  const ends = [(middles[last] ?? 0) + (halves[last] ?? 0), widthOf([title])];
  for (const { from, to, lines } of arrows) {
    if (from === to) {
      ends.push((middles[from] ?? 0) + SELF_ARROW_WIDTH + LABEL_GAP + widthOf(lines));
    }
  }
  for (const step of steps) {
    if (step.kind === "time") {
      ends.push(widthOf(step.lines) + 2 * MARGIN);
    }
  }
  return { middles, width: Math.ceil(Math.max(...ends)) + MARGIN };
}

function render(sequence: Sequence): string {
  const { middles, width } = placeColumns(sequence);
  const middleOf = (column: number): number => middles[column] ?? 0;
  const drawn: string[] = [];
  const headHeight = Math.max(...sequence.columns.map(({ lines }) => lines.length)) * LINE_HEIGHT + PADDING;
  let y = MARGIN + LINE_HEIGHT + STEP_GAP;
  const top = y + headHeight;
  for (const [index, { lines }] of sequence.columns.entries()) {
    drawn.push(drawBox(middleOf(index), y, lines, headHeight, "head"));
  }
  y = top + STEP_GAP;
  for (const step of sequence.steps) {
    const height = step.lines.length * LINE_HEIGHT;
    if (step.kind === "time") {
      y += STEP_GAP / 2;
      drawn.push(drawText(width / 2, y, step.lines, "middle", "time"));
      y += height;
      drawn.push(`<line class="time" x1="${MARGIN}" y1="${y + 2}" x2="${width - MARGIN}" y2="${y + 2}"/>`);
      y += STEP_GAP;
    } else if (step.kind === "arrow") {
      drawn.push(drawArrow(step, middleOf(step.from), middleOf(step.to), y));
      y += height + (step.from === step.to ? 2 : PADDING) + STEP_GAP;
    } else {
      drawn.push(drawBox(middleOf(step.column), y, step.lines, height + PADDING, step.kind));
      y += height + PADDING + STEP_GAP;
    }
  }
  const lines = middles.map((x) => `<line class="life" x1="${x}" y1="${top}" x2="${x}" y2="${y}"/>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y + MARGIN}" viewBox="0 0 ${width} ${y + MARGIN}" role="img">`,
    `<title>${escapeMarkup(sequence.title)}</title>`,
    STYLE,
    `<rect class="page" width="100%" height="100%"/>`,
    drawText(MARGIN, MARGIN, [sequence.title], "start", "title"),
    ...lines,
    ...drawn,
    "</svg>",
    "",
  ].join("\n");
}

const STYLE = `<style>
text { font: ${FONT_SIZE}px Helvetica, Arial, sans-serif; fill: #1b1f24; }
.title, .head text { font-weight: bold; }
.page { fill: #ffffff; }
.life { stroke: #8c959f; stroke-dasharray: 3 4; }
.arrow { fill: none; stroke: #1b1f24; }
.dashed { stroke-dasharray: 6 4; }
.lost, .cross { fill: none; stroke: #b42318; }
.tip { fill: #1b1f24; }
line.time { stroke: #8c959f; }
text.time { fill: #57606a; }
.head rect { fill: #dbe9ff; stroke: #3b6db3; }
.note rect { fill: #fff8db; stroke: #b59a2b; }
.span rect { fill: #e2f3e5; stroke: #2f7d3b; stroke-width: 2; }
.label { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; }
</style>`;

/** @param y top of the first line */
function drawText(x: number, y: number, lines: readonly string[], anchor: "start" | "middle", kind: string): string {
  return lines
    .map((line, index) => {
      const baseline = y + index * LINE_HEIGHT + FONT_SIZE;
      return `<text class="${kind}" x="${x}" y="${baseline}" text-anchor="${anchor}">${escapeMarkup(line)}</text>`;
    })
    .join("\n");
}

function drawBox(middle: number, y: number, lines: readonly string[], height: number, kind: string): string {
  const width = widthOf(lines) + 2 * PADDING;
  const first = y + (height - lines.length * LINE_HEIGHT) / 2;
  return [
    `<g class="${kind}">`,
    `<rect x="${middle - width / 2}" y="${y}" width="${width}" height="${height}" rx="4"/>`,
    drawText(middle, first, lines, "middle", "inside"),
    "</g>",
  ].join("\n");
}

function drawArrow({ style, lines }: Arrow, from: number, to: number, y: number): string {
  const height = lines.length * LINE_HEIGHT;
  const line = style === "solid" ? "arrow" : `arrow ${style}`;
  if (from === to) {
    const [right, bottom] = [from + SELF_ARROW_WIDTH, y + Math.max(height, LINE_HEIGHT)];
    return [
      `<path class="${line}" d="M${from} ${y + 4} H${right} V${bottom} H${from + 2}"/>`,
      drawTip(from, bottom, -1),
      drawText(right + LABEL_GAP / 2, y + 2, lines, "start", "label"),
    ].join("\n");
  }
  const at = y + height + 4;
  const direction = to > from ? 1 : -1;
  const end = style === "lost" ? from + (to - from) * 0.72 : to;
  return [
    drawText((from + to) / 2, y, lines, "middle", "label"),
    `<line class="${line}" x1="${from}" y1="${at}" x2="${end}" y2="${at}"/>`,
    style === "lost"
      ? `<path class="cross" d="M${end - 5} ${at - 5} l10 10 m0 -10 l-10 10"/>`
      : drawTip(end, at, direction),
  ].join("\n");
}

/** The head of an arrow that points to the right (1) or to the left (-1). */
function drawTip(x: number, y: number, direction: 1 | -1): string {
  return `<path class="tip" d="M${x} ${y} l${-9 * direction} -4 v8 z"/>`;
}

/** @returns the text as the content of an element */
export function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
