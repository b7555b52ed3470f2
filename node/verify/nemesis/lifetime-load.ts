/** Clients that write keys with a time to live, and read them until some time after they are gone. */

import type { CallOptions, Client } from "@quoin/client";
import { type ClusterUnderTest, performKeyOperation, until } from "../../test/harness/index.ts";
import {
  EXPIRY_LATE_MS_MAX,
  History,
  judgeHistory,
  type KeyAnswer,
  type KeyOperation,
  type RecordedOperation,
  SEARCH_LIMIT_MS,
  type Span,
  withExpiries,
} from "../history/index.ts";
import { BackgroundLoad, outcomeOf } from "./background-load.ts";

const CLIENTS = 2;
const REST_MS = 40;
/** The shortest possible time to live, and a few longer ones. */
const TTLS_MS = [1_000, 2_000, 5_000] as const;
/** Keys that are read at a time, by all clients together. */
const WATCHED = 12;
/** Number of further reads of a key after it was seen to be gone. */
const READS_AFTER_END = 3;
const LAST_READ_TIMEOUT_MS = 30_000;
/** All processes share one clock, and the cluster counts whole milliseconds. */
const CLOCK = { clockDrift: 0, clockResolutionMs: 1 } as const;

interface Watched {
  readonly key: string;
  readsAfterEnd: number;
}

export class LifetimeLoad extends BackgroundLoad {
  readonly #cluster: ClusterUnderTest;
  readonly #random: (bound: number) => number;
  readonly #history = new History(() => performance.now());
  readonly #watched: Watched[] = [];
  #keys = 0;

  constructor(cluster: ClusterUnderTest, timeoutMs: number, random: (bound: number) => number) {
    super(cluster, { name: "lifetime", clients: CLIENTS, timeoutMs, restMs: REST_MS });
    this.#cluster = cluster;
    this.#random = random;
  }

  get operations(): readonly RecordedOperation[] {
    return this.#history.operations;
  }

  /** Waits until all keys are gone. All members must serve again. Rejects if a key stays. */
  async untilAllGone(): Promise<void> {
    const client = this.#cluster.client();
    for (let at = 0; at < this.#keys; at++) {
      const key = keyAt(at);
      await until(`${key} to be gone`, async () => {
        const answer = await this.#read(client, "last-reader", key, { timeoutMs: LAST_READ_TIMEOUT_MS });
        return answer?.kind === "absent";
      });
    }
  }

  /** Descriptions of contradictions in the history, given that there was a leader at all times except these. */
  judge(leaderless: readonly Span[]): readonly string[] {
    const limits = { ...CLOCK, lateMsMax: EXPIRY_LATE_MS_MAX, leaderless };
    const search = { nowMs: () => performance.now(), limitMs: SEARCH_LIMIT_MS };
    return judgeHistory(withExpiries(this.operations, limits), search);
  }

  protected override async turn(client: Client, name: string): Promise<void> {
    if (this.#watched.length < WATCHED && this.#random(2) === 0) {
      await this.#put(client, name);
      return;
    }
    const at = this.#random(Math.max(1, this.#watched.length));
    const watched = this.#watched[at];
    if (watched === undefined) {
      return;
    }
    const isGone = (await this.#read(client, name, watched.key))?.kind === "absent";
    if (isGone && watched.readsAfterEnd++ === READS_AFTER_END) {
      this.#watched.splice(this.#watched.indexOf(watched), 1);
    }
  }

  /** Each key is written once. */
  async #put(client: Client, name: string): Promise<void> {
    const key = keyAt(this.#keys++);
    const ttlMs = TTLS_MS[this.#random(TTLS_MS.length)] ?? TTLS_MS[0];
    await this.#operate(client, name, { kind: "put", key, value: `written-by-${name}`, ttlMs });
    this.#watched.push({ key, readsAfterEnd: 0 });
  }

  #read(client: Client, name: string, key: string, options: CallOptions = {}): Promise<KeyAnswer | null> {
    return this.#operate(client, name, { kind: "get", key }, options);
  }

  /** The answer of the service; null if a fault prevented it. */
  async #operate(
    client: Client,
    name: string,
    operation: KeyOperation,
    options: CallOptions = {},
  ): Promise<KeyAnswer | null> {
    const open = this.#history.begin(name, operation);
    try {
      const answer = await performKeyOperation(client, operation, options);
      open.end({ kind: "ok", answer });
      return answer;
    } catch (error) {
      const outcome = outcomeOf(error);
      // A read has no effect, so without an answer it counts as not executed.
      open.end({ kind: operation.kind === "get" || outcome !== "unknown" ? "not-executed" : "unknown" });
      return null;
    }
  }
}

function keyAt(at: number): string {
  return `lifetime-${at}`;
}
