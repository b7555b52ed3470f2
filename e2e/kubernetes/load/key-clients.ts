/**
 * Clients that write and read values, each at a steady rate as long as it gets answers. Every value is written once, so
 * that a value identifies its write. Half of the clients use the SDK, which retries; the others send every request
 * once.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createClient, QuoinError, type TokenSource } from "@quoin/client";
import type { KeyAnswer, KeyOperation } from "../../../node/verify/history/index.ts";
import { type KeyEntry, nowMs } from "./entry.ts";
import { AttemptFailed, SingleAttempts } from "./single-attempt.ts";

export const NAMESPACE = "default";
const CLIENTS = 8;
const WRITES_PER_SECOND = 100;
/** One operation in this many is a read. */
const READ_SHARE = 4;
const PERIOD_MS = (1_000 * CLIENTS * (READ_SHARE - 1)) / (WRITES_PER_SECOND * READ_SHARE);
const TIMEOUT_MS = 5_000;
/** Limit of the final reads; each of them must succeed. */
const LAST_TIMEOUT_MS = 30_000;
/**
 * Number of keys in use at a time, and of operations before other keys are used: short histories are easy to search.
 */
const KEYS = 10;
const OPERATIONS_PER_GENERATION = 2_000;
/** Refusals of a member that ends, has lost the leadership, or is gone. Any other refusal is a bug. */
const EXPECTED_CODES: ReadonlySet<string> = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"]);

export interface Target {
  /** Addresses of any ready member, and of the leader. */
  readonly any: string;
  readonly leader: string;
  /** Authorities of the server certificates, in PEM. */
  readonly authorities: string;
  /** File of the same. */
  readonly authoritiesFile: string;
  readonly tokens: TokenSource;
}

/** Throws the error again, unless a fault of the cluster explains it. */
export function explained(thrown: unknown): AttemptFailed | QuoinError {
  const error = thrown instanceof AttemptFailed ? thrown : QuoinError.from(thrown);
  if (!EXPECTED_CODES.has(error.code)) {
    throw error;
  }
  return error;
}

interface KeyClient {
  readonly name: string;
  readonly perform: (operation: KeyOperation) => Promise<KeyAnswer>;
  readonly close: () => void;
}

export class KeyClients {
  readonly entries: KeyEntry[] = [];
  readonly #target: Target;
  readonly #label: string;
  #operations = 0;
  #acknowledgedWrites = 0;

  /** @param label part of all client names, so that those of several programs differ */
  constructor(target: Target, label: string) {
    this.#target = target;
    this.#label = label;
  }

  get acknowledgedWrites(): number {
    return this.#acknowledgedWrites;
  }

  /** Works until the signal. Rejects with an error that no fault explains. */
  async work(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, (_, at) => this.#workAs(this.#client(at), signal)));
  }

  /** Reads each key once more, so that the history shows the effect of every write. */
  async readAll(): Promise<void> {
    const client = retrying(`last-reader${this.#label}`, this.#target, LAST_TIMEOUT_MS);
    try {
      for (const key of new Set(this.entries.map(({ operation }) => operation.key))) {
        const entry = await this.#perform(client, { kind: "get", key });
        if (entry.outcome.kind !== "ok") {
          throw new Error(`${key} cannot be read: ${entry.failure}`);
        }
      }
    } finally {
      client.close();
    }
  }

  #client(at: number): KeyClient {
    if (at % 2 === 0) {
      return retrying(`retrying-${at}${this.#label}`, this.#target, TIMEOUT_MS);
    }
    // Every second client without retries uses the leader Service.
    const { any, leader, authorities, tokens } = this.#target;
    const attempts = new SingleAttempts(at % 4 === 1 ? leader : any, authorities, tokens, TIMEOUT_MS);
    return {
      name: `single-${at}${this.#label}`,
      perform: (operation) => attempts.perform(NAMESPACE, operation),
      close: () => attempts.close(),
    };
  }

  async #workAs(client: KeyClient, signal: AbortSignal): Promise<void> {
    try {
      for (let turn = 0; !signal.aborted; turn++) {
        const dueMs = nowMs() + PERIOD_MS;
        const generation = Math.floor(this.#operations++ / OPERATIONS_PER_GENERATION);
        const key = `key-${generation}-${Math.floor(Math.random() * KEYS)}`;
        const isRead = turn % READ_SHARE === 0;
        await this.#perform(
          client,
          isRead ? { kind: "get", key } : { kind: "put", key, value: `${client.name}/${turn}` },
        );
        const restMs = dueMs - nowMs();
        if (restMs > 0) {
          await sleep(restMs);
        }
      }
    } finally {
      client.close();
    }
  }

  async #perform(client: KeyClient, operation: KeyOperation): Promise<KeyEntry> {
    const started = { client: client.name, operation, startMs: nowMs() };
    let entry: KeyEntry;
    try {
      const answer = await client.perform(operation);
      entry = { ...started, endMs: nowMs(), outcome: { kind: "ok", answer } };
      this.#acknowledgedWrites += Number(operation.kind === "put");
    } catch (thrown) {
      const error = explained(thrown);
      // A read has no effect, whatever its outcome.
      const kind = operation.kind === "get" ? "not-executed" : error.outcome;
      entry = { ...started, endMs: nowMs(), outcome: { kind }, failure: `${error.code} ${error.message}` };
    }
    this.entries.push(entry);
    return entry;
  }
}

function retrying(name: string, { any, authoritiesFile, tokens }: Target, timeoutMs: number): KeyClient {
  const client = createClient({ endpoints: [any], credentials: tokens, tls: { caFile: authoritiesFile }, timeoutMs });
  return { name, perform: (operation) => performWith(client, operation), close: () => client.close() };
}

async function performWith({ keyValue }: Client, operation: KeyOperation): Promise<KeyAnswer> {
  if (operation.kind === "put") {
    const { created, modRevision } = await keyValue.put(NAMESPACE, operation.key, operation.value);
    return { kind: "put", created, revision: modRevision };
  }
  try {
    const { value, ...found } = await keyValue.get(NAMESPACE, operation.key);
    const { createRevision, modRevision, version, revision } = found;
    return { kind: "found", value: Buffer.from(value).toString(), createRevision, modRevision, version, revision };
  } catch (error) {
    if (error instanceof QuoinError && error.reason === "KEY_NOT_FOUND") {
      return { kind: "absent" };
    }
    throw error;
  }
}
