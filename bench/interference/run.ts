/**
 * Measures the effect of other work of the members on puts, in a cluster of three.
 *
 * In each round a follower is stopped, and so much is written that it needs a snapshot when it continues. The benchmark
 * measures puts before the stop, during the snapshot, and after it. Three members always run then, and all puts go to
 * the leader and the other follower. The same puts cause compactions of the log and of RocksDB; the metrics of these
 * two members show when.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Connection,
  type Keys,
  type MeasuredMember,
  QuoinCluster,
  sumOfMetric,
  untilLeader,
} from "../clusters/index.ts";
import { syncMsMedian } from "../measuring/index.ts";
import { keysOf } from "../scenarios/index.ts";
import { writeReport } from "../tables/index.ts";
import { type Episode, MemberEpisodes } from "./episodes.ts";
import type { InterferenceOptions } from "./options.ts";
import { jsonReport, markdownReport, type Report, terminalReport } from "./report.ts";
import { summarize, type TimedPut } from "./summary.ts";

/** The event to measure did not happen. */
export class InterferenceError extends Error {}

const MEMBERS = 3;
/** The smallest possible value, so that less must be written before a snapshot is needed. */
const MEMBER_FLAGS = ["--log-catch-up-mib", "64"];
const MS_PER_SECOND = 1000;
const MEBIBYTE = 1024 * 1024;
/** Size of the values that the follower misses. */
const MISSED_VALUE_BYTES = 64 * 1024;
const MISSED_IN_FLIGHT = 8;
const POLL_MS = 200;
const SNAPSHOT_LIMIT_MS = 10 * 60_000;
const RECEIVED = /direction="received",result="completed"/;

/**
 * Raises an InterferenceError if no snapshot was received, the first error of a put, or the reason of the interruption.
 */
