/**
 * The queue for hashing passwords: a bounded number run at the same time, with a bounded share of one processor.
 *
 * The next turn goes to the waiter whose client address and account had the least hashing recently; among equals, to
 * the first that came. So a client with many requests waits behind all clients with few. When too many wait, the most
 * demanding waiter is refused; among equals, the newest. A waiter whose deadline has passed, or whose client has gone,
 * leaves at once.
 */

import type { Clock, Scheduler } from "../replica/index.ts";
import { CoordinationError } from "../state/index.ts";
import { RateLimiter } from "./rate-limiter.ts";

/** A request to hash a password. */
export interface HashJob {
  /** Short names of the client address and of the account. */
  readonly client: string;
  readonly account: string;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** Registers a function to call when the client has gone. */
  readonly onGone?: (listener: () => void) => void;
}

export interface HashQueueLimits {
  /** Maximum number of turns at the same time. */
  readonly atATime: number;
  readonly waitersMax: number;
  /** Share of one processor that hashing may use in the long run; above 0, at most 1. */
  readonly processorShare: number;
  /** Milliseconds of processor time that hashing may use at once after a rest. */
  readonly burstMs: number;
}

/** Ends the turn; `processorMs` is the processor time that the hashing took, in milliseconds. */
export type EndTurn = (processorMs: number) => void;

interface Waiter {
  readonly job: HashJob;
  readonly start: (end: EndTurn) => void;
  readonly refuse: (error: CoordinationError) => void;
  stopTimer: () => void;
}

/** Each hash counts for a minute against its address and its account; twenty in a row count for twenty minutes. */
const MEMORY = { requests: 1, windowSecs: 60, burst: 1_000 };
const HASH_COUNTS_MS = 60_000;

export class HashQueue {
  readonly #limits: HashQueueLimits;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #scheduler: Pick<Scheduler, "every">;
  readonly #recent: RateLimiter;
  readonly #waiting: Waiter[] = [];
  #running = 0;
  #isThrottled = false;
  /** When the processor share covers the time that hashing has taken. */
  #paidAtMs = Number.NEGATIVE_INFINITY;

  constructor(limits: HashQueueLimits, clock: Pick<Clock, "monotonicMs">, scheduler: Pick<Scheduler, "every">) {
    this.#limits = limits;
    this.#clock = clock;
    this.#scheduler = scheduler;
    this.#recent = new RateLimiter(
      () => MEMORY,
      () => clock.monotonicMs(),
    );
  }

  /** Number of waiters. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Resolves at the turn of this order, with the function that ends the turn; the caller must call it. Rejects with
   * OVERLOADED when the deadline passes, when the client has gone, or when too many less demanding orders wait.
   */
  enter(job: HashJob): Promise<EndTurn> {
    return new Promise((start, refuse) => {
      const waiter: Waiter = { job, start, refuse, stopTimer: () => undefined };
      this.#waiting.push(waiter);
      this.#next();
      if (!this.#waiting.includes(waiter)) {
        return;
      }
      const leave = () => this.#refuse(waiter);
      waiter.stopTimer = this.#scheduler.every(Math.max(0, job.deadlineMs - this.#clock.monotonicMs()), leave);
      job.onGone?.(leave);
      if (this.#waiting.length > this.#limits.waitersMax) {
        this.#refuse(this.#mostDemanding());
      }
    });
  }

  #next(): void {
    if (this.#running === this.#limits.atATime || this.#isThrottled || this.#waiting.length === 0) {
      return;
    }
    const { burstMs, processorShare } = this.#limits;
    const restMs = this.#paidAtMs - this.#clock.monotonicMs() - burstMs / processorShare;
    if (restMs > 0) {
      this.#throttle(restMs);
      return;
    }
    const waiter = this.#leastDemanding();
    const { client, account } = waiter.job;
    this.#remove(waiter);
    this.#recent.charge(nameOfClient(client));
    this.#recent.charge(nameOfAccount(account));
    this.#running++;
    waiter.start((processorMs) => this.#end(processorMs));
    this.#next();
  }

  #end(processorMs: number): void {
    this.#paidAtMs = Math.max(this.#paidAtMs, this.#clock.monotonicMs()) + processorMs / this.#limits.processorShare;
    this.#running--;
    this.#next();
  }

  #throttle(delayMs: number): void {
    this.#isThrottled = true;
    const stop = this.#scheduler.every(delayMs, () => {
      stop();
      this.#isThrottled = false;
      this.#next();
    });
  }

  /** How much hashing the address and the account had recently, as milliseconds until it no longer counts. */
  #hashedFor({ client, account }: HashJob): number {
    return this.#countsMs(nameOfClient(client)) + this.#countsMs(nameOfAccount(account));
  }

  #countsMs(name: string): number {
    return this.#recent.allowance(name)?.fullInMs ?? 0;
  }

  #leastDemanding(): Waiter {
    const demands = this.#waiting.map(({ job }) => this.#hashedFor(job));
    return this.#waiting[demands.indexOf(Math.min(...demands))] as Waiter;
  }

  /** The waiter with the most past and waiting hashes; among equals, the newest. */
  #mostDemanding(): Waiter {
    const before = new Map<string, number>();
    const demands = this.#waiting.map(({ job }) => {
      const names = [nameOfClient(job.client), nameOfAccount(job.account)];
      let demand = this.#hashedFor(job);
      for (const name of names) {
        const count = before.get(name) ?? 0;
        before.set(name, count + 1);
        demand += count * HASH_COUNTS_MS;
      }
      return demand;
    });
    return this.#waiting[demands.lastIndexOf(Math.max(...demands))] as Waiter;
  }

  #refuse(waiter: Waiter): void {
    if (this.#remove(waiter)) {
      waiter.refuse(new CoordinationError("OVERLOADED", "too many other logins at this moment; try again"));
    }
  }

  #remove(waiter: Waiter): boolean {
    const at = this.#waiting.indexOf(waiter);
    if (at >= 0) {
      this.#waiting.splice(at, 1);
      waiter.stopTimer();
    }
    return at >= 0;
  }
}

/** The prefix keeps addresses and accounts apart. */
function nameOfClient(client: string): string {
  return `client ${client}`;
}

function nameOfAccount(account: string): string {
  return `account ${account}`;
}
