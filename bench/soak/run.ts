/**
 * Loads three members with calls of all kinds at a fixed rate, for long, while members end and return. It samples what
 * they use, and checks at the end that every acknowledged change is there.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createClient, createTokenSource } from "@quoin/client";
import { appendRaw, syncMsMedian } from "../measuring/index.ts";
import { Members } from "../members/index.ts";
import { writeReport } from "../tables/index.ts";
import { Events, type PastEvent } from "./events.ts";
import { partsOf } from "./load/index.ts";
import type { SoakOptions } from "./options.ts";
import { Calls, FaultTimes, Pace } from "./pace/index.ts";
import { markdownReport, picture, type SoakReport, terminalReport } from "./report.ts";
import { Samples } from "./samples.ts";
import { callTrends, processTrends } from "./summary.ts";

const CLIENTS = 6;
const MS_PER_SECOND = 1_000;

type Print = (line: string) => void;

/** Raises a SoakError, or the reason of the interruption. */
export async function runSoak(
  options: SoakOptions,
  interrupted: AbortSignal,
  print: Print = console.log,
): Promise<SoakReport> {
  const directory = mkdtempSync(join(tmpdir(), "quoin-bench-"));
  const ended = new AbortController();
  const ending = AbortSignal.any([interrupted, ended.signal]);
  let members: Members | null = null;
  try {
    const syncMs = syncMsMedian(directory);
    const store = join(directory, "backups");
    mkdirSync(store);
    members = await Members.start(join(directory, "quoin"), ["--backup-store", store], ending);
    const setup = { startedAt: new Date(), version: await members.version(), cpus: availableParallelism(), syncMs };
    appendRaw(options.output, "setup", setup);
    const soak = new Soak(members, options, ending, print);
    const failure = await soak.run(() => ended.abort());
    interrupted.throwIfAborted();
    const report = soak.report(setup, failure);
    print(terminalReport(report));
    appendRaw(options.output, "summary", report);
    writeReport({ markdown: options.markdown, json: null }, { markdown: () => markdownReport(report), json: () => "" });
    if (options.svg !== null) {
      writeFileSync(options.svg, picture(report, soak.samples.taken));
    }
    if (failure !== null) {
      throw failure;
    }
    return report;
  } finally {
    await members?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

class Soak {
  readonly samples: Samples;
  readonly #options: SoakOptions;
  readonly #ending: AbortSignal;
  readonly #print: Print;
  readonly #clients: readonly Client[];
  readonly #events: Events;
  readonly #pace: Pace;
  readonly #parts: ReturnType<typeof partsOf>;
  #turn = 0;

  constructor(members: Members, options: SoakOptions, ending: AbortSignal, print: Print) {
    const { grpc: endpoints, apiKey } = members.endpoints;
    const credentials = createTokenSource({ credentials: { apiKey }, endpoints });
    const faults = new FaultTimes();
    this.samples = new Samples(members, options.seconds);
    this.#options = options;
    this.#ending = ending;
    this.#print = print;
    this.#clients = Array.from({ length: CLIENTS }, () => createClient({ endpoints, credentials }));
    this.#events = new Events(members, faults);
    this.#parts = partsOf({
      calls: new Calls(faults, (time) => this.samples.add(time)),
      client: () => this.#clients[this.#turn++ % CLIENTS] as Client,
    });
    this.#pace = new Pace(this.#parts.flatMap(({ actions }) => actions));
  }

  /**
   * Returns why it failed; null = it did not.
   *
   * @param end ends everything that waits.
   */
  async run(end: () => void): Promise<Error | null> {
    const works: Promise<unknown>[] = [];
    try {
      for (const part of this.#parts) {
        await part.prepare();
      }
      this.samples.begin();
      this.#events.begin();
      this.#pace.start();
      works.push(this.#sample(), this.#loadAndEvents());
      await Promise.race([this.#pace.failed, Promise.all(works)]);
      await this.#pace.stop();
      await Promise.all(this.#parts.map((part) => part.verify()));
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      end();
      for (const client of this.#clients) {
        client.close();
      }
      await Promise.allSettled([...works, this.#pace.stop()]);
    }
  }

  report(setup: Pick<SoakReport, "startedAt" | "version" | "cpus" | "syncMs">, failure: Error | null): SoakReport {
    const { taken, totals } = this.samples;
    const { seconds } = this.#options;
    return {
      ...setup,
      seconds: failure === null ? seconds : (taken.at(-1)?.atSeconds ?? 0),
      failure: failure?.message ?? null,
      events: this.#events.past,
      processes: processTrends(taken, seconds),
      calls: callTrends(totals.byKind, seconds),
      skipped: Object.fromEntries(this.#pace.skipped),
    };
  }

  /** All events, and the time of the load. */
  async #loadAndEvents(): Promise<void> {
    const { seconds, eventSeconds, output } = this.#options;
    const onEvent = (event: PastEvent): void => {
      this.#print(`${event.name} at ${event.atSeconds.toFixed(0)} s for ${event.seconds.toFixed(1)} s: ${event.note}`);
      appendRaw(output, "event", event);
    };
    await Promise.all([
      sleep(seconds * MS_PER_SECOND, undefined, { signal: this.#ending }),
      this.#events.run(eventSeconds, seconds - eventSeconds / 4, onEvent, this.#ending),
    ]);
  }

  /** Takes samples for the time of the load. */
  async #sample(): Promise<void> {
    const { seconds, sampleSeconds, output } = this.#options;
    for (let atSeconds = sampleSeconds; atSeconds <= seconds; atSeconds += sampleSeconds) {
      const dueMs = this.samples.startMs + atSeconds * MS_PER_SECOND;
      await sleep(Math.max(0, dueMs - performance.now()), undefined, { signal: this.#ending });
      appendRaw(output, "sample", await this.samples.take());
    }
  }
}
