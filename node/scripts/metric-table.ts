/** The text of docs/metrics.md: a table for each list of metrics, generated from their descriptions. */

import { markdownTable } from "../../scripts/generated/index.ts";
import type { MetricDescription } from "../src/telemetry/index.ts";

const INTRODUCTION = `# Metrics

<!-- Written by \`npm run metrics\` from the code; \`npm run check\` refuses it when it is not current. -->

\`GET /metrics\` on the health port of a member, and on its HTTP port, returns these metrics in the text format of Prometheus.
It needs no token: no label and no value contains anything that clients choose, such as a namespace, a key, a lock, a
subject or an address. If a client must not see the metrics, block that path for it.

A member that serves no data, for example before it has joined, has no metrics about its replica. Counters start at 0 with
each start of the process. Members report the same values about the state once they have applied the same entries: use
\`max\` over the members, not \`sum\`. [monitoring.md](monitoring.md) describes useful alerts.

In addition there are \`process_*\` (CPU, memory, file descriptors, start time) and \`nodejs_*\` (heap, garbage collection,
event loop), as the library \`prom-client\` provides them on the platform.
`;

const TITLES: ReadonlyMap<string, string> = new Map([
  ["process", "Process"],
  ["health", "Health"],
  ["certificates", "Certificates"],
  ["raft", "Membership and consensus"],
  ["storage", "Disk and stores"],
  ["state", "State"],
  ["backups", "Backups and the archive"],
  ["watch", "Watches"],
  ["grpc", "gRPC"],
  ["http", "HTTP"],
  ["connections", "Connections"],
  ["callAdmissions", "Refused calls"],
  ["traces", "Traces"],
  ["http2", "HTTP/2 of the gRPC port"],
]);

const TITLE_ROW = ["Name", "Type", "Unit", "Labels", "Meaning"];

/** The units by the ends of names, longest first. */
const UNITS: readonly (readonly [suffix: string, unit: string])[] = [
  ["_bytes_per_second", "bytes/s"],
  ["_bytes_total", "bytes"],
  ["_seconds_total", "seconds"],
  ["_seconds", "seconds"],
  ["_bytes", "bytes"],
];

/** @param lists metrics by the name of their list. */
export function describeMetrics(lists: ReadonlyMap<string, readonly MetricDescription[]>): string {
  const tables = [...lists].map(([name, metrics]) => `## ${titleOf(name)}\n\n${tableOf(metrics)}`);
  return `${INTRODUCTION}\n${tables.join("\n")}`;
}

/** Raises an error for a list without a title. */
function titleOf(name: string): string {
  const title = TITLES.get(name);
  if (title === undefined) {
    throw new Error(`the list of metrics "${name}" needs a title`);
  }
  return title;
}

function tableOf(metrics: readonly MetricDescription[]): string {
  const rows = metrics.map(({ name, type, labels, help }) => {
    return [`\`${name}\``, type, unitOf(name), labels.map((label) => `\`${label}\``).join(", "), help];
  });
  return markdownTable(TITLE_ROW, rows);
}

function unitOf(name: string): string {
  return UNITS.find(([suffix]) => name.endsWith(suffix))?.[1] ?? "";
}
