/**
 * Leader election: a lock decides who leads, and a key of the same name says so to everybody else.
 *
 * A candidate waits for the lock. The one that gets it proclaims itself under the key, guarded by its hold: so what stands
 * there was written by a leader while it led, and leaders follow one another in the order of their tokens. A leader is one
 * as long as its hold lasts, whatever stands under the key: who is asked about the leader compares both, by the token.
 *
 * Two leaders never hold the lock at once, but one that was paused may still believe that it leads. What it must not do
 * then, it does under `guard`.
 */

import { CompactedError } from "./compacted-error.ts";
import { EndableIterator } from "./endable-iterator.ts";
import type { Guard } from "./guard.ts";
import type { KeyValueClient } from "./key-value.ts";
import { type Leader, LeaderView } from "./leader-view.ts";
import type { LockHandle } from "./lock-handle.ts";
import type { LockClient } from "./locks.ts";
import type { CallOptions } from "./operation.ts";
import { QuoinError } from "./quoin-error.ts";
import { textField } from "./request-field.ts";
import type { KeyEvent, LockEvent, WatchClient } from "./watch-client.ts";

/** Options of a candidacy. */
export interface CampaignOptions extends Omit<CallOptions, "requestId"> {
  /** How long a leader that died stays one, in seconds, 1 to 86,400. Default: that of the lock, which is 30. */
  readonly ttlSeconds?: number | undefined;
  /** How long to wait for the leadership, in milliseconds. Default: until the signal. */
  readonly waitMs?: number | undefined;
}

/** The parts of the client that an election is made of. */
interface ElectionParts {
  readonly keyValue: KeyValueClient;
  readonly locks: LockClient;
  readonly watch: WatchClient;
}

/** The longest wait of one request for the lock, in milliseconds: with its deadline, less than the hour that is allowed. */
const longestWaitMs = 3_000_000;

/**
 * Reasons for which a candidate waits anew: others led all the time, or it was elected while nobody could tell it, and that
 * was over before somebody could.
 */
const waitedInVainReasons: ReadonlySet<string> = new Set(["NOT_ACQUIRED", "LOCK_LOST"]);

/** How often the lock and the key are read when another leader came in between: more changes in a row are no answer. */
const readsMax = 3;

/** An election by its name: the exclusive lock and the key of that name in a namespace. */
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
   * Waits until this candidate leads, and says so. The lock is created when it is missing.
   *
   * @param value what the others are to know of this leader.
   * @throws QuoinError FAILED_PRECONDITION / NOT_ACQUIRED when others led for all of `waitMs`; CANCELLED by the signal.
   */
  async campaign(value: string, options: CampaignOptions = {}): Promise<Leadership> {
    textField("value", value);
    for (;;) {
      const leadership = new Leadership(this.#parts.keyValue, await this.#hold(options));
      try {
        await leadership.proclaim(value, options);
        return leadership;
      } catch (thrown) {
        await leadership[Symbol.asyncDispose]();
        // The hold was lost before it was told of: another candidacy is as good as this one was.
        if (!(thrown instanceof QuoinError) || thrown.reason !== "FENCED") throw thrown;
      }
    }
  }

  /** The leader at this moment; undefined when nobody leads, or the one who does has not said so yet. */
  async leader(options: Omit<CallOptions, "requestId"> = {}): Promise<Leader | undefined> {
    for (let read = 1; read <= readsMax; read += 1) {
      const { token } = await this.#readLock(options);
      const { proclaimed } = await this.#readKey(options);
      if (token === 0 || proclaimed === undefined || proclaimed.fencingToken < token) return undefined;
      if (proclaimed.fencingToken === token) return proclaimed;
    }
    return undefined;
  }

  /**
   * Tells who leads: at first as it is, then whenever it changes; undefined whenever nobody does. What is not read in time
   * is left out, but the order is that of the elections. It goes on by itself as watches do, and ends with the loop, with
   * `return()`, or with the signal, which makes it fail with CANCELLED.
   */
  observe(options: Omit<CallOptions, "requestId"> = {}): EndableIterator<Leader | undefined> {
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
          if (told !== "nothing" && leader?.fencingToken === told?.fencingToken && leader?.value === told?.value)
            continue;
          told = leader;
          yield leader;
        }
      } catch (thrown) {
        if (ending.signal.aborted) return undefined;
        // What happened meanwhile is not kept any more, so it is looked at anew.
        if (!(thrown instanceof CompactedError)) throw thrown;
      } finally {
        ended.abort();
      }
    }
  }

  /** Reads how it is, and watches from there on. */
  async #openView(options: Omit<CallOptions, "requestId">): Promise<LeaderView> {
    const { proclaimed, revision } = await this.#readKey(options);
    const { token, lastToken } = await this.#readLock(options);
    const startRevision = revision + 1;
    const { watch } = this.#parts;
    const [keys, locks] = await Promise.all([
      watch.keys(this.namespace, { ...options, prefix: this.name, startRevision }),
      watch.locks(this.namespace, { ...options, namePrefix: this.name, startRevision }),
    ]);
    // All tokens below that of a live hold are of holds that have ended.
    const view = new LeaderView(proclaimed, token === 0 ? lastToken : token - 1);
    view.follow(keys, (event) => this.#onKeyEvent(view, event));
    view.follow(locks, (event) => this.#onLockEvent(view, event));
    return view;
  }

  #onKeyEvent(view: LeaderView, { type, kv }: KeyEvent): void {
    if (kv.key === this.name) view.proclaimed = type === "PUT" ? readProclamation(kv.value) : undefined;
  }

  #onLockEvent(view: LeaderView, { lockKey, rw, action, fencingToken }: LockEvent): void {
    if (lockKey === this.name && !rw && action === "RELEASED")
      view.endedToken = Math.max(view.endedToken, fencingToken);
  }

  async #hold({ waitMs, ...options }: CampaignOptions): Promise<LockHandle> {
    const { locks } = this.#parts;
    for (;;) {
      try {
        return await locks.hold(this.namespace, this.name, { ...options, waitMs: waitMs ?? longestWaitMs });
      } catch (thrown) {
        const { reason } = QuoinError.from(thrown);
        if (reason === "LOCK_NOT_FOUND") await this.#createLock(options);
        else if (waitMs !== undefined || !waitedInVainReasons.has(reason)) throw thrown;
      }
    }
  }

  async #createLock({ signal, timeoutMs }: CampaignOptions): Promise<void> {
    try {
      await this.#parts.locks.create(this.namespace, this.name, { signal, timeoutMs });
    } catch (thrown) {
      if (QuoinError.from(thrown).reason !== "LOCK_EXISTS") throw thrown;
    }
  }

  /** What stands under the key: a listing tells its revision also when there is no key. */
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

  /** The token of the live hold, and of the last one; 0 = there is or was none. */
  async #readLock(options: CallOptions): Promise<{ token: number; lastToken: number }> {
    try {
      const { holder, lastFencingToken } = await this.#parts.locks.describe(this.namespace, this.name, options);
      return { token: holder?.fencingToken ?? 0, lastToken: lastFencingToken };
    } catch (thrown) {
      if (QuoinError.from(thrown).reason !== "LOCK_NOT_FOUND") throw thrown;
      return { token: 0, lastToken: 0 };
    }
  }
}

