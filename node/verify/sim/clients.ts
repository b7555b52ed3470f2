/**
 * Clients of a simulated cluster. Each does one operation after the other at some member, with deadlines. It sends a
 * request again under the same id while the outcome is unknown. Every value is written once in a run.
 *
 * The script decides what a client does next; an item for a busy client is skipped. All answers go into the history of
 * the keys.
 */

import {
  type ClientOperation,
  CoordinationError,
  getKey,
  type Principal,
  type StoredKey,
} from "../../src/state/index.ts";
import { OWNER, putOf } from "../../test/index.ts";
import type { OpenOperation, OperationOutcome } from "../history/index.ts";
import { isRevocation } from "./access-rules.ts";
import { AGAIN_MS, AMPLE_MS, CALLS_MAX, ClientGroup, type ClientGroupOptions, type ClientOf } from "./client-group.ts";
import { foundAnswer, type KeyHistory, keyAnswerOf } from "./key-history.ts";
import { namespaceOf, SECOND_NAMESPACE } from "./key-namespaces.ts";
import type { Plan } from "./plan.ts";
import type { Process } from "./process.ts";
import { type RandomStream, streamOf } from "./random.ts";
import type { Request } from "./requests.ts";
import { RuleViolation } from "./rule-violation.ts";

export interface ClientsOptions extends ClientGroupOptions {
  readonly history: KeyHistory;
  readonly plan: Plan;
}

interface Known {
  /** By key, the value that it saw last; undefined for an absent key. */
  readonly seen: Map<string, Uint8Array | undefined>;
  values: number;
  /** Its last request with an answer. */
  answered: Request | null;
}

type Client = ClientOf<Known>;

/** In this share of the cases, a guest sends an answered request again: a revoked guest must not get the answer. */
const ONCE_MORE_SHARE = 0.15;
const TTL_SECONDS_MAX = 4;
/** Share of the mutations that only touch their key. */
const TOUCH_SHARE = 0.05;
/** Share of the operations before which a client goes to another member. */
const LEAVE_SHARE = 0.05;
/** Number of clients in a rush; their ids begin here. */
const RUSH_MIN = 10;
const RUSH_MAX = 40;
/**
 * Few of them write: concurrent writes of unknown outcome have many orders, and the search may have to try all of them.
 */
const RUSHED_READ_SHARE = 0.85;
const FIRST_RUSHED = 1_000;
export class Clients extends ClientGroup<Known, ClientsOptions> {
  #isReady = false;
  /** Clients that were part of a rush. */
  #rushed = 0;

  constructor(options: ClientsOptions) {
    super(options, LEAVE_SHARE);
  }

