/**
 * Who hashes a password next: so many at a time, and for a bounded share of one processor.
 *
 * The next one is the waiter whose client address and account have had the least hashing lately; of equals, the one that
 * came first. So a client with many requests waits behind all that have few. When too many wait, the newest
 * waiter of those who ask for the most is refused. A waiter whose deadline has passed, or whose client has gone, leaves
 * at once.
 */

import type { Clock, Scheduler } from "../replica/index.ts";
import { CoordinationError } from "../state/index.ts";
import { RateLimiter } from "./rate-limiter.ts";

/** For whom a password is to be hashed. */
export interface HashOrder {
  /** Short names of the address that asks and of the account that it names. */
  readonly client: string;
  readonly account: string;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** Takes a function, and calls it when the client has gone. */
  readonly onGone?: (listener: () => void) => void;
}

export interface HashQueueLimits {
  /** Turns that run at a time. */
  readonly atATime: number;
  readonly waitersMax: number;
  /** Part of one processor that hashing may take in the long run; above 0, at most 1. */
  readonly processorShare: number;
  /** Milliseconds of processor time that it may take at once after a rest. */
  readonly burstMs: number;
}

/** Ends the turn. Takes the milliseconds of processor time that the hashing took. */
export type EndTurn = (processorMs: number) => void;

interface Waiter {
  readonly order: HashOrder;
  readonly start: (end: EndTurn) => void;
  readonly refuse: (error: CoordinationError) => void;
  stopTimer: () => void;
}

/** Each hash counts for a minute against its address and its account: twenty on end, for twenty minutes. */
const MEMORY = { requests: 1, windowSecs: 60, burst: 1_000 };
const HASH_COUNTS_MS = 60_000;

export class HashQueue {
  readonly #limits: HashQueueLimits;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #scheduler: Pick<Scheduler, "every">;
  readonly #recent: RateLimiter;
  readonly #waiting: Waiter[] = [];
  #running = 0;
  #isResting = false;
  /** When the share of the processor has made up for what hashing took. */
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

  /** The number of those who wait for their turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Resolves when it is this one's turn, with the function that ends it, which must be called. Rejects with OVERLOADED
   * when the deadline passes, when the client has gone, and when too many others wait who ask for less.
   */
  enter(order: HashOrder): Promise<EndTurn> {
    return new Promise((start, refuse) => {
      const waiter: Waiter = { order, start, refuse, stopTimer: () => undefined };
      this.#waiting.push(waiter);
      this.#next();
      if (!this.#waiting.includes(waiter)) {
        return;
      }
      const leave = () => this.#refuse(waiter);
      waiter.stopTimer = this.#scheduler.every(Math.max(0, order.deadlineMs - this.#clock.monotonicMs()), leave);
      order.onGone?.(leave);
      if (this.#waiting.length > this.#limits.waitersMax) {
        this.#refuse(this.#mostDemanding());
      }
    });
  }

  #next(): void {
    if (this.#running === this.#limits.atATime || this.#isResting || this.#waiting.length === 0) {
      return;
    }
    const { burstMs, processorShare } = this.#limits;
    const restMs = this.#paidAtMs - this.#clock.monotonicMs() - burstMs / processorShare;
    if (restMs > 0) {
      this.#rest(restMs);
      return;
    }
    const waiter = this.#leastDemanding();
    const { client, account } = waiter.order;
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

  #rest(restMs: number): void {
    this.#isResting = true;
    const stop = this.#scheduler.every(restMs, () => {
      stop();
      this.#isResting = false;
      this.#next();
    });
  }

  /** How much hashing its address and its account have had lately, in milliseconds for which that counts. */
  #hashedFor({ client, account }: HashOrder): number {
    return this.#countsMs(nameOfClient(client)) + this.#countsMs(nameOfAccount(account));
  }

  #countsMs(name: string): number {
    return this.#recent.allowance(name)?.fullInMs ?? 0;
  }

  #leastDemanding(): Waiter {
    const demands = this.#waiting.map(({ order }) => this.#hashedFor(order));
    return this.#waiting[demands.indexOf(Math.min(...demands))] as Waiter;
  }

  /** By what was hashed for them and what they wait for already; of equals the newest. */
  #mostDemanding(): Waiter {
    const before = new Map<string, number>();
    const demands = this.#waiting.map(({ order }) => {
      const names = [nameOfClient(order.client), nameOfAccount(order.account)];
      let demand = this.#hashedFor(order);
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
      waiter.refuse(new CoordinationError("OVERLOADED", "too many others log in at this moment; try again"));
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

/** No address is mistaken for an account. */
function nameOfClient(client: string): string {
  return `client ${client}`;
}

function nameOfAccount(account: string): string {
  return `account ${account}`;
}
