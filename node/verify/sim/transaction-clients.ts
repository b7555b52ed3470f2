/**
 * Clients of a simulated cluster that run transactions: over two to five keys, and with them a memory region, an event
 * log, a number and a lock. Their comparisons are right or wrong, some transactions fail in the middle, and some are
 * guarded by a hold that they release. A request is sent again under the same id, at other members, while its outcome
 * is unknown.
 */

import {
  type ClientOperation,
  type Condition,
  CoordinationError,
  DEFAULT_NAMESPACE,
  type Guard,
  type Outcome,
  Payloads,
  type Transact,
  type TransactedOperation,
  type TransactResult,
} from "../../src/state/index.ts";
import { acquireLock, createLock, NO_SETTINGS, putOf, releaseLock } from "../../test/index.ts";
import {
  contradictionOfTransaction,
  type KeyContent,
  type OpenOperation,
  type TransactedKey,
  type TransactionAnswer,
} from "../history/index.ts";
import { ClientGroup, type ClientGroupOptions, type ClientOf } from "./client-group.ts";
import { contentOf, type KeyHistory } from "./key-history.ts";
import type { TransactionPlan } from "./plan.ts";
import type { Process } from "./process.ts";
import type { Request } from "./requests.ts";
import { must } from "./rule-violation.ts";
import { TRANSACTED_PREFIX } from "./transaction-rules.ts";

export interface TransactionClientsOptions extends ClientGroupOptions {
  readonly plan: TransactionPlan;
  readonly history: KeyHistory;
}

interface Known {
  /** By key, its revision in the newest answer; 0 = it did not exist. */
  readonly seen: Map<string, number>;
  /** That of the newest answer. */
  revision: number;
  /** The hold that it has, or has had; 0 = none. */
  token: number;
  values: number;
}

type TransactionClient = ClientOf<Known>;

/** Share of the operations before which a client goes to another member. */
const LEAVE_SHARE = 0.15;
const KEYS_MAX = 5;
const TTL_SECONDS_MAX = 3;
const MS_PER_SECOND = 1_000;
const REGION_BYTES = 4_100;
const LOCK = "txn-lock";
const LOCK_TTL_SECONDS = 2;
const WAIT_MS = 400;
const NUMBER = Buffer.from(`${TRANSACTED_PREFIX}number`);

export class TransactionClients extends ClientGroup<Known, TransactionClientsOptions> {
  /** Null until they are there. */
  #regionId: Uint8Array | null = null;
  #logId: Uint8Array | null = null;
  #hasLock = false;
  #isPrepared = false;

  constructor(options: TransactionClientsOptions) {
    super(options, LEAVE_SHARE);
  }

  protected override fresh(): Known {
    return { seen: new Map(), revision: 0, token: 0, values: 0 };
  }

  protected override operate(client: TransactionClient): void {
    const process = this.begins(client);
    if (process === null) {
      return;
    }
    if (!this.#isPrepared) {
      this.#isPrepared = true;
      this.#prepare(client, process);
    } else if (this.#hasLock && client.random.chance(0.12)) {
      this.#acquire(client, process);
    } else {
      this.#transact(client, process);
    }
  }

  /** Creates what transactions use besides keys. What could not be created is not used. */
  #prepare(client: TransactionClient, process: Process): void {
    const namespace = DEFAULT_NAMESPACE;
    const label = LOCK;
    const steps: readonly (readonly [ClientOperation, (outcome: Outcome | null) => void])[] = [
      [{ kind: "allocate-memory", namespace, sizeBytes: REGION_BYTES, label }, (outcome) => this.#noteRegion(outcome)],
      [{ kind: "create-log", namespace, name: LOCK, settings: NO_SETTINGS }, (outcome) => this.#noteLog(outcome)],
      [
        createLock({ name: LOCK, ttlSeconds: LOCK_TTL_SECONDS }),
        (outcome) => {
          this.#hasLock = resultOf(outcome)?.kind === "create-lock";
        },
      ],
    ];
    const next = (at: number): void => {
      const step = steps[at];
      const there = this.processFor(client);
      if (step === undefined || there === null) {
        client.isBusy = false;
        return;
      }
      const [operation, note] = step;
      const request = this.requestCalls.begin(operation, client.principal);
      this.send(client, at === 0 ? process : there, request, (answer) => {
        note(answer?.outcome ?? null);
        next(at + 1);
      });
    };
    next(0);
  }

  #noteRegion(outcome: Outcome | null): void {
    const result = resultOf(outcome);
    this.#regionId = result?.kind === "allocate-memory" ? result.regionId : null;
  }

