/**
 * Brings docs/metrics.md up to date with the metrics that a member has, or, with --check, says whether it is. Exits with
 * 1 if not, 2 on wrong use.
 */

import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { METRIC_LISTS } from "../src/api/metrics/index.ts";
import { describeMetrics } from "./metric-table.ts";

const NAME = "docs/metrics.md";
const FILE = path.resolve(import.meta.dirname, "../..", NAME);

function present(): string | null {
  try {
    return readFileSync(FILE, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return null;
    }
    throw error;
  }
}

const parameters = process.argv.slice(2);
const text = describeMetrics(METRIC_LISTS);
const isCurrent = present() === text;
if (parameters.length === 0) {
  if (!isCurrent) {
    writeFileSync(FILE, text);
  }
  console.log(isCurrent ? `${NAME} is current.` : `wrote ${NAME}`);
} else if (parameters.length === 1 && parameters[0] === "--check") {
  if (!isCurrent) {
    console.error(`${NAME} does not describe the metrics that there are: run npm run metrics`);
    process.exitCode = 1;
  }
} else {
  console.error("usage: node node/scripts/metrics.ts [--check]");
  process.exitCode = 2;
}