export async function runInterference(options: InterferenceOptions, interrupted: AbortSignal): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "quoin-bench-"));
  let cluster: QuoinCluster | null = null;
  try {
    const syncMs = syncMsMedian(directory);
    const startedAt = new Date();
    cluster = await QuoinCluster.start(MEMBERS, join(directory, "quoin"), MEMBER_FLAGS);
    const measured = await new Interference(cluster, options, interrupted).run();
    const report: Report = {
      startedAt,
      version: cluster.version,
      cpus: availableParallelism(),
      options,
      syncMs,
      syncMsAfter: syncMsMedian(directory),
      ...measured,
    };
    console.log(terminalReport(report));
    writeReport(options, { markdown: () => markdownReport(report), json: () => jsonReport(report) });
  } finally {
    await cluster?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The members of one round, by role. */
interface Roles {
  /** The first is the leader. */
  readonly asked: readonly [MeasuredMember, MeasuredMember];
  readonly stopped: MeasuredMember;
}

class Interference {
  readonly #cluster: QuoinCluster;
  readonly #options: InterferenceOptions;
  readonly #interrupted: AbortSignal;
  readonly #puts: TimedPut[] = [];
  readonly #episodes: Episode[] = [];
  readonly #snapshotsMs: number[] = [];
  #next = 0;

  constructor(cluster: QuoinCluster, options: InterferenceOptions, interrupted: AbortSignal) {
    this.#cluster = cluster;
    this.#options = options;
    this.#interrupted = interrupted;
  }

  async run(): Promise<Pick<Report, "snapshotsMs" | "elections" | "rows">> {
    const { rounds, warmUpSeconds } = this.#options;
    const first = await untilLeader(this.#cluster, this.#interrupted);
    await this.#load(this.#cluster.members, afterSeconds(warmUpSeconds), () => undefined);
    for (let round = 1; round <= rounds; round++) {
      await this.#round(await this.#rolesNow());
      console.log(`round ${round} of ${rounds}: the snapshot took ${this.#snapshotsMs.at(-1)?.toFixed(0)} ms`);
    }
    const last = await untilLeader(this.#cluster, this.#interrupted);
    return {
      snapshotsMs: this.#snapshotsMs,
      elections: last.term - first.term,
      rows: summarize(this.#puts, this.#episodes),
    };
  }

  async #rolesNow(): Promise<Roles> {
    const { leader } = await untilLeader(this.#cluster, this.#interrupted);
    const [follower, stopped] = this.#cluster.members.filter((member) => member !== leader);
    return { asked: [leader, follower as MeasuredMember], stopped: stopped as MeasuredMember };
  }

  async #round({ asked, stopped }: Roles): Promise<void> {
    const { seconds, missedMib } = this.#options;
    await this.#measure(asked, afterSeconds(seconds));
    const before = await this.#snapshotsReceived(stopped);
    process.kill(stopped.pid, "SIGSTOP");
    try {
      await this.#write(asked, missedMib * MEBIBYTE);
    } finally {
      process.kill(stopped.pid, "SIGCONT");
    }
    const startMs = performance.now();
    const limitMs = startMs + SNAPSHOT_LIMIT_MS;
    let endMs = 0;
    let isFailed = false;
    const watch = async (): Promise<void> => {
      while ((await this.#snapshotsReceived(stopped)) === before) {
        if (performance.now() > limitMs) {
          throw new InterferenceError("the follower received no snapshot");
        }
        await sleep(POLL_MS, undefined, { signal: this.#interrupted });
      }
      endMs = performance.now();
    };
    const watched = watch().catch((error: unknown) => {
      isFailed = true;
      throw error;
    });
    const afterMs = seconds * MS_PER_SECOND;
    const isOver = (): boolean => isFailed || (endMs > 0 && performance.now() > endMs + afterMs);
    await Promise.all([watched, this.#measure(asked, isOver)]);
    this.#snapshotsMs.push(endMs - startMs);
    this.#episodes.push({ work: "snapshot", startMs, endMs });
  }

  async #snapshotsReceived(member: MeasuredMember): Promise<number> {
    return sumOfMetric(await this.#cluster.readMetrics(member), "quoin_raft_snapshots_total", RECEIVED);
  }

  /** Writes this many bytes in large values, as fast as possible. */
  async #write(members: readonly MeasuredMember[], bytes: number): Promise<void> {
    const value = Buffer.alloc(MISSED_VALUE_BYTES, "m");
    let left = Math.ceil(bytes / MISSED_VALUE_BYTES);
    await this.#workers(members, MISSED_IN_FLIGHT, async (keys) => {
      while (left-- > 0 && !this.#interrupted.aborted) {
        await keys.put(this.#key("missed"), value);
      }
    });
  }

  /** Puts until `isOver`, while it samples the metrics of the members. */
  async #measure(members: readonly MeasuredMember[], isOver: () => boolean): Promise<void> {
    const observed = members.map((member) => ({ member, episodes: new MemberEpisodes() }));
    let isDone = false;
    const observe = async (): Promise<void> => {
      while (!isDone && !this.#interrupted.aborted) {
        for (const { member, episodes } of observed) {
          const text = await this.#cluster.readMetrics(member);
          episodes.add(performance.now(), text);
        }
        await sleep(POLL_MS);
      }
    };
    const load = this.#load(members, isOver, (put) => this.#puts.push(put)).finally(() => {
      isDone = true;
    });
    await Promise.all([observe(), load]);
    this.#episodes.push(...observed.flatMap(({ episodes }) => episodes.episodes(performance.now())));
  }

  async #load(
    members: readonly MeasuredMember[],
    isOver: () => boolean,
    onPut: (put: TimedPut) => void,
  ): Promise<void> {
    const { inFlight, valueBytes } = this.#options;
    const value = Buffer.alloc(valueBytes, "v");
    await this.#workers(members, inFlight, async (keys) => {
      while (!isOver() && !this.#interrupted.aborted) {
        const sentMs = performance.now();
        await keys.put(this.#key("put"), value);
        onPut({ sentMs, answeredMs: performance.now() });
      }
    });
  }

  #key(prefix: string): string {
    return `interference/${prefix}/${this.#next++}`;
  }

  /**
   * Runs this many workers, spread over connections to the members. Raises the first error when all of them have ended.
   */
  async #workers(
    members: readonly MeasuredMember[],
    count: number,
    work: (keys: Keys) => Promise<void>,
  ): Promise<void> {
    const connections: Connection[] = [];
    try {
      for (const member of members) {
        connections.push(await this.#cluster.connect(member));
      }
      const works = Array.from({ length: count }, (_, at) =>
        work(keysOf(connections[at % connections.length] as Connection)),
      );
      const failed = (await Promise.allSettled(works)).find(({ status }) => status === "rejected");
      this.#interrupted.throwIfAborted();
      if (failed?.status === "rejected") {
        throw failed.reason;
      }
    } finally {
      for (const connection of connections) {
        connection.close();
      }
    }
  }
}

function afterSeconds(seconds: number): () => boolean {
  const endMs = performance.now() + seconds * MS_PER_SECOND;
  return () => performance.now() >= endMs;
}
