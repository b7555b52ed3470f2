/**
 * Leader election: a lock decides who leads, and a key with the same name shows the leader to everyone else.
 *
 * A candidate waits for the lock. When it gets the lock, it proclaims itself under the key, guarded by its hold. So the
 * value of the key was written by a leader while it led, and leaders follow each other in the order of their tokens. A
 * leader leads for as long as its hold lasts, whatever the value of the key. A reader therefore compares both, by the
 * token.
 *
 * Two leaders never hold the lock at the same time, but a paused leader may still believe that it leads. It must use
 * `guard` for everything that it must not do then.
 */

import { type CallOptions, EndableIterator, type Guard } from "../calls/index.ts";
import { CompactedError, QuoinError } from "../errors/index.ts";
import type { KeyValueClient } from "../kv/index.ts";
import type { LockClient, LockHandle } from "../locks/index.ts";
import { callRulesWithoutRequestId, optionsCheck, textField, whole } from "../options/index.ts";
import type { KeyEvent, LockEvent, WatchClient } from "../watch/index.ts";
import { type Leader, LeaderView } from "./leader-view.ts";

/** Options of a candidacy. */
export interface CampaignOptions extends Omit<CallOptions, "requestId"> {
  /** How long a dead leader remains the leader, in seconds, 1 to 86,400. Default: that of the lock, which is 30. */
  readonly ttlSeconds?: number | undefined;
  /** How long to wait for the leadership, in milliseconds. Default: until the signal. */
  readonly waitMs?: number | undefined;
}

/** The parts of the client that an election uses. */
interface ElectionParts {
  readonly keyValue: KeyValueClient;
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

/** How often the lock and the key are read if another leader came in between: after more changes there is no result. */
const READS_MAX = 3;

const checkCall = optionsCheck<Omit<CallOptions, "requestId">>(callRulesWithoutRequestId);
const checkCampaign = optionsCheck<CampaignOptions>({
  ...callRulesWithoutRequestId,
  ttlSeconds: whole,
  waitMs: whole,
});

/** An election by its name: the exclusive lock and the key with that name in a namespace. */
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
   * Waits until this candidate leads, and proclaims it. Creates the lock if it is missing.
   *
   * @param value the information about this leader for others.
   * @throws QuoinError FAILED_PRECONDITION / NOT_ACQUIRED if others led for all of `waitMs`; CANCELLED by the signal.
   */
  async campaign(value: string, options: CampaignOptions = {}): Promise<Leadership> {
    textField("value", value);
    checkCampaign(options, "election.campaign");
    const { timeoutMs, signal, traceparent } = options;
    for (;;) {
      const leadership = new Leadership(this.#parts.keyValue, await this.#hold(options));
      try {
        await leadership.proclaim(value, { timeoutMs, signal, traceparent });
        return leadership;
      } catch (thrown) {
        await leadership[Symbol.asyncDispose]();
        // The hold was lost before this client heard of it: try again with a new candidacy.
        if (!(thrown instanceof QuoinError) || thrown.reason !== "FENCED") {
          throw thrown;
        }
      }
    }
  }

  /** The current leader; undefined if there is none, or if it has not proclaimed itself yet. */
  async leader(options: Omit<CallOptions, "requestId"> = {}): Promise<Leader | undefined> {
    checkCall(options, "election.leader");
    for (let read = 1; read <= READS_MAX; read += 1) {
      const { token } = await this.#readLock(options);
      const { proclaimed } = await this.#readKey(options);
      if (token === 0 || proclaimed === undefined || proclaimed.fencingToken < token) {
        return undefined;
      }
      if (proclaimed.fencingToken === token) {
        return proclaimed;
      }
    }
    return undefined;
  }

  /**
   * Yields the leader: first the current one, then every change; undefined = no leader. Changes that are not read in
   * time are skipped, but the order is that of the elections. It reconnects by itself, as watches do. It ends with the
   * loop, with `return()`, or with the signal, which makes it fail with CANCELLED.
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
        const view = await this.#openView(watched);
        for await (const leader of view.leaders()) {
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

  /** Reads the current state, and watches from there. */
  async #openView(options: Omit<CallOptions, "requestId">): Promise<LeaderView> {
    const { proclaimed, revision } = await this.#readKey(options);
    const { token, lastToken } = await this.#readLock(options);
    const startRevision = revision + 1;
    const { watch } = this.#parts;
    const [keys, locks] = await Promise.all([
      watch.keys(this.namespace, { ...options, prefix: this.name, startRevision }),
      watch.locks(this.namespace, { ...options, namePrefix: this.name, startRevision }),
    ]);
    // All tokens below that of a live hold belong to holds that have ended.
    const view = new LeaderView(proclaimed, token === 0 ? lastToken : token - 1);
    view.follow(keys, (event) => this.#onKeyEvent(view, event));
    view.follow(locks, (event) => this.#onLockEvent(view, event));
    return view;
  }

  #onKeyEvent(view: LeaderView, { type, kv }: KeyEvent): void {
    if (kv.key === this.name) {
      view.proclaimed = type === "PUT" ? readProclamation(kv.value) : undefined;
    }
  }

  #onLockEvent(view: LeaderView, { lockKey, rw, action, fencingToken }: LockEvent): void {
    if (lockKey === this.name && !rw && action === "RELEASED") {
      view.endedToken = Math.max(view.endedToken, fencingToken);
    }
  }

