/**
 * Measures what a client costs: programs in the language of an SDK do the same with the SDK, with bare calls of gRPC, and
 * in Go with the client of etcd. The clients take turns, forwards and backwards, each in a process of its own.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { exchangeApiKey } from "@quoin/client";
import { PythonMissing } from "../../e2e/python/index.ts";
import { GoMissing } from "../../scripts/go/index.ts";
import { BuildError, buildPeer, EtcdCluster } from "../clusters/index.ts";
import { Members } from "../members/index.ts";
import { writeReport } from "../tables/index.ts";
import { CASES, type SdkCase, writerBeside } from "./cases.ts";
import { ClientProgram, type ClientReport, type Order, programFor } from "./client-program.ts";
import type { SdksOptions } from "./options.ts";
import {
  type CaseFigures,
  type ClientFigures,
  jsonReport,
  markdownReport,
  type SdksReport,
  terminalReport,
} from "./report.ts";

/** Nothing was measured, because something is missing here. */
export class SdksError extends Error {}

const UNLIMITED = ["--rate-limit", "grpc=0", "--rate-limit", "http=0"];
const MEMBERS = 3;
const VALUE_BYTES = 256;
const KEYS_READ = 1_000;
/** In which the last changes arrive. */
const ARRIVAL_MS = 1_000;
const US_PER_MS = 1_000;
const MS_PER_SECOND = 1_000;

/** @throws SdksError, or the reason of the interruption. */
export async function runSdks(options: SdksOptions, interrupted: AbortSignal): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "quoin-bench-"));
  let members: Members | null = null;
  let etcd: EtcdCluster | null = null;
  try {
    const startedAt = new Date();
    const program = await programFor(options.language);
    members = await Members.start(join(directory, "quoin"), UNLIMITED, interrupted);
    if (options.language === "go") {
      const built = await buildPeer("etcd", interrupted);
      etcd = await EtcdCluster.start(built, MEMBERS, join(directory, "etcd"), interrupted);
    }
    const cases: CaseFigures[] = [];
    for (const measured of CASES[options.language]) {
      const order = await ordersFor(members, etcd, options, measured);
      cases.push({ measured, clients: await measure(program, measured, order, interrupted) });
    }
    const { language, seconds, watches } = options;
    const report: SdksReport = {
      startedAt,
      version: await members.version(),
      cpus: availableParallelism(),
      options: { language, seconds, watches },
      cases,
    };
    console.log(terminalReport(report));
    writeReport(options, { markdown: () => markdownReport(report), json: () => jsonReport(report) });
  } catch (error) {
    if (error instanceof PythonMissing || error instanceof GoMissing || error instanceof BuildError) {
      throw new SdksError(error.message, { cause: error });
    }
    throw error;
  } finally {
    await Promise.all([members?.stop(), etcd?.stop()]);
    rmSync(directory, { recursive: true, force: true });
  }
}

type OrderFor = (client: string, what: Order["what"]) => Order;

async function ordersFor(
  members: Members,
  etcd: EtcdCluster | null,
  { seconds, warmUpSeconds, watches }: SdksOptions,
  { inFlight, what: measured }: SdkCase,
): Promise<OrderFor> {
  const { grpc, apiKey } = members.endpoints;
  const { accessToken: token } = await exchangeApiKey({ endpoints: grpc, apiKey });
  const keys = measured === "watch" ? watches : measured === "get" ? KEYS_READ : 0;
  return (client, what) => {
    const endpoints = client === "etcd" ? (etcd?.members ?? []).map(({ endpoint }) => endpoint) : grpc;
    const time = measured === "watch" ? { seconds, warmUpSeconds: 0 } : { seconds, warmUpSeconds };
    return { client, what, endpoints, apiKey, token, inFlight, keys, valueBytes: VALUE_BYTES, ...time };
  };
}

async function measure(
  program: Awaited<ReturnType<typeof programFor>>,
  { what, inFlight, clients }: SdkCase,
  orderFor: OrderFor,
  interrupted: AbortSignal,
): Promise<readonly ClientFigures[]> {
  const reports = new Map<string, ClientReport[]>(clients.map((client) => [client, []]));
  for (const client of [...clients, ...clients.toReversed()]) {
    const measured = new ClientProgram(program, orderFor(client, what), interrupted);
    const report =
      what === "watch"
        ? await whileWritten(measured, () => {
            return new ClientProgram(program, orderFor(writerBeside(client), "put"), interrupted);
          })
        : await measured.report();
    reports.get(client)?.push(report);
    const { perSecond, cpuUs } = figuresOf(client, [report]);
    console.log(`${what}, ${inFlight} in flight, ${client}: ${perSecond.toFixed(0)}/s, ${cpuUs.toFixed(1)} µs each`);
  }
  return clients.map((client) => figuresOf(client, reports.get(client) ?? []));
}

/** The report of a watching client over the time in which the other one writes. */
async function whileWritten(watching: ClientProgram, write: () => ClientProgram): Promise<ClientReport> {
  await watching.line();
  watching.tell("begin");
  await write().report();
  await sleep(ARRIVAL_MS);
  watching.tell("end");
  return watching.report();
}

function figuresOf(client: string, reports: readonly ClientReport[]): ClientFigures {
  const sum = (value: (report: ClientReport) => number) => reports.reduce((total, report) => total + value(report), 0);
  const operations = sum((report) => report.operations);
  const perSecond = (operations * MS_PER_SECOND) / sum((report) => report.durationMs);
  return { client, perSecond, cpuUs: (sum((report) => report.cpuMs) * US_PER_MS) / operations };
}