  /** Whether the second namespace exists, so that clients may begin. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Creates the second namespace, at one member after the other until one answers. */
  begin(calls = 0): void {
    const { heap, processes } = this.options;
    const running = processes();
    const process = running[calls % running.length];
    const again = (): void => heap.after(AGAIN_MS, () => this.begin(calls + 1));
    if (process === undefined) {
      again();
      return;
    }
    const request = this.requestCalls.begin({ kind: "create-namespace", namespace: SECOND_NAMESPACE }, OWNER);
    this.#insist(process, request, 1, (isDone) => {
      if (isDone) {
        this.#isReady = true;
      } else {
        again();
      }
    });
  }

  /** Many clients send one request each within this time. Half of them use this process; most of them only read. */
  rush(process: Process | null, spanMs: number, draw: number): void {
    const { heap, processes } = this.options;
    const random = streamOf(draw);
    const count = random.whole(RUSH_MIN, RUSH_MAX);
    for (let at = 0; at < count; at++) {
      const own = random.word();
      heap.after(random.between(0, spanMs), () => {
        if (this.isStopped) {
          return;
        }
        this.#rushed++;
        const client = this.clientOf(FIRST_RUSHED + this.#rushed);
        client.random = streamOf(own);
        const isThere = process !== null && !process.loop.isDead && client.random.chance(0.5);
        client.home = isThere ? process : (client.random.pick(processes()) ?? null);
        this.operate(client, RUSHED_READ_SHARE);
      });
    }
  }

  /** Writes a new value through the process, with retries until there is an answer; false if it was refused. */
  write(process: Process, key: string, value: string, onEnd: (isDone: boolean) => void): void {
    const operation = putOf(key, Buffer.from(value), { namespace: namespaceOf(key) });
    const request = this.requestCalls.begin(operation, OWNER);
    const open = this.options.history.begin("rest", operation);
    this.#insist(process, request, 1, (isDone) => {
      endOperation(open, request);
      onEnd(isDone);
    });
  }

  /** A lost call has an unknown outcome: its request is sent again until there is an answer. */
  #insist(process: Process, request: Request, calls: number, onEnd: (isDone: boolean) => void): void {
    this.requestCalls.send(process, request, AMPLE_MS, (answer) => {
      if (answer?.error?.outcome === "unknown" && calls < CALLS_MAX) {
        this.#insist(process, request, calls + 1, onEnd);
      } else {
        onEnd(answer?.outcome != null);
      }
    });
  }

  /** Reads the key through the process; undefined if that was refused, null if there is no key. */
  read(process: Process, key: string, onEnd: (value: string | null | undefined) => void): void {
    this.#read("rest", OWNER, process, key, AMPLE_MS, (isDone, value) => {
      onEnd(isDone ? (value === undefined ? null : Buffer.from(value).toString()) : undefined);
    });
  }

  protected override fresh(): Known {
    return { seen: new Map(), values: 0, answered: null };
  }

  protected override operate(client: Client, readShare = this.options.plan.readShare): void {
    const { plan } = this.options;
    const { random, principal } = client;
    const process = this.begins(client);
    if (process === null) {
      return;
    }
    const { answered } = client;
    if (principal !== OWNER && random.chance(ONCE_MORE_SHARE) && answered !== null && !this.isOld(answered)) {
      this.#askOnceMore(client, process, answered);
      return;
    }
    const key = `key-${random.below(plan.keys)}`;
    const limitMs = this.limitMs(random);
    if (random.chance(readShare)) {
      this.#read(nameOf(client), principal, process, key, limitMs, (isDone, value) => {
        if (isDone) {
          client.seen.set(key, value);
        } else {
          client.home = null;
        }
        client.isBusy = false;
      });
      return;
    }
    const operation = this.#draw(client, key);
    const request = this.requestCalls.begin(operation, principal);
    const open = this.options.history.begin(nameOf(client), operation);
    this.send(client, process, request, () => {
      endOperation(open, request);
      client.answered = request.answer === null ? client.answered : request;
      client.isBusy = false;
    });
  }

  /**
   * Sends an answered request again. The client must get the same answer, unless the answer may be dropped already or
   * the client was revoked.
   */
  #askOnceMore(client: Client, process: Process, answered: Request): void {
    this.requestCalls.send(process, answered, this.limitMs(client.random), () => {
      client.isBusy = false;
    });
  }

  protected override limitMs(random: RandomStream): number {
    return this.options.isSteady
      ? AMPLE_MS
      : (random.pick([120, 400, 1_500, 4_000, 10_000]) ?? 1_500) * random.between(0.7, 1.3);
  }

  #draw(client: Client, key: string): ClientOperation {
    const { plan } = this.options;
    const { random } = client;
    const ttlSeconds = random.chance(plan.ttlShare) ? random.whole(1, TTL_SECONDS_MAX) : 0;
    const value = (): Uint8Array => {
      client.values++;
      const text = `c${client.id}.${client.values}`;
      return Buffer.from(text.padEnd(random.below(plan.valueBytesMax), "."));
    };
    const namespace = namespaceOf(key);
    const share = random.next();
    if (share < 0.6) {
      return putOf(key, value(), { namespace, ttlSeconds });
    }
    const shared = { namespace, key: Buffer.from(key), expectedModRevision: undefined };
    if (share < 0.75) {
      return { ...shared, kind: "delete-key", returnPrevious: random.chance(0.5) };
    }
    if (share > 1 - TOUCH_SHARE) {
      return { ...shared, kind: "touch-key", ttlSeconds };
    }
    return {
      ...shared,
      kind: "compare-and-swap",
      expectedValue: client.seen.get(key),
      newValue: value(),
      ttlSeconds,
    };
  }

  #read(
    client: string,
    principal: Principal,
    process: Process,
    key: string,
    limitMs: number,
    onEnd: (isDone: boolean, value: Uint8Array | undefined) => void,
  ): void {
    const { accounts, calls, history, requests, trace } = this.options;
    const { floor } = requests;
    const name = `get ${key}`;
    const admission = accounts.beginRead(principal, name);
    const open = history.beginGet(client, key);
    let stored: StoredKey | undefined;
    let outcome: OperationOutcome = { kind: "not-executed" };
    calls.call<CoordinationError | null | "done">(
      process,
      name,
      limitMs,
      (deadlineMs, done) => {
        process.replica.readBarrier(deadlineMs, (late) => {
          const error = late ?? admission(process);
          if (error === null) {
            const { revision } = process.replica;
            trace.record(process.memberId, "reads", [revision], () => `${name} at revision ${revision}`);
            requests.onRead(`m${process.memberId}: ${name}`, floor, revision);
            stored = storedKey(process, key);
            outcome = { kind: "ok", answer: foundAnswer(stored, revision) };
          }
          done(error ?? "done");
        });
      },
      (error) => {
        if (error !== "done" && !isRevocation(error)) {
          this.otherFailures++;
        }
        open.end(error === "done" ? outcome : { kind: "not-executed" });
        onEnd(error === "done", stored?.value);
      },
    );
  }
}

/** The final knowledge of the client about its request. */
export function endOperation(open: OpenOperation | null, { answer, isUncertain }: Request): void {
  if (open === null) {
    return;
  }
  if (answer !== null) {
    const told = keyAnswerOf(answer);
    open.end(told === null ? { kind: "not-executed" } : { kind: "ok", answer: told });
  } else {
    open.end({ kind: isUncertain ? "unknown" : "not-executed" });
  }
}

function nameOf({ id }: Client): string {
  return `c${id}`;
}

function storedKey(process: Process, key: string): StoredKey | undefined {
  try {
    return getKey(process.replica.state, namespaceOf(key), Buffer.from(key));
  } catch (error) {
    if (error instanceof CoordinationError && error.reason === "KEY_NOT_FOUND") {
      return undefined;
    }
    throw error instanceof CoordinationError
      ? new RuleViolation("reads find the namespace", `m${process.memberId}: ${error.message}`)
      : error;
  }
}
