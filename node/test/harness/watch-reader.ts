/**
 * Watches a log in memory through a real hub, under a fake clock. The spec applies the log, and decides when each
 * reader takes its messages.
 */

import { type CoordinationError, DEFAULT_STATE_LIMITS, type HistoryLimits } from "../../src/state/index.ts";
import {
  DEFAULT_WATCH_LIMITS,
  NamespaceStreams,
  type Subscriber,
  WatchHub,
  type WatchLimits,
  type WatchMessage,
  type WatchRequest,
} from "../../src/watch/index.ts";
import { AppliedLog, OWNER, putOf } from "../index.ts";
import { FakeTime } from "./fake-time.ts";

export class WatchReader implements Subscriber {
  readonly messages: WatchMessage[] = [];
  /** The reason of its end; null before that. */
  ended: CoordinationError | null = null;
  /** The error that `recheck` throws. */
  refusal: CoordinationError | null = null;
  /** Whether messages are taken as they come. */
  isQuick = true;
  rechecks = 0;
  close: () => void = () => undefined;
  #taken: (() => void)[] = [];

  send(message: WatchMessage, taken: () => void): void {
    if (this.ended !== null) {
      throw new Error("nothing is sent after the end of a watch");
    }
    this.messages.push(message);
    if (this.isQuick) {
      taken();
    } else {
      this.#taken.push(taken);
    }
  }

  recheck(): void {
    this.rechecks++;
    if (this.refusal !== null) {
      throw this.refusal;
    }
  }

  end(error: CoordinationError): void {
    if (this.ended !== null) {
      throw new Error("a watch ends once");
    }
    this.ended = error;
  }

  /** Messages that were sent and not taken. */
  get untaken(): number {
    return this.#taken.length;
  }

  take(): void {
    for (const taken of this.#taken.splice(0)) {
      taken();
    }
  }

  /** The messages, one line each: kind, revision of the message, and revisions of the changes. */
  get lines(): string[] {
    return this.messages.map(({ kind, revision, changes }) =>
      [`${kind} ${revision}:`, ...changes.map((change) => change.revision)].join(" "),
    );
  }
}

export class WatchedLog {
  readonly time = new FakeTime();
  readonly log: AppliedLog;
  readonly hub: WatchHub;
  leaderId = 1;
  lagMs = 0;
  /** Whether the member serves. */
  isServing = true;
  observers = new Set<() => void>();

  constructor(limits: Partial<WatchLimits> = {}, history: Partial<HistoryLimits> = {}) {
    this.log = new AppliedLog({ ...DEFAULT_STATE_LIMITS, history: { ...DEFAULT_STATE_LIMITS.history, ...history } });
    const self = this;
    const replica = {
      state: this.log.store,
      get revision() {
        return self.log.revision;
      },
      status: () => ({ leaderId: this.leaderId, lagMs: this.lagMs }),
      observe: (listener: () => void) => {
        this.observers.add(listener);
        return () => this.observers.delete(listener);
      },
    };
    this.hub = new WatchHub({
      member: {
        get replica() {
          return self.isServing ? replica : null;
        },
      },
      clock: this.time,
      scheduler: this.time,
      limits: { ...DEFAULT_WATCH_LIMITS, ...limits },
      namespaceStreams: new NamespaceStreams(),
    });
  }

  /** Puts a value, and returns the revision. */
  put(key: string, value = "v", namespace = "default"): number {
    const { modRevision } = this.log.result<"put-key">(putOf(key, value, { namespace }));
    this.notify();
    return modRevision;
  }

  /** Reports to the hub that something was applied. */
  notify(): void {
    for (const observer of this.observers) {
      observer();
    }
  }

  /** Drops history beyond the limits of the log. */
  trim(): void {
    this.log.lead({ kind: "trim-history", countMax: 1_000_000 });
    this.notify();
  }

  /**
   * A reader of the keys with this prefix, by default, after it got the message that it is created; `isQuick` for what
   * follows.
   */
  watch(prefix: string, request: Partial<WatchRequest> = {}, isQuick = true): WatchReader {
    const reader = new WatchReader();
    reader.isQuick = isQuick;
    const kept = { about: "key", namespace: "default", startRevision: 0, progressIntervalMs: 60_000 } as const;
    reader.close = this.hub.open({ ...kept, principal: OWNER, ...request, prefix: Buffer.from(prefix) }, reader);
    return reader;
  }
}
