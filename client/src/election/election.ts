/**
 * Leader election: an exclusive lock decides who leads, and the value of its hold shows the leader to everyone else.
 *
 * The value belongs to the hold: it begins and ends with the leadership, and leaders follow each other in the order of
 * their tokens.
 *
 * Two leaders never hold the lock at the same time, but a paused leader may still believe that it leads. It must use
 * `guard` for everything that it must not do then.
 */

import { type CallOptions, EndableIterator, type Guard } from "../calls/index.ts";
import { CompactedError, QuoinError } from "../errors/index.ts";
import type { LockClient, LockHandle } from "../locks/index.ts";
import { callRulesWithoutRequestId, optionsCheck, textField, whole } from "../options/index.ts";
import type { LockEvent, WatchClient } from "../watch/index.ts";

/** Options of a candidacy. */
export interface CampaignOptions extends Omit<CallOptions, "requestId"> {
  /** How long a dead leader remains the leader, in seconds, 1 to 86,400. Default: that of the lock, which is 30. */
  readonly ttlSeconds?: number | undefined;
  /** How long to wait for the leadership, in milliseconds. Default: until the signal. */
  readonly waitMs?: number | undefined;
}

/** A leader of an election. */
export interface Leader {
  /** Its information about itself, such as its address. */
  readonly value: string;
  /** Token of its hold; a later leader has a greater one. */
  readonly fencingToken: number;
}

/** The parts of the client that an election uses. */
interface ElectionParts {
  readonly locks: LockClient;
  readonly watch: WatchClient;
}

/** The longest wait of one lock request, in milliseconds: with its deadline, less than the allowed hour. */
const LONGEST_WAIT_MS = 3_000_000;

/**
 * Reasons for a candidate to wait again: others led all the time, or its own hold had ended before it heard of its
 * election.
 */
const WAIT_TIMEOUT_REASONS: ReadonlySet<string> = new Set(["NOT_ACQUIRED", "LOCK_LOST"]);

const checkCall = optionsCheck<Omit<CallOptions, "requestId">>(callRulesWithoutRequestId);
const checkCampaign = optionsCheck<CampaignOptions>({
  ...callRulesWithoutRequestId,
  ttlSeconds: whole,
  waitMs: whole,
});

/** An election by its name: the exclusive lock with that name in a namespace. */
export class Election {
  readonly namespace: string;
  readonly name: string;
  readonly #parts: ElectionParts;

  constructor(parts: ElectionParts, namespace: string, name: string) {
    this.#parts = parts;
    this.namespace = textField("namespace", namespace);
    this.name = textField("name", name);
  }

  /**
   * Waits until this candidate leads. Creates the lock if it is missing.
   *
   * @param value the information about this leader for others, at most 1,024 bytes in UTF-8.
   * @throws QuoinError FAILED_PRECONDITION / NOT_ACQUIRED if others led for all of `waitMs`; CANCELLED by the signal.
   */
  async campaign(value: string, options: CampaignOptions = {}): Promise<Leadership> {
    textField("value", value);
    checkCampaign(options, "election.campaign");
    const { locks } = this.#parts;
    const { waitMs = LONGEST_WAIT_MS } = options;
    for (;;) {
      try {
        return new Leadership(locks, await locks.hold(this.namespace, this.name, { ...options, waitMs, value }));
      } catch (thrown) {
        const { reason } = QuoinError.from(thrown);
        if (reason === "LOCK_NOT_FOUND") {
          await this.#createLock(options);
        } else if (options.waitMs !== undefined || !WAIT_TIMEOUT_REASONS.has(reason)) {
          throw thrown;
        }
      }
    }
  }

