/**
 * The archive of a run. Every process archives into one bucket, with the code of production, and the rules observe it.
 * Segments are small and snapshots frequent, as the plan says.
 */

import { crc32 } from "node:zlib";
import { newObjectId } from "@quoin/backup";
import { MemberBackups } from "../../src/archive/index.ts";
import type { MembershipView, Replica } from "../../src/replica/index.ts";
import { ArchiveRules } from "./archive-rules.ts";
import { Bucket } from "./bucket.ts";
import { BucketStore } from "./bucket-store.ts";
import type { EventHeap } from "./event-heap.ts";
import { PendingWork, type ProcessWork } from "./pending-work.ts";
import type { ArchivePlan, StoreFaultKind } from "./plan.ts";
import type { ProcessLoop } from "./process-loop.ts";
import { type RandomStream, streamOf } from "./random.ts";
import type { Rules } from "./rules.ts";
import type { Trace } from "./trace.ts";

export interface ArchivesOptions {
  readonly heap: EventHeap;
  readonly trace: Trace;
  readonly random: RandomStream;
  /** Draws the ids of objects; readers use the ids to choose between segments that reach equally far. */
  readonly ids: RandomStream;
  readonly rules: Pick<Rules, "execution">;
  readonly plan: ArchivePlan;
  readonly isSteady: boolean;
  readonly clusterId: string;
}

/** An archiving member, as its process knows it. */
interface Archiving {
  readonly memberId: number;
  readonly backups: MemberBackups | null;
}

const WALL_START_MS = 1_750_000_000_000;
const STORE = { kind: "directory", directory: "/bucket" } as const;
/** How long the store is unavailable or slow, and how slow, in milliseconds. */
const AWAY_MS = [200, 20_000] as const;
const SLOW_FOR_MS = [500, 10_000] as const;
const SLOW_BY_MS = [20, 2_000] as const;
/** How long every member considers itself the archiver, in milliseconds. */
const TWINS_MS = [1_000, 10_000] as const;

export class Archives {
  readonly #options: ArchivesOptions;
  readonly bucket: Bucket;
  readonly rules: ArchiveRules;
  readonly pending = new PendingWork();
  #failures = 0;
  #twinsUntilMs = 0;

  constructor(options: ArchivesOptions) {
    this.#options = options;
    const { heap, trace, rules, clusterId, plan } = options;
    this.rules = new ArchiveRules({ clusterId, execution: rules.execution, retention: plan.retention });
    this.bucket = new Bucket(() => Math.floor(WALL_START_MS + heap.nowMs), {
      onPut: (object) => {
        trace.record(0, "is stored", [...this.rules.onPut(object, heap.nowMs), crc32(object.name)], () => object.name);
      },
      onDeleted: (object) => {
        trace.record(0, "is deleted", [...this.rules.onDeleted(object), crc32(object.name)], () => object.name);
      },
    });
  }

  get counts(): Record<string, number> {
    const { snapshots, segments, deleted, breaks, forks } = this.rules.counts;
    return {
      archived: segments,
      "archive snapshots": snapshots,
      pruned: deleted,
      breaks,
      forks,
      "archive failures": this.#failures,
    };
  }