  #noteLog(outcome: Outcome | null): void {
    const result = resultOf(outcome);
    this.#logId = result?.kind === "create-log" ? result.log.logId : null;
  }

  #acquire(client: TransactionClient, process: Process): void {
    const waitMs = client.random.chance(0.5) ? WAIT_MS : 0;
    const request = this.requestCalls.begin(acquireLock({ name: LOCK, waitMs }), client.principal);
    this.send(client, process, request, (answer) => {
      const result = resultOf(answer?.outcome ?? null);
      if (result?.kind === "acquire-lock" && result.hold !== null) {
        client.token = result.hold.token;
      }
      client.isBusy = false;
    });
  }

  #transact(client: TransactionClient, process: Process): void {
    const { history } = this.options;
    const keys = this.#drawKeys(client);
    const operation = this.#operationOf(client, keys);
    const open = history.beginTransaction(`t${client.id}`, keys);
    const request = this.requestCalls.begin(operation, client.principal);
    this.send(client, process, request, () => {
      this.#end(client, keys, request, open);
      client.isBusy = false;
    });
  }

  #end(
    client: TransactionClient,
    keys: readonly TransactedKey[],
    { answer, isUncertain }: Request,
    open: OpenOperation<TransactionAnswer>,
  ): void {
    if (answer === null) {
      open.end({ kind: isUncertain ? "unknown" : "not-executed" });
      return;
    }
    if (answer instanceof CoordinationError || answer.kind !== "transact") {
      // It has failed as a whole.
      open.end({ kind: "not-executed" });
      return;
    }
    const told = answerOf(keys, answer);
    const wrong = contradictionOfTransaction(keys, told);
    must(wrong === null, "history: a transaction answers as its comparisons demand", () => String(wrong));
    open.end({ kind: "ok", answer: told });
    client.revision = Math.max(client.revision, told.revision);
    for (const [at, { key, write }] of keys.entries()) {
      const before = told.contents[at]?.modRevision ?? 0;
      const after = write?.kind === "put" ? told.revision : 0;
      client.seen.set(key, told.succeeded && write !== null ? after : before);
    }
  }

  /** Some transactions only read, and some only write. */
  #drawKeys(client: TransactionClient): readonly TransactedKey[] {
    const { random, seen } = client;
    const { plan } = this.options;
    const count = random.whole(2, Math.min(KEYS_MAX, plan.keys));
    const writeShare = random.pick([0, 0.5, 0.7, 1]) ?? 1;
    const compareShare = random.pick([0, 0.3, 1]) ?? 0;
    const names = Array.from({ length: plan.keys }, (_, at) => `${TRANSACTED_PREFIX}${at}`);
    return Array.from({ length: count }, (): TransactedKey => {
      const [key = ""] = names.splice(random.below(names.length), 1);
      client.values++;
      const value = `t${client.id}.${client.values}`;
      const life = random.chance(0.15) ? { ttlMs: random.whole(1, TTL_SECONDS_MAX) * MS_PER_SECOND } : {};
      const put = random.chance(0.8) ? ({ kind: "put", value, ...life } as const) : ({ kind: "delete" } as const);
      const known = seen.get(key);
      const isCompared = random.chance(compareShare) && known !== undefined;
      const expected = isCompared ? { expectedModRevision: random.chance(0.9) ? known : known + 1 } : {};
      return { key, ...expected, write: random.chance(writeShare) ? put : null };
    });
  }

  /** First it reads all keys. Some writes are in a nested transaction. */
  #operationOf(client: TransactionClient, keys: readonly TransactedKey[]): Transact {
    const { random } = client;
    const namespace = DEFAULT_NAMESPACE;
    const reads = keys.map(({ key }): TransactedOperation => ({ kind: "read-key", namespace, key: Buffer.from(key) }));
    const conditions = keys.flatMap(({ key, expectedModRevision }): Condition[] => {
      const number = expectedModRevision;
      return number === undefined
        ? []
        : [{ about: "key-number", key: Buffer.from(key), of: "mod-revision", operator: "=", number }];
    });
    const writes = keys.flatMap(writeOf);
    const further = writes.length > 0 ? this.#further(client) : [];
    const inner = (all: readonly Condition[], success: readonly TransactedOperation[]): TransactedOperation[] => {
      return [{ kind: "transact", namespace, conditions: all, success, failure: [] }];
    };
    const isCompared = further.length > 0 && random.chance(0.5);
    const others = isCompared ? inner(this.#conditionsOf(client), further) : further;
    const isNested = writes.length > 1 && random.chance(0.3);
    const success = [
      ...reads,
      ...(isNested ? [...writes.slice(0, 1), ...inner([], writes.slice(1))] : writes),
      ...others,
    ];
    const asked: Transact = { kind: "transact", namespace, conditions, success, failure: reads };
    const guard = this.#guardOf(client);
    return random.chance(0.15) && guard !== undefined && writes.length > 0 ? { ...asked, guard } : asked;
  }

  /** Conditions on other things than the keys of the history. */
  #conditionsOf(client: TransactionClient): Condition[] {
    const { random, revision } = client;
    const conditions: Condition[] = [];
    if (random.chance(0.6)) {
      const prefix = Buffer.from(
        random.pick([TRANSACTED_PREFIX, `${TRANSACTED_PREFIX}1`, NUMBER]) ?? TRANSACTED_PREFIX,
      );
      const back = random.pick([0, 0, 3, 30]) ?? 0;
      conditions.push({ about: "prefix", prefix, unchangedSince: Math.max(0, revision - back) });
    }
    const hold = this.#guardOf(client);
    if (hold !== undefined && random.chance(0.3)) {
      conditions.push({ about: "hold", ...hold });
    }
    if (this.#logId !== null && random.chance(0.3)) {
      const operator = random.pick(["<", ">", "!="] as const) ?? "<";
      conditions.push({ about: "log", logId: this.#logId, operator, lastSequence: random.below(20) });
    }
    return conditions;
  }

  /** Operations on other things than the keys of the history. */
  #further(client: TransactionClient): TransactedOperation[] {
    const { random } = client;
    const namespace = DEFAULT_NAMESPACE;
    const further: TransactedOperation[] = [];
    if (random.chance(0.4)) {
      const delta = BigInt(random.whole(-2, 3));
      further.push({ kind: "increment-key", namespace, key: NUMBER, delta, ttlSeconds: random.pick([0, 0, 1]) ?? 0 });
    }
    if (this.#logId !== null && random.chance(0.3)) {
      const count = random.whole(1, 2);
      const name = `t${client.id}-${client.values}`;
      further.push({
        kind: "append-events",
        logId: this.#logId,
        payloads: Payloads.of(Array.from({ length: count }, (_, at) => Buffer.from(`${name}.${at}`))),
        isBatch: count > 1,
        idempotencyKey: count > 1 || random.chance(0.5) ? (random.pick([name, "shared"]) ?? name) : null,
        expectedSequence: undefined,
      });
    }
    if (this.#regionId !== null && random.chance(0.3)) {
      const target = { namespace, regionId: this.#regionId, offset: random.pick([0, 4_090, 4_099]) ?? 0 };
      const data = Uint8Array.of(client.id, client.values % 256, 1).subarray(0, random.whole(0, 3));
      further.push({ kind: "write-memory", ...target, data, expectedVersion: undefined });
      further.push({ kind: "read-memory", ...target, length: 1 });
    }
    if (random.chance(0.1)) {
      const page = { after: Buffer.from(""), entriesMax: 3, keysOnly: random.chance(0.5) };
      further.push({ kind: "list-keys", namespace, prefix: Buffer.from(TRANSACTED_PREFIX), ...page });
    }
    if (client.token !== 0 && random.chance(0.4)) {
      further.push(releaseLock({ name: LOCK, fencingToken: client.token }));
    }
    if (random.chance(0.08)) {
      // The whole transaction fails.
      further.push({
        kind: "touch-key",
        namespace,
        key: Buffer.from("txn-never"),
        ttlSeconds: 0,
        expectedModRevision: undefined,
      });
    }
    return further;
  }

  #guardOf({ token }: TransactionClient): Guard | undefined {
    return token === 0 ? undefined : { lockName: LOCK, fencingToken: token, rw: false };
  }
}

function resultOf(outcome: Outcome | null) {
  return outcome === null || outcome.answer instanceof CoordinationError ? null : outcome.answer;
}

function writeOf({ key, write }: TransactedKey): TransactedOperation[] {
  switch (write?.kind) {
    case "put":
      return [putOf(key, write.value, { ttlSeconds: (write.ttlMs ?? 0) / MS_PER_SECOND })];
    case "delete": {
      const which = { namespace: DEFAULT_NAMESPACE, key: Buffer.from(key), expectedModRevision: undefined };
      return [{ kind: "remove-key", ...which, returnPrevious: false, mayBeMissing: true }];
    }
    case undefined:
      return [];
  }
}

/** The reads come first in both branches. */
function answerOf(
  keys: readonly TransactedKey[],
  { failedCondition, results, revision }: TransactResult,
): TransactionAnswer {
  const contents = keys.map((_, at): KeyContent | null => {
    const result = results[at];
    return result?.kind === "read-key" && result.current !== null ? contentOf(result.current) : null;
  });
  return { succeeded: failedCondition === null, revision, contents };
}
