/** The table of what the clients of one language cost. */

import { markdownTable, tableOf } from "../tables/index.ts";
import type { SdkCase } from "./cases.ts";
import type { SdksOptions } from "./options.ts";

/** One client in one case, over all its runs. */
export interface ClientFigures {
  readonly client: string;
  readonly perSecond: number;
  /** Processor time of the client for one operation, in microseconds. */
  readonly cpuUs: number;
}

export interface CaseFigures {
  readonly measured: SdkCase;
  readonly clients: readonly ClientFigures[];
}

export interface SdksReport {
  readonly startedAt: Date;
  readonly version: string;
  readonly cpus: number;
  readonly options: Pick<SdksOptions, "language" | "seconds" | "watches">;
  readonly cases: readonly CaseFigures[];
}

const HEAD = [
  "operation",
  "in flight",
  "client",
  "per second",
  "µs of the client's processor",
  "processor time, ratio",
];

/** The ratio is the SDK's processor time divided by that of the client of the row. */
function rowsOf({ cases, options }: SdksReport): string[][] {
  return cases.flatMap(({ measured, clients }) => {
    const [sdk] = clients;
    return clients.map(({ client, perSecond, cpuUs }) => [
      measured.what === "watch" ? `event of ${options.watches} watches` : measured.what,
      String(measured.inFlight),
      client,
      Math.round(perSecond).toLocaleString("en-US"),
      cpuUs.toFixed(1),
      sdk === undefined || client === sdk.client ? "" : `${(sdk.cpuUs / cpuUs).toFixed(2)}×`,
    ]);
  });
}

export function terminalReport(report: SdksReport): string {
  return tableOf(HEAD, rowsOf(report));
}

export function markdownReport(report: SdksReport): string {
  return `${markdownTable(HEAD, rowsOf(report), (name) => name !== "operation" && name !== "client").join("\n")}\n`;
}

export function jsonReport(report: SdksReport): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}