/** A candidate that leads, until it resigns or loses the lock. */
export class Leadership implements AsyncDisposable {
  /** The hold of the lock. It emits `lost` when the leadership is. */
  readonly hold: LockHandle;
  readonly #keyValue: KeyValueClient;

  constructor(keyValue: KeyValueClient, hold: LockHandle) {
    this.#keyValue = keyValue;
    this.hold = hold;
  }

  /** Token of the leadership: greater than those of all leaders before. */
  get token(): number {
    return this.hold.token;
  }

  /** Aborts when the leadership is lost. Resigning does not abort it. */
  get signal(): AbortSignal {
    return this.hold.signal;
  }

  /** Makes a write count only while this candidate leads. */
  get guard(): Guard {
    return this.hold.guard;
  }

  /**
   * Says something else about this leader.
   *
   * @throws QuoinError ABORTED / FENCED when it does not lead any more.
   */
  async proclaim(value: string, { timeoutMs, signal }: Omit<CallOptions, "requestId"> = {}): Promise<void> {
    const { namespace, name, guard, token } = this.hold;
    const text = JSON.stringify({ fencing_token: token, value: textField("value", value) });
    await this.#keyValue.put(namespace, name, text, { guard, timeoutMs, signal });
  }

  /**
   * Ends the leadership, and lets the next candidate lead at once.
   *
   * @returns whether it lasted until then.
   * @throws QuoinError when no member answers; the leadership ends by itself then, and resign may be called again.
   */
  async resign(options: Omit<CallOptions, "requestId"> = {}): Promise<boolean> {
    const { namespace, name, guard } = this.hold;
    try {
      if (this.hold.isHeld) await this.#keyValue.delete(namespace, name, { ...options, guard });
    } catch (thrown) {
      // Without the lock the key says nothing: the next leader overwrites it.
      if (!(thrown instanceof QuoinError)) throw thrown;
    }
    return this.hold.release(options);
  }

  /** Resigns at the end of an `await using`. If no member answers, the leadership ends by itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.resign();
    } catch (error) {
      if (!(error instanceof QuoinError)) throw error;
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
    if (typeof fencingToken !== "number" || typeof value !== "string") return undefined;
    return { value, fencingToken };
  } catch (error) {
    // Somebody else has written there: that makes nobody leader.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
