/**
 * Random histories of one lock that are correct by construction. The real state machine executes each operation at a
 * moment between its start and its end. An operation of unknown outcome is executed at any time after its start, or
 * never.
 */

import {
  type AcquireLockResult,
  CoordinationError,
  type LockMode,
  type Outcome,
  scanHistory,
} from "../../src/state/index.ts";
import { AppliedLock, acquireLock, NAMED, releaseLock, requestOf } from "../../test/index.ts";
import type { LockAnswer, LockOperation, LockRecord, LockView } from "./lock-history.ts";
import type { WatchedLockChange, Watching, WatchMessage } from "./watch-history.ts";

type Random = (bound: number) => number;

export interface ExecutedLocksOptions {
  readonly clients: number;
  readonly operationsPerClient: number;
  /** Percentage of operations whose answer is lost. */
  readonly unknownPercent: number;
  readonly rw: boolean;
  readonly lockDelaySeconds: number;
}

interface Client {
  readonly name: string;
  left: number;
  /** Token of the hold that the client believes it has; 0 = none. */
  token: number;
}

interface ScheduledEvent {
  readonly ms: number;
  readonly run: () => void;
}

const TICK_MS_FIRST = 1_000;
/** Longest time of a message in each direction, and longest pause of a client, in milliseconds. */
const DELAY_MS_MAX = 20;
const REST_MS_MAX = 150;
/** How long after its start an operation of unknown outcome may be executed. */
const LATE_MS_MAX = 600;
/** How long after an attempt the next one of the request may come. It is long enough to lose a hold meanwhile. */
const RETRY_MS_MAX = 2_500;
const NOT_EXECUTED_PERCENT = 3;
const WAITS_MS = [0, 0, 300, 1_000, 3_000] as const;
const TTLS_MS = [1_000, 2_000] as const;
/** How often the leader looks for expired holds. */
const EXPIRY_INTERVAL_MS = 13;

export interface ExecutedLocks {
  readonly records: readonly LockRecord[];
  /** A watcher that watched the lock all the time. */
  readonly watching: Watching<WatchedLockChange>;
}

export function executedLocks(random: Random, options: ExecutedLocksOptions): ExecutedLocks {
  return new LockExecution(random, options).run();
}

class LockExecution {
  readonly #random: Random;
  readonly #options: ExecutedLocksOptions;
  readonly #lock: AppliedLock;
  readonly #records: LockRecord[] = [];
  readonly #scheduled: ScheduledEvent[] = [];
  /** Callbacks for the end of a wait, by the number of its attempt. */
  readonly #waits = new Map<number, (outcome: Outcome) => void>();
  /** Tokens that answers have shown. Any client may use them. */
  readonly #tokens: number[] = [];
  readonly #sent: WatchMessage<WatchedLockChange>[] = [{ kind: "created", revision: 0, changes: [], atMs: 0 }];
  #nowMs = 0;
  #acquisitions = 0;
  #attempts = 0;

  constructor(random: Random, options: ExecutedLocksOptions) {
    this.#random = random;
    this.#options = options;
    const { rw, lockDelaySeconds } = options;
    this.#lock = new AppliedLock({ rw, lockDelaySeconds });
  }

