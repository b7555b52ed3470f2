/** `quoinctl usage`: the usage of the cluster. */

import type { NamespaceUse, Usage } from "../../index.ts";
import { choice, option } from "../arguments/index.ts";
import { firstCommand } from "../session/index.ts";
import { formatSize } from "../text/index.ts";
import { accountResult } from "./account-result.ts";

const FIELDS = [
  ...(["startMs", "requests", "eventsAppended", "bytesAppended", "kvOperations", "lockOperations"] as const),
  ...(["memoryOperations", "bytesStored", "memoryBytes"] as const),
];

const QUOTAS = [
  "bytes",
  "keys",
  "locks",
  "memoryBytes",
  "memoryRegions",
  "eventBytes",
  "eventLogs",
  "sessions",
] as const;

const IN_BYTES: ReadonlySet<(typeof QUOTAS)[number]> = new Set(["bytes", "memoryBytes", "eventBytes"]);

/** The command. */
export const USAGE = firstCommand("", {
  options: {
    from: option("<TIME>", "from this day or instant, such as 2030-01-31 (default: the beginning of the month)"),
    to: option("<TIME>", "until this day or instant (default: now)"),
    by: choice("<UNIT>", "how to group it", ["hour", "day", "namespace"]).byDefault("day"),
  },
  run: async (session, { from, to, by }) => {
    const granularity = by === "namespace" ? "day" : by;
    const usage = await session.withClient((client) => client.usage.read({ from, to, granularity }));
    const document = wireForm(usage);
    await session.print(
      by === "namespace"
        ? accountResult(document, usage.namespaces.map(shownUse), ["namespace", ...QUOTAS])
        : accountResult(document, usage.buckets, FIELDS),
    );
  },
});

/** The usage as HTTP groups it. */
function wireForm({ startMs, endMs, totals, buckets, byKey, namespaces, requestsPerMinuteMax, asOfMs }: Usage): object {
  return {
    period: { startMs, endMs },
    totals,
    buckets,
    byKey,
    namespaces: namespaces.map(({ namespace, ...uses }) => ({ namespace, quotas: uses })),
    limits: { requestsPerMinute: requestsPerMinuteMax },
    asOfMs,
  };
}

/** The current usage of a namespace, each value as `3 of 10`, or `1.5 KiB of 8.0 GiB`. */
function shownUse(use: NamespaceUse): Readonly<Record<"namespace" | (typeof QUOTAS)[number], string>> {
  const shown = QUOTAS.map((quota) => {
    const form = IN_BYTES.has(quota) ? formatSize : String;
    return [quota, `${form(use[quota].used)} of ${form(use[quota].limit)}`];
  });
  return { namespace: use.namespace, ...Object.fromEntries(shown) };
}
