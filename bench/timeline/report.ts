/** The timelines of many puts as tables: the steps of each case, and the kinds of its time. */

import { markdownTable, tableOf } from "../tables/index.ts";
import type { Kind } from "./join.ts";
import type { CaseSummary, Percentiles } from "./summary.ts";

export interface Report {
  readonly startedAt: Date;
  /** Version of the members. */
  readonly version: string;
  readonly members: number;
  readonly cpus: number;
  readonly valueBytes: number;
  /** Median times of a 4 KiB append with fdatasync in milliseconds, before and after. */
  readonly syncMs: number;
  readonly syncMsAfter: number;
  readonly cases: readonly CaseSummary[];
  /** Times of puts on members that keep no traces, by the role of the asked member. */
  readonly untraced: Readonly<Record<CaseSummary["askedAt"], Percentiles>>;
}

/** A table, and the text above it. */
interface Part {
  readonly text: string;
  readonly head: readonly string[];
  readonly rows: readonly string[][];
}

const KIND_WORDS: Readonly<Record<Kind, string>> = {
  code: "our code and turns",
  threads: "hand-over between threads",
  disk: "disk",
  wire: "between processes",
  generator: "generator",
};
const CASE_WORDS = { leader: "Asked at the leader", follower: "Asked at a follower" } as const;
const STEP_HEAD = [
  "part",
  "step",
  "p10 µs",
  "p50 µs",
  "p99 µs",
  "p50 µs from the start",
  "p99 µs from the start",
  "what it is",
];
const KIND_HEAD = ["what it is", "mean µs", "share", "p10 µs", "p50 µs", "p99 µs"];
const PERCENT = 100;

/** For the terminal. */
export function terminalReport(report: Report): string {
  const parts = partsOf(report).map(({ text, head, rows }) => `${text}\n${tableOf(head, rows)}`);
  return [setupOf(report), ...parts].join("\n");
}

export function markdownReport(report: Report): string {
  const isNumber = (name: string): boolean => name.includes("µs") || name === "share";
  const parts = partsOf(report).flatMap(({ text, head, rows }) => [
    text,
    "",
    ...markdownTable(head, rows, isNumber),
    "",
  ]);
  return ["# The timeline of one put", "", setupOf(report), "", ...parts].join("\n");
}

/** All figures. */
export function jsonReport(report: Report): string {
  return `${JSON.stringify({ format: 1, ...report }, null, 2)}\n`;
}

function setupOf({ startedAt, version, members, cpus, valueBytes, syncMs, syncMsAfter }: Report): string {
  return (
    `${startedAt.toISOString()}, quoin ${version}, ${members} members, puts of ${valueBytes} bytes one at a time over all ` +
    `of them, ${cpus} CPUs, disk sync p50 ${syncMs.toFixed(2)} ms before and ${syncMsAfter.toFixed(2)} ms after.`
  );
}

function partsOf({ cases, untraced }: Report): readonly Part[] {
  return cases.flatMap((one) => {
    const { askedAt, puts, total, decisive, steps, kinds } = one;
    const without = untraced[askedAt];
    const last = decisive.map(({ what, puts: count }) => `${what} ${percent(count / puts)}`).join(", ");
    return [
      {
        text:
          `${CASE_WORDS[askedAt]}: ${puts} puts, p50 ${micros(total.p50Us)} µs, p99 ${micros(total.p99Us)} µs; ` +
          `without traces p50 ${micros(without.p50Us)} µs, p99 ${micros(without.p99Us)} µs. The last to wait for: ${last}.`,
        head: STEP_HEAD,
        rows: steps.map(({ leg, step, kind, sinceStep, sinceStart }) => [
          ...[leg, step, micros(sinceStep.p10Us), micros(sinceStep.p50Us), micros(sinceStep.p99Us)],
          ...[micros(sinceStart.p50Us), micros(sinceStart.p99Us), KIND_WORDS[kind]],
        ]),
      },
      {
        text: `${CASE_WORDS[askedAt]}: what the time of the critical path went into; a put takes ${micros(total.meanUs)} µs on average.`,
        head: KIND_HEAD,
        rows: kinds.map(({ kind, meanUs, share, p10Us, p50Us, p99Us }) => {
          return [KIND_WORDS[kind], micros(meanUs), percent(share), micros(p10Us), micros(p50Us), micros(p99Us)];
        }),
      },
    ];
  });
}

function micros(value: number): string {
  return value.toFixed(0);
}

function percent(share: number): string {
  return `${(share * PERCENT).toFixed(0)} %`;
}
