/**
 * Pictures of recorded traces: a text that lists the spans of a trace, drawn as SVG with a time line.
 *
 * One statement per line. Empty lines and lines that begin with `#` have no effect.
 *
 *     title A put through a follower
 *     span 0 5210 client | quoin PutKey       from and to in microseconds, the process, the name
 *       span 130 5100 q-1 | …                 below the span above it, by two more spaces
 *
 * `traceTextOf` makes such a text from the spans that a collector has received.
 */

import { DiagramError, escapeMarkup } from "./sequence.ts";

interface Span {
  readonly depth: number;
  readonly fromUs: number;
  readonly toUs: number;
  readonly process: string;
  readonly name: string;
}

/** A span as OTLP encodes it in JSON. */
interface RecordedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

/** What a collector receives at once. */
export interface RecordedSpans {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
    };
    readonly scopeSpans: readonly { readonly spans: readonly RecordedSpan[] }[];
  }[];
}

const STATEMENT = /^( *)span (\d+) (\d+) (\S+) \| (.+)$/;
const INDENT = 2;
const NS_PER_US = 1_000n;
const US_PER_MS = 1_000;
const FONT_SIZE = 12;
const ROW_HEIGHT = 22;
const BAR_HEIGHT = 12;
const MARGIN = 16;
const TOP = 64;
const INDENT_WIDTH = 12;
const NAMES_WIDTH = 400;
const PROCESS_WIDTH = 60;
const CHART_WIDTH = 480;
const TICKS_MAX = 8;
const COLORS = ["#8250df", "#3b6db3", "#2f7d3b", "#b35900", "#57606a", "#a40e26", "#0b7285", "#5c4b00"];

/** Returns the picture as an SVG document. Raises DiagramError, which names the line. */
export function drawTrace(text: string): string {
  const { title, spans } = parse(text);
  const lastUs = Math.max(...spans.map(({ toUs }) => toUs));
  const processes = [...new Set(spans.map(({ process }) => process))];
  const colorOf = (process: string): string => COLORS[processes.indexOf(process) % COLORS.length] ?? "";
  const chartX = MARGIN + NAMES_WIDTH + PROCESS_WIDTH;
  const xOf = (us: number): number => round(chartX + (us / lastUs) * CHART_WIDTH);
  const width = chartX + CHART_WIDTH + 2 * MARGIN;
  const height = TOP + spans.length * ROW_HEIGHT + MARGIN;
  const stepMs = tickMs(lastUs / US_PER_MS);
  const ticks = Array.from({ length: Math.floor(lastUs / US_PER_MS / stepMs) + 1 }, (_, at) => at * stepMs);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="Helvetica, Arial, sans-serif" font-size="${FONT_SIZE}">`,
    `<title>${escapeMarkup(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="${MARGIN}" y="26" font-size="15" font-weight="bold">${escapeMarkup(title)}</text>`,
    ...ticks.flatMap((ms) => {
      const x = xOf(ms * US_PER_MS);
      return [
        `<line x1="${x}" y1="${TOP - 8}" x2="${x}" y2="${height - MARGIN}" stroke="#e4e7eb"/>`,
        `<text x="${x}" y="${TOP - 14}" text-anchor="middle" fill="#57606a">${round(ms)} ms</text>`,
      ];
    }),
    ...spans.flatMap(({ depth, fromUs, toUs, process, name }, at) => {
      const y = TOP + at * ROW_HEIGHT;
      const base = y + ROW_HEIGHT / 2 + FONT_SIZE / 3;
      const barWidth = Math.max(1.5, round(xOf(toUs) - xOf(fromUs)));
      return [
        `<text x="${MARGIN + depth * INDENT_WIDTH}" y="${base}">${escapeMarkup(name)}</text>`,
        `<text x="${MARGIN + NAMES_WIDTH}" y="${base}" fill="${colorOf(process)}">${escapeMarkup(process)}</text>`,
        `<rect x="${xOf(fromUs)}" y="${y + (ROW_HEIGHT - BAR_HEIGHT) / 2}" width="${barWidth}" height="${BAR_HEIGHT}" rx="2" fill="${colorOf(process)}"/>`,
      ];
    }),
    "</svg>",
    "",
  ].join("\n");
}

function parse(text: string): { readonly title: string; readonly spans: readonly Span[] } {
  let title = "";
  const spans: Span[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const at = `line ${index + 1}`;
    if (line.trim() === "" || line.startsWith("#")) {
      continue;
    }
    const statement = STATEMENT.exec(line);
    if (line.startsWith("title ")) {
      title = line.slice("title ".length).trim();
    } else if (statement === null) {
      throw new DiagramError(`${at}: not a statement: ${line}`);
    } else {
      const [, indent = "", from, to, process = "", name = ""] = statement;
      const span = { depth: indent.length / INDENT, fromUs: Number(from), toUs: Number(to), process, name };
      if (!Number.isInteger(span.depth) || span.depth > (spans.at(-1)?.depth ?? -1) + 1) {
        throw new DiagramError(`${at}: a span is at most ${INDENT} spaces deeper than the one above it`);
      }
      if (span.toUs < span.fromUs) {
        throw new DiagramError(`${at}: a span ends before it begins`);
      }
      spans.push(span);
    }
  }
  if (title === "" || spans.every(({ toUs }) => toUs === 0)) {
    throw new DiagramError("a trace has a title, and spans that take time");
  }
  return { title, spans };
}

/** The distance of ticks, so that there are few: 1, 2 or 5 times a power of ten. */
function tickMs(lastMs: number): number {
  const raw = lastMs / TICKS_MAX;
  const power = 10 ** Math.floor(Math.log10(raw));
  return ([1, 2, 5].find((factor) => factor * power >= raw) ?? 10) * power;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** The text for a picture of one trace, from everything that a collector has received. */
export function traceTextOf(title: string, traceId: string, recorded: readonly RecordedSpans[]): string {
  const spans = recorded.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ resource, scopeSpans }) => {
      const process = resource.attributes.find(({ key }) => key === "quoin.member")?.value.stringValue ?? "client";
      const found = scopeSpans.flatMap((scope) => scope.spans).filter((span) => span.traceId === traceId);
      return found.map((span) => ({
        process,
        name: span.name,
        id: span.spanId,
        parentId: span.parentSpanId ?? "",
        from: BigInt(span.startTimeUnixNano),
        to: BigInt(span.endTimeUnixNano),
      }));
    }),
  );
  const ids = new Set(spans.map(({ id }) => id));
  const sorted = spans.toSorted((a, b) => Number(a.from - b.from) || Number(b.to - a.to));
  const first = sorted[0]?.from ?? 0n;
  const us = (time: bigint): bigint => (time - first + NS_PER_US / 2n) / NS_PER_US;
  const below = (parentId: string | null, indent: string): string[] =>
    sorted
      .filter((span) => (parentId === null ? !ids.has(span.parentId) : span.parentId === parentId))
      .flatMap(({ from, to, process, name, id }) => [
        `${indent}span ${us(from)} ${us(to)} ${process} | ${name}`,
        ...below(id, `${indent}${" ".repeat(INDENT)}`),
      ]);
  return [`title ${title}`, ...below(null, ""), ""].join("\n");
}
