/** The figures of a run of micro-benchmarks, in the form of a file for comparisons with later runs. */

import { readFileSync, writeFileSync } from "node:fs";
import type { Figures } from "@quoin/node/micro";

/** By name of the case, in the order of measurement. */
export type MicroFigures = ReadonlyMap<string, Figures>;

/** The version of the file's format. */
const FORMAT = 1;
const NUMBERS = ["threadMicros", "processMicros", "heapBytes", "operations"] as const;

/** `writeFigures` did not write this file; the message names the file and the reason. */
export class FiguresError extends Error {}

export function writeFigures(file: string, figures: MicroFigures): void {
  const cases = [...figures].map(([name, ofCase]) => ({ name, ...ofCase }));
  writeFileSync(file, `${JSON.stringify({ format: FORMAT, node: process.version, cases }, null, 2)}\n`);
}

/** Raises a FiguresError. */
export function readFigures(file: string): MicroFigures {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new FiguresError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const { format, cases } = (content ?? {}) as { format?: unknown; cases?: unknown };
  if (format !== FORMAT || !Array.isArray(cases) || !cases.every(isCase)) {
    throw new FiguresError(`${file} does not contain figures of micro-benchmarks in format ${FORMAT}`);
  }
  return new Map(cases.map(({ name, ...figures }) => [name, figures]));
}

function isCase(value: unknown): value is Figures & { readonly name: string } {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  return (
    typeof fields.name === "string" &&
    NUMBERS.every((name) => Number.isFinite(fields[name])) &&
    (fields.externalBytes === null || Number.isFinite(fields.externalBytes))
  );
}
