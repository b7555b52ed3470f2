/**
 * Makes the text of a picture of a trace from what a collector has received, one JSON object of OTLP per line:
 *
 *     node scripts/diagrams/record-trace.ts "A put" 4bf92f3577b34da6a3ce929d0e0e4736 < spans.jsonl > docs/diagrams/put.trace
 */
import { readFileSync } from "node:fs";
import { type RecordedSpans, traceTextOf } from "./trace.ts";

const [title, traceId, ...rest] = process.argv.slice(2);
if (title === undefined || traceId === undefined || rest.length > 0) {
  console.error("usage: record-trace.ts TITLE TRACE_ID < SPANS");
  process.exit(2);
}
const lines = readFileSync(process.stdin.fd, "utf8").split("\n");
const recorded = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as RecordedSpans);
process.stdout.write(traceTextOf(title, traceId, recorded));