  /** The backups of a new process. */
  begin(memberId: number, replica: Replica, loop: ProcessLoop): MemberBackups {
    const { heap, random, ids, plan, clusterId } = this.#options;
    const { bucket, pending } = this;
    const work = pending.of(() => loop.isDead);
    const store = new BucketStore({ bucket, heap, loop, random, plan, pending, work });
    this.rules.onBegin(memberId);
    return new MemberBackups({
      host: {
        name: `m${memberId}`,
        clusterName: "simulated",
        clusterId,
        memberId,
        version: "0.1.0",
        replica: this.#reach(memberId, replica, loop, work),
      },
      configuration: {
        location: STORE,
        keyFile: null,
        archives: true,
        intervalMs: plan.intervalMs,
        retention: plan.retention,
      },
      clock: loop,
      scheduler: {
        immediate: (callback) => loop.immediate(this.#waking(callback)),
        every: (intervalMs, callback) => loop.every(intervalMs, this.#waking(callback)),
      },
      log: this.#log(memberId, loop),
      limits: plan.limits,
      openStore: async () => store,
      newId: () => newObjectId((count) => ids.bytes(count)),
      // The rules of the simulator read all objects, and are stricter.
      verifies: false,
    });
  }

  /**
   * Waits until everything up to this index is archived. A store takes one segment after another, so the limit of
   * `until` is for the next one.
   */
  async untilWholeTo(index: number, until: (isReached: () => boolean, rule: string) => Promise<void>): Promise<void> {
    const { rules } = this;
    while (!rules.isWholeTo(index)) {
      const { reached } = rules;
      const isFurther = (): boolean => rules.isWholeTo(index) || rules.reached > reached;
      await until(isFurther, "liveness: everything is archived in the end");
    }
  }

  inject(kind: StoreFaultKind, draw: number): void {
    const { heap, trace } = this.#options;
    const random = streamOf(draw);
    trace.record(0, "store", [], () => kind);
    if (kind === "away") {
      this.bucket.leave(heap.nowMs + logUniform(random, ...AWAY_MS));
    } else if (kind === "twins") {
      this.#twinsUntilMs = heap.nowMs + logUniform(random, ...TWINS_MS);
    } else {
      this.bucket.slow(heap.nowMs + logUniform(random, ...SLOW_FOR_MS), logUniform(random, ...SLOW_BY_MS));
    }
  }

  /** Checks what members report about the archive now. */
  check(processes: readonly Archiving[]): void {
    const { heap, plan, isSteady } = this.#options;
    for (const { memberId, backups } of processes) {
      const archiver = backups?.archiver;
      if (archiver) {
        this.rules.onReport(memberId, archiver.report);
        if (isSteady) {
          this.rules.onLag(memberId, archiver, plan.limits.segmentMs, heap.nowMs);
        }
      }
    }
  }

  /**
   * The interface of the archiver to its member. Code after an `await` runs outside the callbacks of the process, and
   * becomes a callback here.
   */
  #reach(memberId: number, replica: Replica, loop: ProcessLoop, work: ProcessWork) {
    const { backups } = replica;
    const openExport = backups.openExport.bind(backups);
    backups.openExport = () => {
      // It writes what the state has in memory, and the disk may fail.
      const exported = loop.attempt(openExport);
      if (exported !== null) {
        const rows = exported.rows.bind(exported);
        exported.rows = async function* () {
          const iterator = rows();
          try {
            for (;;) {
              const next = await work.read(() => iterator.next());
              if (next.done === true) {
                return;
              }
              yield next.value;
            }
          } finally {
            await iterator.return();
          }
        };
      }
      return exported;
    };
    return {
      state: replica.state,
      backups,
      status: () => replica.status(),
      membershipView: (...[deadlineMs, done, report]: Parameters<Replica["membershipView"]>) => {
        replica.membershipView(deadlineMs, (error, view) => done(error, this.#seen(view, memberId)), report);
      },
      readBarrier: (deadlineMs: number, done: Parameters<Replica["readBarrier"]>[1]) => {
        loop.arrive(() => replica.readBarrier(deadlineMs, (...result) => this.#waking(() => done(...result))()));
      },
    };
  }

  /** The lease only saves work: two members that archive at the same time must do no harm. */
  #seen(view: MembershipView | null, archiverId: number): MembershipView | null {
    const isTwin = this.#options.heap.nowMs < this.#twinsUntilMs && !this.bucket.hasFaultsEnded;
    return isTwin && view?.archive !== undefined ? { ...view, archive: { ...view.archive, archiverId } } : view;
  }

  #waking(callback: () => void): () => void {
    return () => {
      this.pending.wake();
      callback();
    };
  }

  #log(memberId: number, loop: ProcessLoop) {
    const { trace } = this.#options;
    const say = (fields: object, message: string): void => {
      if (!loop.isDead) {
        trace.record(memberId, message, [], () => `${message} ${JSON.stringify(fields)}`);
      }
    };
    return {
      info: (fields: { readonly index?: number; readonly backup?: string }, message: string) => {
        if (message === "a backup was made") {
          this.rules.onSnapshot(memberId, fields.index ?? 0, fields.backup ?? "");
        } else if (message.startsWith("this member archives")) {
          this.rules.onBegin(memberId);
        }
        say(fields, message);
      },
      warn: (fields: object, message: string) => {
        this.#failures++;
        say(fields, message);
      },
      error: (fields: { readonly index?: number }, message: string) => {
        if (message.startsWith("the chain of the archive is broken")) {
          this.rules.onBreak(memberId, fields.index);
        }
        say(fields, message);
      },
    };
  }
}

function logUniform(random: RandomStream, from: number, to: number): number {
  return Math.exp(random.between(Math.log(from), Math.log(to)));
}