  async #hold({ waitMs, ...options }: CampaignOptions): Promise<LockHandle> {
    const { locks } = this.#parts;
    for (;;) {
      try {
        return await locks.hold(this.namespace, this.name, { ...options, waitMs: waitMs ?? LONGEST_WAIT_MS });
      } catch (thrown) {
        const { reason } = QuoinError.from(thrown);
        if (reason === "LOCK_NOT_FOUND") {
          await this.#createLock(options);
        } else if (waitMs !== undefined || !WAIT_TIMEOUT_REASONS.has(reason)) {
          throw thrown;
        }
      }
    }
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

  /** The value of the key: a listing returns its revision even without the key. */
  async #readKey(options: CallOptions): Promise<{ proclaimed: Leader | undefined; revision: number }> {
    const { items, revision } = await this.#parts.keyValue.list(this.namespace, {
      ...options,
      prefix: this.name,
      pageSize: 1,
    });
    // Of all keys with a prefix, the prefix itself comes first.
    const [first] = items;
    return { proclaimed: first?.key === this.name ? readProclamation(first.value) : undefined, revision };
  }

  /** The tokens of the live hold and of the last one; 0 = none. */
  async #readLock(options: CallOptions): Promise<{ token: number; lastToken: number }> {
    try {
      const { holder, lastFencingToken } = await this.#parts.locks.describe(this.namespace, this.name, options);
      return { token: holder?.fencingToken ?? 0, lastToken: lastFencingToken };
    } catch (thrown) {
      if (QuoinError.from(thrown).reason !== "LOCK_NOT_FOUND") {
        throw thrown;
      }
      return { token: 0, lastToken: 0 };
    }
  }
}

/** A candidate that leads, until it resigns or loses the lock. */
export class Leadership implements AsyncDisposable {
  /** The hold of the lock. It emits `lost` when the leadership is lost. */
  readonly hold: LockHandle;
  readonly #keyValue: KeyValueClient;

  constructor(keyValue: KeyValueClient, hold: LockHandle) {
    this.#keyValue = keyValue;
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
   * Replaces the information about this leader.
   *
   * @throws QuoinError ABORTED / FENCED if it no longer leads.
   */
  async proclaim(value: string, options: Omit<CallOptions, "requestId"> = {}): Promise<void> {
    checkCall(options, "election.proclaim");
    const { namespace, name, guard, token } = this.hold;
    const text = JSON.stringify({ fencing_token: token, value: textField("value", value) });
    await this.#keyValue.put(namespace, name, text, { ...options, guard });
  }

  /**
   * Ends the leadership, and lets the next candidate lead at once.
   *
   * @returns whether it lasted until then.
   * @throws QuoinError if no member answers; the leadership then ends by itself, and resign may be called again.
   */
  async resign(options: Omit<CallOptions, "requestId"> = {}): Promise<boolean> {
    checkCall(options, "election.resign");
    const { namespace, name, guard } = this.hold;
    try {
      if (this.hold.isHeld) {
        await this.#keyValue.delete(namespace, name, { ...options, guard });
      }
    } catch (thrown) {
      // Without the lock the key has no meaning: the next leader overwrites it.
      if (!(thrown instanceof QuoinError)) {
        throw thrown;
      }
    }
    return this.hold.release(options);
  }

  /** Resigns at the end of an `await using`. If no member answers, the leadership ends by itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.resign();
    } catch (error) {
      if (!(error instanceof QuoinError)) {
        throw error;
      }
    }
  }
}

function readProclamation(bytes: Uint8Array): Leader | undefined {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof parsed !== "object" || parsed === null || !("fencing_token" in parsed) || !("value" in parsed)) {
      return undefined;
    }
    const { fencing_token: fencingToken, value } = parsed;
    if (typeof fencingToken !== "number" || typeof value !== "string") {
      return undefined;
    }
    return { value, fencingToken };
  } catch (error) {
    // Another client has written this value, so it proclaims no leader.
    if (error instanceof SyntaxError) {
      return undefined;
    }
    throw error;
  }
}
