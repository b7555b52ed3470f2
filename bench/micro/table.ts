/** The presentation of micro-benchmarks: a row for each case, beside those of an earlier run if there is one. */

import type { Figures } from "@quoin/node/micro";
import { tableOf } from "../tables/index.ts";
import type { MicroFigures } from "./figures.ts";

const UNKNOWN = "?";
const NEW = "new";
const PERCENT = 100;

/** The table. With `before`, the columns of changes are in percent: negative is less. */
export function microTable(figures: MicroFigures, before: MicroFigures | null): string {
  const head = ["case", "µs", "µs all threads", "heap bytes", "other bytes"];
  const changes = before === null ? [] : ["µs ±%", "heap ±%"];
  const rows = [...figures].map(([name, ofCase]) => [
    ...[name, ofCase.threadMicros.toFixed(2), ofCase.processMicros.toFixed(2)],
    ...[ofCase.heapBytes.toFixed(0), ofCase.externalBytes?.toFixed(0) ?? UNKNOWN],
    ...(before === null ? [] : changesOf(ofCase, before.get(name))),
  ]);
  return tableOf([...head, ...changes], rows);
}

function changesOf(now: Figures, before: Figures | undefined): string[] {
  return before === undefined
    ? [NEW, NEW]
    : [change(now.threadMicros, before.threadMicros), change(now.heapBytes, before.heapBytes)];
}

function change(now: number, before: number): string {
  if (before === 0) {
    return now === 0 ? "0" : NEW;
  }
  const percent = (now / before - 1) * PERCENT;
  return `${percent > 0 ? "+" : ""}${percent.toFixed(0)}`;
}
