/**
 * Measures many sessions of one user. They are renewed; the leader is killed again and again meanwhile; then half of them
 * are renewed for the last time, all at once, and end together, while another user puts keys in another namespace.
 *
 * Each session has one key, which ends with it: watches of these keys show the ends.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createClient, createTokenSource } from "@quoin/client";
import { syncMsMedian } from "../measuring/index.ts";
import { Members, SteadyPuts } from "../members/index.ts";
import { createTenant } from "../noisy/index.ts";
import { writeReport } from "../tables/index.ts";
import { Ends, keyOf, type SessionGroup } from "./ends.ts";
import type { SessionsOptions } from "./options.ts";
import { countsSince, Renewals, SESSIONS_PER_CALL } from "./renewals.ts";
import { jsonReport, loadBetween, markdownReport, type Phase, type SessionsReport, terminalReport } from "./report.ts";

/** What was to be measured did not happen. */
export class SessionsError extends Error {}

const MS_PER_SECOND = 1_000;
/** The quota of a namespace. */
const SESSIONS_PER_NAMESPACE = 20_000;
const CREATED_AT_ONCE = 50;
/** A session is renewed when a third of its time is over. */
const RENEWALS_PER_TTL = 3;
/** How long the members are measured before there are sessions. */
const REST_SECONDS = 5;
const OTHERS = "others";
const PUT_INTERVAL_MS = 5;
/** Members that were started again, and the process of the puts, are slower at first. */
const WARM_UP_SECONDS = 10;
/** The least time for which puts are compared. */
const PUTS_MS_MIN = 1_000;
/** Long after the last answer to a put that was due before. */
const ANSWERS_MS = 2_000;
const POLL_MS = 20;
const ENDS_LIMIT_MS = 60_000;

