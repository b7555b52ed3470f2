/**
 * Clients that wait for locks and read-write locks, write keys and memory guarded by their holds, and renew, change or
 * release their holds, or abandon them. They also keep using old tokens.
 */

import type { Client } from "@quoin/client";
import { type ClusterUnderTest, pause } from "../../test/harness/index.ts";
import { EXPIRY_LATE_MS_MAX, type LockMode, type LockRecord, lockCheck, type Span } from "../history/index.ts";
import { BackgroundLoad } from "./background-load.ts";
import { pick } from "./fault.ts";
import type { LockInUse } from "./lock-operations.ts";
import { MemberCalls } from "./member-calls.ts";
import { type LockKind, RecordedLocks } from "./recorded-locks.ts";

const CLIENTS = 6;
/** Locks in use at a time: two exclusive ones, the second with a lock delay, and a read-write lock. */
const LOCKS: readonly LockKind[] = [
  { rw: false, permits: 0, delaySeconds: 0, hasRegion: true },
  { rw: false, permits: 0, delaySeconds: 1, hasRegion: true },
  { rw: true, permits: 0, delaySeconds: 0, hasRegion: true },
];
const REST_MS = 30;
/** The deadline of a request that does not wait for its lock to the end. */
const IMPATIENT_MS = 200;
const NAMESPACE = "default";
/** The shortest possible time to live of a hold, and longer ones. */
const TTLS_MS = [1_000, 1_000, 2_000, 3_000] as const;
const WAITS_MS = [0, 500, 2_000, 4_000] as const;
/** Longer than the answer to a wait takes. */
const WAIT_MARGIN_MS = 1_000;
/** Maximum actions under one hold, and maximum pause between them in milliseconds. */
const STEPS_MAX = 4;
const PAUSE_MS_MAX = 60;
/** Number of past holds whose tokens stay in use. */
const OLD_HOLDS = 20;
/** All processes share one clock, and the cluster counts whole milliseconds. */
const CLOCK = { clockDrift: 0, clockResolutionMs: 1 } as const;

interface Held {
  readonly lock: LockInUse;
  readonly token: number;
}

export class LockLoad extends BackgroundLoad {
  readonly #calls: MemberCalls;
  readonly #random: (bound: number) => number;
  readonly #locks: RecordedLocks;
  readonly #old: Held[] = [];

  constructor(cluster: ClusterUnderTest, timeoutMs: number, random: (bound: number) => number) {
    super(cluster, { name: "lock", clients: CLIENTS, timeoutMs, restMs: REST_MS });
    this.#random = random;
    this.#calls = new MemberCalls(cluster, random);
    this.#locks = new RecordedLocks(this.#calls, random, NAMESPACE, LOCKS);
  }

  get records(): readonly LockRecord[] {
    return this.#locks.records;
  }

  /** Waits until all locks are free. Rejects if one does not become free. */
  untilAllFree(): Promise<void> {
    return this.#locks.untilAllFree();
  }

  /** Closes the connections. */
  close(): void {
    this.#calls.close();
  }

  /** Descriptions of contradictions in the history, given that there was a leader at all times except these. */
  judge(leaderless: readonly Span[]): readonly string[] {
    return lockCheck(this.records, { ...CLOCK, lateMsMax: EXPIRY_LATE_MS_MAX, leaderless });
  }

  /** Results of the load, in words. */
  describe(): readonly string[] {
    const answered = this.records.flatMap(({ operation, outcome }) =>
      outcome.kind === "ok" ? [{ operation, answer: outcome.answer }] : [],
    );
    const grants = answered.filter(({ operation, answer }) => {
      return operation.kind === "acquire" && answer.kind === "acquired";
    });
    const waited = grants.filter(({ answer }) => answer.kind === "acquired" && answer.waitedMs > 0);
    const guarded = answered.filter(({ operation }) => operation.kind === "guarded-write");
    const fenced = guarded.filter(({ answer }) => answer.kind === "refused" && answer.reason === "FENCED");
    return [
      `locks ${this.#locks.size}  holds granted ${grants.length}, after a wait ${waited.length}`,
      `guarded writes that counted ${guarded.length - fenced.length}, fenced ${fenced.length}`,
    ];
  }

  protected override async turn(_client: Client, name: string): Promise<void> {
    const lock = await this.#locks.some();
    if (lock === null) {
      return;
    }
    const dice = this.#random(100);
    if (dice < 10) {
      await this.#locks.do(name, lock, { kind: "describe", lock: lock.name });
    } else if (dice < 20) {
      await this.#useOldToken(name);
    } else if (dice < 22) {
      await this.#locks.do(name, lock, { kind: "force-release", lock: lock.name, token: 0 });
    } else {
      await this.#hold(name, lock);
    }
  }

  /** Acquires the lock, uses it, and releases or abandons it. */
  async #hold(name: string, lock: LockInUse): Promise<void> {
    let held = await this.#acquire(name, lock);
    for (let steps = this.#random(STEPS_MAX + 1); steps > 0 && held !== null; steps--) {
      await pause(this.#random(PAUSE_MS_MAX));
      if (this.#random(3) === 0) {
        held = await this.#change(name, held);
      } else {
        await this.#write(name, held);
      }
    }
    if (held === null) {
      return;
    }
    this.#old.push(held);
    this.#old.splice(0, this.#old.length - OLD_HOLDS);
    // One in four is abandoned, and expires.
    if (this.#random(4) > 0) {
      await this.#locks.do(name, lock, { kind: "release", lock: lock.name, token: held.token });
    }
  }

  async #acquire(name: string, lock: LockInUse): Promise<Held | null> {
    const mode: LockMode = !lock.rw ? "exclusive" : this.#random(3) === 0 ? "write" : "read";
    const waitMs = pick(this.#random, WAITS_MS);
    // One in eight waiting requests has a deadline before the end of its wait.
    const isImpatient = waitMs > 0 && this.#random(8) === 0;
    const whole = waitMs === 0 ? {} : { timeoutMs: waitMs + WAIT_MARGIN_MS };
    const answer = await this.#locks.do(
      name,
      lock,
      {
        kind: "acquire",
        lock: lock.name,
        mode,
        owner: this.#locks.newOwner(),
        ttlMs: pick(this.#random, TTLS_MS),
        waitMs,
      },
      isImpatient ? { timeoutMs: IMPATIENT_MS, triesMax: 1 } : whole,
    );
    return answer?.kind === "acquired" ? { lock, token: answer.token } : null;
  }

  /** Renews, upgrades or downgrades the hold; null if the hold does not exist any more. */
  async #change(name: string, held: Held): Promise<Held | null> {
    const { lock, token } = held;
    const mode: LockMode = !lock.rw ? "exclusive" : pick(this.#random, ["read", "write"]);
    const ttlMs = pick(this.#random, TTLS_MS);
    const answer = await this.#locks.do(name, lock, { kind: "change", lock: lock.name, token, mode, ttlMs });
    if (answer?.kind === "acquired") {
      return { lock, token: answer.token };
    }
    return answer?.kind === "refused" && answer.reason === "UPGRADE_WOULD_DEADLOCK" ? held : null;
  }

  /** Writes with the token of an earlier hold, which may still be live. */
  async #useOldToken(name: string): Promise<void> {
    if (this.#old.length > 0) {
      await this.#write(name, pick(this.#random, this.#old));
    }
  }

  async #write(name: string, { lock, token }: Held): Promise<void> {
    const what = lock.regionId !== "" && this.#random(2) === 0 ? "memory" : "a key";
    await this.#locks.do(name, lock, { kind: "guarded-write", lock: lock.name, token, what });
  }
}