  /** The current leader; undefined if there is none. */
  async leader(options: Omit<CallOptions, "requestId"> = {}): Promise<Leader | undefined> {
    checkCall(options, "election.leader");
    return (await this.#read(options)).leader;
  }

  /**
   * Yields the leader: first the current one, then every change; undefined = no leader. Changes that come together are
   * one, but the order is that of the elections. It reconnects by itself, as watches do. It ends with the loop, with
   * `return()`, or with the signal, which makes it fail with CANCELLED.
   */
  observe(options: Omit<CallOptions, "requestId"> = {}): EndableIterator<Leader | undefined> {
    checkCall(options, "election.observe");
    const ending = new AbortController();
    return new EndableIterator(this.#observe(options, ending), ending);
  }

  async *#observe(
    options: Omit<CallOptions, "requestId">,
    ending: AbortController,
  ): AsyncGenerator<Leader | undefined, undefined, undefined> {
    const signal = options.signal === undefined ? ending.signal : AbortSignal.any([ending.signal, options.signal]);
    let told: Leader | undefined | "nothing" = "nothing";
    for (;;) {
      const ended = new AbortController();
      try {
        const watched = { ...options, signal: AbortSignal.any([signal, ended.signal]) };
        for await (const leader of this.#leaders(watched)) {
          if (told !== "nothing" && leader?.fencingToken === told?.fencingToken && leader?.value === told?.value) {
            continue;
          }
          told = leader;
          yield leader;
        }
      } catch (thrown) {
        if (ending.signal.aborted) {
          return undefined;
        }
        // The history since then is no longer kept, so read the state again.
        if (!(thrown instanceof CompactedError)) {
          throw thrown;
        }
      } finally {
        ended.abort();
      }
    }
  }

  /** The leader now, and after each message of a watch that begins before now. */
  async *#leaders(options: Omit<CallOptions, "requestId">): AsyncGenerator<Leader | undefined, undefined, undefined> {
    const watch = await this.#parts.watch.locks(this.namespace, { ...options, namePrefix: this.name });
    let { leader, revision } = await this.#read(options);
    yield leader;
    for await (const { events } of watch) {
      for (const event of events) {
        if (event.revision > revision && this.#isAbout(event)) {
          leader = leaderAfter(leader, event);
        }
      }
      yield leader;
    }
    return undefined;
  }

  #isAbout({ lockKey, rw, permits }: LockEvent): boolean {
    return lockKey === this.name && !rw && permits === 0;
  }

  async #createLock({ signal, timeoutMs, traceparent }: CampaignOptions): Promise<void> {
    try {
      await this.#parts.locks.create(this.namespace, this.name, { signal, timeoutMs, traceparent });
    } catch (thrown) {
      if (QuoinError.from(thrown).reason !== "LOCK_EXISTS") {
        throw thrown;
      }
    }
  }

  /** The leader, and the revision at which it is true; 0 = the lock does not exist, whose later events all count. */
  async #read(options: CallOptions): Promise<{ leader: Leader | undefined; revision: number }> {
    try {
      const { holder, revision } = await this.#parts.locks.describe(this.namespace, this.name, options);
      return { leader: holder === undefined ? undefined : leaderOf(holder), revision };
    } catch (thrown) {
      if (QuoinError.from(thrown).reason !== "LOCK_NOT_FOUND") {
        throw thrown;
      }
      return { leader: undefined, revision: 0 };
    }
  }
}

/** A candidate that leads, until it resigns or loses the lock. */
export class Leadership implements AsyncDisposable {
  /** The hold of the lock. It emits `lost` when the leadership is lost. */
  readonly hold: LockHandle;
  readonly #locks: LockClient;

  constructor(locks: LockClient, hold: LockHandle) {
    this.#locks = locks;
    this.hold = hold;
  }

  /** Token of the leadership: greater than those of all earlier leaders. */
  get token(): number {
    return this.hold.token;
  }

  /** Aborts when the leadership is lost. Resigning does not abort it. */
  get signal(): AbortSignal {
    return this.hold.signal;
  }

  /** Makes a write take effect only while this candidate leads. */
  get guard(): Guard {
    return this.hold.guard;
  }

  /**
   * Replaces the information about this leader, at most 1,024 bytes in UTF-8.
   *
   * @throws QuoinError FAILED_PRECONDITION / LOCK_LOST if it no longer leads.
   */
  async proclaim(value: string, options: Omit<CallOptions, "requestId"> = {}): Promise<void> {
    checkCall(options, "election.proclaim");
    const { namespace, name, owner, token } = this.hold;
    await this.#locks.setValue(namespace, name, token, textField("value", value), { ...options, owner });
  }

  /**
   * Ends the leadership, and lets the next candidate lead at once.
   *
   * @returns whether it lasted until then.
   * @throws QuoinError if no member answers; the leadership then ends by itself, and resign may be called again.
   */
  async resign(options: Omit<CallOptions, "requestId"> = {}): Promise<boolean> {
    checkCall(options, "election.resign");
    return this.hold.release(options);
  }

  /** Resigns at the end of an `await using`. If no member answers, the leadership ends by itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.hold[Symbol.asyncDispose]();
  }
}

function leaderOf({ value, fencingToken }: { readonly value: Uint8Array; readonly fencingToken: number }): Leader {
  return { value: new TextDecoder().decode(value), fencingToken };
}

function leaderAfter(leader: Leader | undefined, event: LockEvent): Leader | undefined {
  if (event.action === "ACQUIRED") {
    return leaderOf(event);
  }
  return leader?.fencingToken === event.fencingToken ? undefined : leader;
}
