/**
 * Hashes passwords outside the threads that serve clients. Two lanes have their own queue and threads. One is for
 * logins from an address where the account has logged in recently, and for requests with a token. The other one is for
 * strangers. So a flood of invented logins never delays the first lane.
 */

import { Worker } from "node:worker_threads";
import type { Clock, Scheduler } from "../replica/index.ts";
import { type HashJob, HashQueue, type HashQueueLimits } from "./hash-queue.ts";
import type { HashingReply, HashingRequest } from "./hashing-thread.ts";
import { type Derive, type DerivedKey, hashPassword, requirePassword, scryptOptions } from "./password.ts";

export interface PasswordHashing {
  /**
   * Calls `use` at the turn of this order, with the function that hashes, and resolves to its result. Rejects with
   * OVERLOADED, without calling `use`, when too many other orders come first until the deadline.
   */
  run<Value>(lane: HashLane, order: HashJob, use: (derive: Derive) => Promise<Value>): Promise<Value>;
}

/**
 * Resolves to the hash of a user's password for the record; "" for none.
 *
 * @param salt 16 bytes, not used for another password; default: random ones.
 * @throws CoordinationError BAD_FIELD for a bad password; OVERLOADED like run.
 */
export async function hashForRecord(
  hashing: PasswordHashing,
  password: string | null,
  userId: string,
  deadlineMs: number,
  salt?: Uint8Array,
): Promise<string> {
  if (password === null) {
    return "";
  }
  requirePassword(password, "password");
  const order = { client: userId, account: userId, deadlineMs };
  return hashing.run("familiar", order, (derive) => hashPassword(password, derive, salt));
}

export type HashLane = "familiar" | "strangers";

type LaneLimits = Omit<HashQueueLimits, "atATime">;

/** Threads of each lane. On a busy machine, several threads finish in time when one would not. */
const THREADS: Readonly<Record<HashLane, number>> = { familiar: 2, strangers: 1 };
/** A thread needs little heap; the memory of scrypt is outside the heap. */
const HEAP = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };
/**
 * A hash takes a third of a second. Strangers get two dozen hashes after a rest, then three in two seconds. The
 * familiar lane is for callers who have presented a token or a password before: it gets a whole processor and a larger
 * burst.
 */
const LIMITS: Readonly<Record<HashLane, LaneLimits>> = {
  familiar: { waitersMax: 64, processorShare: 1, burstMs: 20_000 },
  strangers: { waitersMax: 64, processorShare: 0.5, burstMs: 8_000 },
};

export class QueuedHashing implements PasswordHashing {
  readonly #lanes: Readonly<Record<HashLane, { readonly queue: HashQueue; readonly idle: HashingThread[] }>>;

  constructor(clock: Clock, scheduler: Scheduler, limits: Readonly<Record<HashLane, LaneLimits>> = LIMITS) {
    const lane = (name: HashLane) => ({
      queue: new HashQueue({ ...limits[name], atATime: THREADS[name] }, clock, scheduler),
      idle: [],
    });
    this.#lanes = { familiar: lane("familiar"), strangers: lane("strangers") };
  }

  async run<Value>(lane: HashLane, order: HashJob, use: (derive: Derive) => Promise<Value>): Promise<Value> {
    const { queue, idle } = this.#lanes[lane];
    const end = await queue.enter(order);
    const thread = idle.pop() ?? new HashingThread();
    let processorMs = 0;
    try {
      return await use(async (...key) => {
        const derived = await thread.derive(...key);
        processorMs += derived.processorMs;
        return derived.hash;
      });
    } finally {
      idle.push(thread);
      end(processorMs);
    }
  }
}

/** Starts when it is first needed. It keeps the process from ending only while it has work. */
class HashingThread {
  #worker: Worker | null = null;
  /** Pending requests, in the order in which the thread answers. */
  readonly #pending: { resolve: (derived: Derived) => void; reject: (error: Error) => void }[] = [];

  derive(...[password, salt, bytes, parameters]: DerivedKey): Promise<Derived> {
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#pending.push({ resolve, reject });
      const request: HashingRequest = { password, salt, bytes, options: scryptOptions(parameters) };
      this.#worker.postMessage(request);
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL("./hashing-thread.ts", import.meta.url), {
      name: "hashing",
      resourceLimits: HEAP,
    });
    worker.on("message", (reply: HashingReply) => {
      const pending = this.#pending.shift();
      if (this.#pending.length === 0) {
        worker.unref();
      }
      if ("problem" in reply) {
        pending?.reject(new Error(`a password could not be hashed: ${reply.problem}`));
      } else {
        pending?.resolve(reply);
      }
    });
    const onEnd = (why: string) => {
      // The next request starts another thread.
      this.#worker = null;
      for (const { reject } of this.#pending.splice(0)) {
        reject(new Error(`the thread that hashes passwords ended: ${why}`));
      }
    };
    worker.on("error", (error) => onEnd(String(error)));
    worker.on("exit", (code) => {
      if (this.#worker === worker) {
        onEnd(`exit code ${code}`);
      }
    });
    return worker;
  }
}

interface Derived {
  readonly hash: Uint8Array;
  readonly processorMs: number;
}
