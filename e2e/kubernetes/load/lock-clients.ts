/** Clients that acquire one lock, write under its guard while they hold it, renew it, and release it. */

import { setTimeout as sleep } from "node:timers/promises";
import { type AcquireLockResult, type Client, createClient, QuoinError } from "@quoin/client";
import type { LockAnswer, LockOperation, LockView } from "../../../node/verify/history/index.ts";
import { type LockEntry, nowMs } from "./entry.ts";
import { explained, NAMESPACE, type Target } from "./key-clients.ts";

const CLIENTS = 2;
const LOCK = "lock-in-use";
const KEY = "guarded";
/** Longer than an election and the restart of a member, so that a renewed hold is not lost. */
const TTL_SECONDS = 10;
const WAIT_MS = 20_000;
/** Number of writes under one hold: it is renewed after the first half. */
const WRITES = 20;
const REST_MS = 100;
const MS_PER_SECOND = 1_000;
/** Refusals by which a lock answers a client that is too late. */
const DECIDED_CODES: ReadonlySet<string> = new Set(["FAILED_PRECONDITION", "NOT_FOUND", "ABORTED"]);

export class LockClients {
  readonly entries: LockEntry[] = [];
  readonly #client: Client;
  readonly #label: string;
  #owners = 0;

  /** @param label part of all client names, so that those of several programs differ */
  constructor({ any, authoritiesFile, tokens }: Target, label: string) {
    this.#label = label;
    this.#client = createClient({ endpoints: [any], credentials: tokens, tls: { caFile: authoritiesFile } });
  }

  /** Works until the signal. Rejects with an error that no fault explains. */
  async work(signal: AbortSignal): Promise<void> {
    try {
      await this.#create();
      const works = Array.from({ length: CLIENTS }, (_, at) => this.#workAs(`holder-${at}${this.#label}`, signal));
      await Promise.all(works);
    } finally {
      this.#client.close();
    }
  }

  async #create(): Promise<void> {
    try {
      await this.#client.locks.create(NAMESPACE, LOCK, { ttlSeconds: TTL_SECONDS });
    } catch (error) {
      // Another program on the same cluster was faster.
      if (!(error instanceof QuoinError && error.reason === "LOCK_EXISTS")) {
        throw error;
      }
    }
  }

  async #workAs(name: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#hold(name, signal);
    }
  }

  async #hold(name: string, signal: AbortSignal): Promise<void> {
    const { locks, keyValue } = this.#client;
    const owner = `${name}/${this.#owners++}`;
    const acquire = {
      kind: "acquire",
      lock: LOCK,
      mode: "exclusive",
      owner,
      ttlMs: TTL_SECONDS * MS_PER_SECOND,
    } as const;
    const granted = await this.#do(name, { ...acquire, waitMs: WAIT_MS }, async () =>
      acquisitionOf(await locks.acquire(NAMESPACE, LOCK, { owner, ttlSeconds: TTL_SECONDS, waitMs: WAIT_MS })),
    );
    if (granted?.kind !== "acquired") {
      return;
    }
    const { token } = granted;
    for (let write = 0; write < WRITES && !signal.aborted; write++) {
      await this.#do(name, { kind: "guarded-write", lock: LOCK, token, what: "a key" }, async () => {
        const guard = { lockName: LOCK, fencingToken: token };
        const { revision } = await keyValue.put(NAMESPACE, KEY, `${owner}/${write}`, { guard });
        return { kind: "written", revision };
      });
      if (write === WRITES / 2) {
        const change = { kind: "change", lock: LOCK, token, mode: "exclusive", ttlMs: acquire.ttlMs } as const;
        await this.#do(name, change, async () =>
          acquisitionOf(await locks.renew(NAMESPACE, LOCK, token, { ttlSeconds: TTL_SECONDS })),
        );
      }
      await sleep(REST_MS);
    }
    await this.#do(name, { kind: "release", lock: LOCK, token }, async () => {
      const { revision } = await locks.release(NAMESPACE, LOCK, { fencingToken: token });
      return { kind: "released", revision };
    });
  }

  /** Does the operation, records it, and returns the answer; null if that is unknown. */
  async #do(client: string, operation: LockOperation, perform: () => Promise<LockAnswer>): Promise<LockAnswer | null> {
    const started = { client, operation, startMs: nowMs() };
    try {
      const answer = await perform();
      this.entries.push({ ...started, endMs: nowMs(), outcome: { kind: "ok", answer } });
      return answer;
    } catch (thrown) {
      if (thrown instanceof QuoinError && DECIDED_CODES.has(thrown.code)) {
        const answer = { kind: "refused", reason: thrown.reason } as const;
        this.entries.push({ ...started, endMs: nowMs(), outcome: { kind: "ok", answer } });
        return answer;
      }
      const error = explained(thrown);
      const failure = `${error.code} ${error.message}`;
      this.entries.push({ ...started, endMs: nowMs(), outcome: { kind: error.outcome }, failure });
      return null;
    }
  }
}

function acquisitionOf(result: AcquireLockResult): LockAnswer {
  const { acquired, fencingToken: token, waitedMs } = result;
  // The SDK may have sent several attempts, and does not report their number.
  const shared = { waitedMs, isRepeated: true, view: viewOf(result) };
  return acquired ? { kind: "acquired", token, mode: "exclusive", ...shared } : { kind: "not-acquired", ...shared };
}

function viewOf({ state, holder, queueLength, revision }: AcquireLockResult): LockView {
  const holds =
    holder === undefined ? [] : [{ token: holder.fencingToken, owner: holder.owner, mode: "exclusive" as const }];
  return { state: stateOf(state), holds, waiters: queueLength, revision };
}

function stateOf(state: string): LockView["state"] {
  switch (state) {
    case "FREE":
      return "free";
    case "HELD":
      return "held";
    case "COOLDOWN":
      return "cooldown";
    default:
      throw new Error(`an exclusive lock cannot be ${state}`);
  }
}