  run(): ExecutedLocks {
    const { clients, operationsPerClient } = this.#options;
    for (let at = 0; at < clients; at++) {
      const client = { name: `client-${at}`, left: operationsPerClient, token: 0 };
      this.#schedule(this.#random(REST_MS_MAX), () => this.#begin(client));
    }
    this.#expire();
    for (let next = this.#next(); next !== null; next = this.#next()) {
      this.#nowMs = next.ms;
      this.#lock.log.tickMs = TICK_MS_FIRST + Math.floor(next.ms);
      next.run();
      this.#sendChanges();
    }
    return {
      records: this.#records.map((record, id) => ({ ...record, id })),
      watching: {
        client: "watcher",
        prefix: "",
        streams: [{ startRevision: 1, startMs: 0, messages: this.#sent }],
      },
    };
  }

  /** The watcher gets each change at once. */
  #sendChanges(): void {
    const { store, revision } = this.#lock.log;
    const sent = this.#sent.at(-1)?.revision ?? 0;
    if (revision === sent) {
      return;
    }
    const news: WatchedLockChange[] = [];
    scanHistory(store, sent + 1, revision, ({ changes, revision: at }) => {
      for (const change of changes) {
        if (change.about === "lock") {
          const { kind, name, owner, mode, token, reason } = change;
          news.push({ kind, lock: name, owner, mode, token, reason, revision: at });
        }
      }
      return true;
    });
    const kind = news.length > 0 ? "changes" : "progress";
    this.#sent.push({ kind, revision, changes: news, atMs: this.#nowMs });
  }

  /** The next event; null if no client does anything more. */
  #next(): ScheduledEvent | null {
    if (this.#scheduled.length <= 1) {
      return null;
    }
    const at = this.#scheduled.reduce((least, one, index) => {
      return one.ms < (this.#scheduled[least] as ScheduledEvent).ms ? index : least;
    }, 0);
    return this.#scheduled.splice(at, 1)[0] ?? null;
  }

  /** No two events happen at the same moment. */
  #schedule(ms: number, run: () => void): void {
    this.#scheduled.push({ ms: this.#nowMs + ms + (1 + this.#random(1_000)) / 1_001, run });
  }

  #expire(): void {
    this.#lock.pass(0);
    this.#endWaits();
    this.#schedule(EXPIRY_INTERVAL_MS, () => this.#expire());
  }

  #endWaits(): void {
    for (const { attempt, outcome } of this.#lock.log.settled.splice(0)) {
      this.#waits.get(attempt.seq)?.(outcome);
      this.#waits.delete(attempt.seq);
    }
  }

  #begin(client: Client): void {
    if (client.left-- === 0) {
      return;
    }
    const operation = this.#choose(client);
    const dice = this.#random(100);
    const startMs = this.#nowMs;
    const record = { id: 0, client: client.name, operation, startMs };
    const position = this.#records.length;
    const unknown = { ...record, endMs: Number.POSITIVE_INFINITY, outcome: { kind: "unknown" } } as const;
    this.#records.push(unknown);
    const goOn = (): void => this.#schedule(this.#random(REST_MS_MAX), () => this.#begin(client));
    const { unknownPercent } = this.#options;
    if (dice < unknownPercent) {
      this.#loseAnswer(operation);
      goOn();
      return;
    }
    const end = (outcome: LockRecord["outcome"]): void => {
      if (outcome.kind === "ok" && outcome.answer.kind === "refused" && outcome.answer.reason === "LEADER_CHANGED") {
        // Another attempt has taken its place, so the outcome of this one is unknown.
        goOn();
        return;
      }
      this.#schedule(this.#random(DELAY_MS_MAX), () => {
        this.#records[position] = { ...record, endMs: this.#nowMs, outcome };
        this.#learn(client, operation, outcome);
        goOn();
      });
    };
    if (dice < unknownPercent + NOT_EXECUTED_PERCENT) {
      end({ kind: "not-executed" });
      return;
    }
    this.#schedule(this.#random(DELAY_MS_MAX), () => {
      const isRepeated = this.#random(5) === 0;
      const seq = this.#execute(operation, (answer) => {
        if (!isRepeated) {
          end({ kind: "ok", answer });
        }
      });
      if (isRepeated) {
        this.#schedule(this.#random(RETRY_MS_MAX), () => {
          const sent = (answer: LockAnswer) => ("isRepeated" in answer ? { ...answer, isRepeated } : answer);
          this.#execute(operation, (answer) => end({ kind: "ok", answer: sent(answer) }), seq);
          this.#retryLate(operation, seq);
        });
      }
    });
  }

  /**
   * A further attempt of the request may come after the answered one. No client waits for it, so its hold is undone
   * (S25).
   */
  #retryLate(operation: LockOperation, request: number): void {
    if (operation.kind !== "acquire" || this.#random(3) > 0) {
      return;
    }
    this.#schedule(this.#random(LATE_MS_MAX), () => {
      const seq = this.#execute(operation, () => undefined, request);
      this.#schedule(this.#random(LATE_MS_MAX), () => {
        this.#lock.cancel(request, seq);
        this.#endWaits();
      });
    });
  }

  /** The caller has left: the request is executed late or never, and if it waits, it may be undone. */
  #loseAnswer(operation: LockOperation): void {
    if (this.#random(3) === 0) {
      return;
    }
    this.#schedule(this.#random(LATE_MS_MAX), () => {
      const seq = this.#execute(operation, () => undefined);
      if (operation.kind === "acquire" && this.#random(2) === 0) {
        this.#schedule(this.#random(LATE_MS_MAX), () => {
          this.#lock.cancel(seq, seq);
          this.#endWaits();
        });
      }
    });
  }

  #choose(client: Client): LockOperation {
    const lock = "l";
    const { token } = client;
    const dice = this.#random(100);
    if (dice < 10) {
      return { kind: "describe", lock };
    }
    if (dice < 12) {
      return { kind: "force-release", lock, token: 0 };
    }
    if (token === 0 || dice < 20) {
      const old = this.#tokens[this.#random(Math.max(1, this.#tokens.length))];
      if (old !== undefined && this.#random(4) === 0) {
        return { kind: "guarded-write", lock, token: old, what: "a key" };
      }
      const ttlMs = TTLS_MS[this.#random(TTLS_MS.length)] as number;
      const waitMs = WAITS_MS[this.#random(WAITS_MS.length)] as number;
      // The client leaves its earlier hold to expire.
      client.token = 0;
      this.#acquisitions++;
      return { kind: "acquire", lock, mode: this.#mode(), owner: `owner-${this.#acquisitions}`, ttlMs, waitMs };
    }
    if (dice < 50) {
      return { kind: "guarded-write", lock, token, what: "a key" };
    }
    if (dice < 60) {
      return {
        kind: "change",
        lock,
        token,
        mode: this.#mode(),
        ttlMs: TTLS_MS[this.#random(TTLS_MS.length)] as number,
      };
    }
    client.token = 0;
    // Or the client dies, and leaves its hold to expire.
    return dice < 80 ? { kind: "release", lock, token } : { kind: "describe", lock };
  }

  #mode(): LockMode {
    return !this.#options.rw ? "exclusive" : this.#random(3) === 0 ? "write" : "read";
  }

  #learn(client: Client, operation: LockOperation, outcome: LockRecord["outcome"]): void {
    const answer = outcome.kind === "ok" ? outcome.answer : null;
    if (answer?.kind === "acquired") {
      client.token = answer.token;
      this.#tokens.push(answer.token);
    } else if (operation.kind === "change" && answer?.kind === "refused" && answer.reason === "LOCK_LOST") {
      client.token = 0;
    }
  }

  /**
   * Executes the operation now, as an attempt of a new request or of `request`. Calls back with the answer when there
   * is one, and returns the number of the attempt.
   */
  #execute(operation: LockOperation, answered: (answer: LockAnswer) => void, request?: number): number {
    this.#attempts++;
    const seq = this.#attempts;
    const { log, rw } = this.#lock;
    log.origin = this.#lock.originOf(seq);
    const tell = ({ answer }: Outcome): void => {
      if (answer instanceof CoordinationError) {
        answered({ kind: "refused", reason: answer.reason });
      } else if (answer.kind === "acquire-lock") {
        answered(acquisitionOf(answer));
      } else if (answer.kind === "force-release-lock" && answer.previous === null) {
        answered({ kind: "nothing-released", revision: answer.revision });
      } else {
        answered({ kind: answer.kind === "put-key" ? "written" : "released", revision: answer.revision });
      }
    };
    const asking = { request: requestOf(request ?? seq) };
    switch (operation.kind) {
      case "acquire":
      case "change": {
        const ttlSeconds = operation.ttlMs / 1_000;
        const asked =
          operation.kind === "acquire"
            ? { owner: operation.owner, waitMs: operation.waitMs }
            : { fencingToken: operation.token };
        const outcome = log.execute(acquireLock({ mode: operation.mode, ttlSeconds, ...asked }), asking);
        if (!(outcome.answer instanceof CoordinationError) && outcome.answer.kind === "queued-lock") {
          this.#waits.set(seq, tell);
        } else {
          tell(outcome);
        }
        break;
      }
      case "release":
        tell(log.execute(releaseLock({ rw, fencingToken: operation.token }), asking));
        break;
      case "force-release":
        tell(log.execute({ kind: "force-release-lock", ...NAMED, rw, fencingToken: 0, reason: "" }, asking));
        break;
      case "guarded-write":
        tell(
          log.execute(
            {
              kind: "put-key",
              namespace: NAMED.namespace,
              key: Buffer.from("k"),
              value: Buffer.from("v"),
              ttlSeconds: 0,
              expectedModRevision: undefined,
              returnPrevious: false,
              guard: { lockName: NAMED.name, fencingToken: operation.token, rw },
            },
            asking,
          ),
        );
        break;
      case "describe": {
        const { state, holds, lock } = this.#lock.view;
        const waiters = lock.waitingReaders + lock.waitingWriters;
        answered({ kind: "described", view: { state, holds, waiters, revision: log.revision } });
      }
    }
    this.#endWaits();
    return seq;
  }
}

function acquisitionOf({ hold, holds, state, queueLength, waitedMs, revision }: AcquireLockResult): LockAnswer {
  const view: LockView = { state, holds, waiters: queueLength, revision };
  const shared = { waitedMs, isRepeated: false, view };
  return hold === null
    ? { kind: "not-acquired", ...shared }
    : { kind: "acquired", token: hold.token, mode: hold.mode, ...shared };
}