/** Raises a SessionsError, or the reason of the interruption. */
export async function runSessions(options: SessionsOptions, interrupted: AbortSignal): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "quoin-bench-"));
  let members: Members | null = null;
  try {
    const syncMs = syncMsMedian(directory);
    const startedAt = new Date();
    members = await Members.start(join(directory, "quoin"), [], interrupted);
    const measured = await Storm.measure(members, options, interrupted);
    const { sessions, ttlSeconds, seconds, elections } = options;
    const report: SessionsReport = {
      startedAt,
      version: await members.version(),
      cpus: availableParallelism(),
      syncMs,
      options: { sessions, ttlSeconds, seconds, elections },
      ...measured,
    };
    console.log(terminalReport(report));
    writeReport(options, { markdown: () => markdownReport(report), json: () => jsonReport(report) });
  } finally {
    await members?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

type Measured = Omit<SessionsReport, "startedAt" | "version" | "cpus" | "syncMs" | "options">;
type Ended = Omit<Measured, "namespaces" | "phases" | "early">;

class Storm {
  readonly #members: Members;
  readonly #options: SessionsOptions;
  readonly #interrupted: AbortSignal;
  /** Of the user with the sessions: one for all members, and one for each. */
  readonly #client: Client;
  readonly #clients: readonly Client[];
  readonly #ends = new Ends();
  readonly #renewals: Renewals;
  readonly #groups: SessionGroup[] = [];
  readonly #groupSize: number;
  readonly #phases: Phase[] = [];
  #watchFailure: unknown = null;

  private constructor(members: Members, options: SessionsOptions, interrupted: AbortSignal) {
    const { grpc: endpoints, apiKey } = members.endpoints;
    const { sessions, ttlSeconds } = options;
    const credentials = createTokenSource({ credentials: { apiKey }, endpoints });
    this.#members = members;
    this.#options = options;
    this.#interrupted = interrupted;
    this.#client = createClient({ endpoints, credentials });
    this.#clients = endpoints.map((endpoint) => createClient({ endpoints: [endpoint], credentials }));
    // At least two groups, because half of them end.
    this.#groupSize = Math.min(SESSIONS_PER_CALL, Math.ceil(sessions / 2));
    const groups = Math.ceil(sessions / this.#groupSize);
    const intervalMs = (ttlSeconds * MS_PER_SECOND) / RENEWALS_PER_TTL;
    this.#renewals = new Renewals(this.#clients, this.#ends, intervalMs, groups);
  }

  static async measure(members: Members, options: SessionsOptions, interrupted: AbortSignal): Promise<Measured> {
    const storm = new Storm(members, options, interrupted);
    try {
      return await storm.#measure();
    } finally {
      await storm.#renewals.end();
      for (const client of [storm.#client, ...storm.#clients]) {
        client.close();
      }
    }
  }

  async #measure(): Promise<Measured> {
    const { seconds, elections } = this.#options;
    await this.#phase("at rest", true, () => this.#pause(REST_SECONDS));
    const namespaces = await this.#phase("creation", false, () => this.#create());
    await this.#phase("renewals", true, () => this.#pause(seconds));
    await this.#phase(`${elections} elections`, false, () => this.#elect());
    const ended = await this.#phase("half end", false, () => this.#endHalf());
    return { namespaces, phases: this.#phases, early: this.#ends.early, ...ended };
  }

  /** @param hasLoad whether the members stay the same, so that their work can be measured. */
  async #phase<Result>(name: string, hasLoad: boolean, work: () => Promise<Result>): Promise<Result> {
    const before = hasLoad ? await this.#members.work() : null;
    const startMs = performance.now();
    const { counts } = this.#renewals;
    const result = await work();
    this.#assertWatched();
    const phaseSeconds = (performance.now() - startMs) / MS_PER_SECOND;
    const calls = countsSince(counts, this.#renewals.counts);
    const load = before && loadBetween(before, await this.#members.work(), phaseSeconds);
    this.#phases.push({ name, seconds: phaseSeconds, calls, load });
    console.log(
      `${name}: ${phaseSeconds.toFixed(1)} s, ${calls.calls} calls, ${this.#ends.early} sessions ended early`,
    );
    return result;
  }

  /** Creates the sessions, a group at a time, because the first ones need renewals before the last ones exist. */
  async #create(): Promise<number> {
    const { sessions, ttlSeconds } = this.#options;
    const namespaces = Math.ceil(sessions / SESSIONS_PER_NAMESPACE);
    const nameOf = (at: number): string => `sessions-${at}`;
    for (let at = 0; at < namespaces; at++) {
      await this.#client.keyValue.createNamespace(nameOf(at));
      this.#follow(nameOf(at), await this.#client.watch.keys(nameOf(at), { prefix: "" }));
    }
    for (let created = 0; created < sessions; created += this.#groupSize) {
      this.#interrupted.throwIfAborted();
      const namespace = nameOf(Math.floor(created / SESSIONS_PER_NAMESPACE));
      const startMs = performance.now();
      const ids = await this.#createSessions(namespace, Math.min(this.#groupSize, sessions - created));
      const group = { namespace, ids, deadlineMs: startMs + ttlSeconds * MS_PER_SECOND };
      for (const id of ids) {
        this.#ends.add(group, id);
      }
      await this.#client.batch(
        namespace,
        ids.map((sessionId) => ({ put: { key: keyOf(sessionId), value: "value", sessionId } })),
      );
      await this.#renewals.renew(group, this.#groups.length);
      this.#groups.push(group);
      this.#renewals.keep(group);
    }
    return namespaces;
  }

  async #createSessions(namespace: string, count: number): Promise<readonly number[]> {
    const { ttlSeconds } = this.#options;
    const ids: number[] = [];
    while (ids.length < count) {
      const batch = Array.from({ length: Math.min(CREATED_AT_ONCE, count - ids.length) }, () =>
        this.#client.sessions.create(namespace, { ttlSeconds }),
      );
      ids.push(...(await Promise.all(batch)).map(({ sessionId }) => sessionId));
    }
    return ids;
  }

  /** Notes the ends until the client is closed. */
  #follow(namespace: string, watch: Awaited<ReturnType<Client["watch"]["keys"]>>): void {
    const follow = async (): Promise<void> => {
      for await (const { events } of watch) {
        const atMs = performance.now();
        for (const { type, kv } of events) {
          if (type !== "PUT") {
            this.#ends.onKeyGone(kv.key, atMs);
          }
        }
      }
    };
    follow().catch((error: unknown) => {
      this.#watchFailure = new SessionsError(`the watch of ${namespace} has ended: ${error}`, { cause: error });
    });
  }

  async #elect(): Promise<void> {
    const { elections, ttlSeconds } = this.#options;
    for (let round = 1; round <= elections; round++) {
      await this.#members.killLeader();
      // Each session is renewed once more before the next election.
      await this.#pause(ttlSeconds / RENEWALS_PER_TTL);
      console.log(`election ${round} of ${elections}: ${this.#ends.early} sessions ended early`);
    }
  }

  async #endHalf(): Promise<Ended> {
    const { grpc: endpoints } = this.#members.endpoints;
    const ending = this.#groups.slice(0, Math.floor(this.#groups.length / 2));
    const tokens = await createTenant(this.#client, this.#members.endpoints, this.#members.directory, OTHERS);
    const target = { endpoints, namespace: OTHERS, token: await tokens.token(), intervalMs: PUT_INTERVAL_MS };
    const puts = await SteadyPuts.start(target);
    try {
      await this.#pause(WARM_UP_SECONDS);
      await this.#renewTogether(ending);
      const beforeMs = performance.now();
      const cpuBefore = this.#members.cpuMs();
      const renewed = ending.filter(({ ids, deadlineMs }) => ids.length > 0 && deadlineMs > beforeMs);
      if (renewed.length === 0) {
        throw new SessionsError("no session that was to end was renewed in time: choose a longer time to live");
      }
      const deadlines = renewed.map(({ deadlineMs }) => deadlineMs);
      const [firstMs, lastMs] = [Math.min(...deadlines), Math.max(...deadlines)];
      const groups = new Set(renewed);
      await sleep(Math.max(0, firstMs - performance.now()), undefined, { signal: this.#interrupted });
      const cpuAtFirst = this.#members.cpuMs();
      const allGoneMs = await this.#untilGone(groups, lastMs + ENDS_LIMIT_MS);
      const cpuMsMeanwhile = cpuASecond(cpuAtFirst, this.#members.cpuMs(), performance.now() - firstMs);
      const untilMs = Math.max(allGoneMs, firstMs + PUTS_MS_MIN);
      await sleep(Math.max(0, untilMs + ANSWERS_MS - performance.now()), undefined, { signal: this.#interrupted });
      puts.assertRunning();
      return {
        lateness: this.#ends.latenessOf(groups),
        deadlinesMs: lastMs - firstMs,
        allGoneMs: allGoneMs - firstMs,
        cpuMsBefore: cpuASecond(cpuBefore, cpuAtFirst, firstMs - beforeMs),
        cpuMsMeanwhile,
        putsBefore: puts.between(beforeMs, firstMs),
        putsMeanwhile: puts.between(firstMs, untilMs),
      };
    } finally {
      await puts.stop();
    }
  }

  /** The last renewal of these groups: one call at a time at each member. */
  async #renewTogether(groups: readonly SessionGroup[]): Promise<void> {
    await this.#renewals.stop(groups);
    const left = [...groups];
    const renewAll = async (at: number): Promise<void> => {
      for (let group = left.shift(); group !== undefined; group = left.shift()) {
        await this.#renewals.renew(group, at);
      }
    };
    await Promise.all(this.#clients.map((_, at) => renewAll(at)));
  }

  /** Resolves to the time of the last end. */
  async #untilGone(groups: ReadonlySet<SessionGroup>, limitMs: number): Promise<number> {
    for (let left = this.#ends.leftOf(groups); left > 0; left = this.#ends.leftOf(groups)) {
      this.#assertWatched();
      if (performance.now() > limitMs) {
        throw new SessionsError(`${left} sessions did not end within ${ENDS_LIMIT_MS} ms`);
      }
      await sleep(POLL_MS, undefined, { signal: this.#interrupted });
    }
    return this.#ends.lastMs(groups);
  }

  async #pause(seconds: number): Promise<void> {
    await sleep(seconds * MS_PER_SECOND, undefined, { signal: this.#interrupted });
  }

  #assertWatched(): void {
    if (this.#watchFailure !== null) {
      throw this.#watchFailure;
    }
  }
}

/** Of all members together. */
function cpuASecond(
  before: readonly number[] | null,
  after: readonly number[] | null,
  durationMs: number,
): number | null {
  const usedMs = before && after?.reduce((sum, ms, at) => sum + ms - (before[at] ?? 0), 0);
  return usedMs === null || usedMs === undefined ? null : (usedMs / durationMs) * MS_PER_SECOND;
}
