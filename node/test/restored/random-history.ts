/**
 * A history of random operations on keys, locks, memory, event logs, sessions and settings, some of them in transactions, after a script with entries of every
 * kind. The encoders of the product write it, and it is applied to a real state machine. The same seed makes the same
 * history.
 */

import type { Row } from "@quoin/backup";
import {
  CoordinationError,
  dueLockTimers,
  dueSessions,
  expiredKeys,
  Payloads,
  readCluster,
  readProgress,
  type TransactedOperation,
} from "../../src/state/index.ts";
import { ANNA, GoldenLog, OWNER, writeCluster } from "../golden/index.ts";
import { rowsOf } from "../index.ts";
import { type History, type HistoryProgress, numbersOf } from "./archived-history.ts";

export interface RandomHistoryOptions {
  readonly seed: number;
  readonly operations: number;
  /** Number of snapshots of the state, at random indexes; the first is right after the script. */
  readonly snapshots: number;
}

const KEYS = 2_000;
const LOCKS = 12;
const REGION_BYTES = 64 * 1024;
const SESSIONS = 8;
/** More than any session has. */
const OBJECTS_MAX = 1_000;
const DUE_MAX = 64;
/** A leader does its own work each time after this many operations. */
const LEADER_INTERVAL = 50;
const ELECTION_INTERVAL = 3_000;
const PUT = { kind: "put-key", namespace: "default", expectedModRevision: undefined, returnPrevious: false } as const;
const ACQUIRE = { kind: "acquire-lock", namespace: "default", mode: "exclusive", owner: "" } as const;

export async function randomHistory({ seed, operations, snapshots }: RandomHistoryOptions): Promise<History> {
  const below = numbersOf(seed);
  const log = new GoldenLog();
  await writeCluster(log);
  const writer = new RandomWriter(log, below);
  const progress: (HistoryProgress | undefined)[] = [];
  const kept = new Map<number, readonly Row[]>();
  const firstIndex = log.index;
  const keptAt = new Set(Array.from({ length: snapshots - 1 }, () => firstIndex + below(operations)));
  keptAt.add(firstIndex);
  const note = () => {
    progress[log.index] = readProgress(log.store);
    if (keptAt.has(log.index)) {
      kept.set(log.index, [...rowsOf(log.store)]);
    }
  };
  note();
  while (log.index - firstIndex < operations) {
    writer.step();
    note();
  }
  const clusterId = readCluster(log.store)?.clusterId ?? "";
  return { clusterId, rows: log.entries.map(({ bytes }) => bytes), progress, snapshots: kept };
}

/** Each step writes one entry. */
class RandomWriter {
  readonly #log: GoldenLog;
  readonly #below: (below: number) => number;
  readonly #tokens = new Map<string, number>();
  /** Sessions that may have ended meanwhile. */
  readonly #sessions: number[] = [];
  readonly #regionId: Uint8Array;
  readonly #logId: Uint8Array;
  #steps = 0;

  constructor(log: GoldenLog, below: (below: number) => number) {
    this.#log = log;
    this.#below = below;
    const allocated = log.client({ kind: "allocate-memory", namespace: "default", label: "", sizeBytes: REGION_BYTES });
    const settings = { duplicateWindowSecs: 60, retentionMaxAgeSecs: null, retentionMaxBytes: 100_000 };
    const created = log.client({ kind: "create-log", namespace: "default", name: "history", settings });
    if (allocated instanceof CoordinationError || created instanceof CoordinationError) {
      throw new Error("a history needs a region and a log");
    }
    this.#regionId = allocated.regionId;
    this.#logId = created.log.logId;
    for (let at = 0; at < LOCKS; at++) {
      const lock = { namespace: "default", name: `lock-${at}`, rw: false, ttlSeconds: 20 } as const;
      log.client({ kind: "create-lock", ...lock, lockDelaySeconds: at % 3 });
    }
  }

  step(): void {
    this.#steps++;
    this.#log.pass(this.#below(40));
    if (this.#steps % ELECTION_INTERVAL === 0) {
      this.#log.lead();
    } else if (this.#steps % LEADER_INTERVAL === 0) {
      this.#lead();
    } else {
      this.#ask(this.#below(100));
    }
  }

  /** An operation that a leader proposes itself. */
  #lead(): void {
    const { store, tickMs, index, digest } = this.#log;
    const operations = [
      () => ({ kind: "expire-keys", keys: [...expiredKeys(store, tickMs, DUE_MAX)] }) as const,
      () => ({ kind: "expire-locks", timers: dueLockTimers(store, tickMs, DUE_MAX) }) as const,
      () => ({ kind: "check-digest", index, digest }) as const,
      () => ({ kind: "trim-history", countMax: 200 }) as const,
      () => ({ kind: "drop-replays" }) as const,
      () => ({ kind: "apply-retention", rowsMax: 100 }) as const,
      () => ({ kind: "prune-duplicates", countMax: 100 }) as const,
      () => ({ kind: "tick" }) as const,
      () => ({ kind: "expire-sessions", sessions: dueSessions(store, tickMs, DUE_MAX, OBJECTS_MAX) }) as const,
      () => ({ kind: "renew-sessions", renewals: [this.#renewal()] }) as const,
    ];
    const make = operations[(this.#steps / LEADER_INTERVAL) % operations.length] as (typeof operations)[number];
    this.#log.cluster(make());
  }

  #ask(choice: number): void {
    const key = Buffer.from(`key-${this.#below(KEYS)}`);
    if (choice < 5) {
      this.#transact(choice);
    } else if (choice < 12) {
      this.#askForSession(key, choice);
    } else if (choice < 50) {
      const value = Buffer.alloc(this.#below(300), choice);
      this.#log.client({ ...PUT, key, value, ttlSeconds: choice < 20 ? 1 + this.#below(60) : 0 });
    } else if (choice < 60) {
      const value = Buffer.alloc(8, choice);
      const newValue = Buffer.alloc(8, choice + 1);
      const swap = { kind: "compare-and-swap", namespace: "default", expectedModRevision: undefined } as const;
      this.#log.client({ ...swap, key, expectedValue: choice % 2 === 0 ? undefined : value, newValue, ttlSeconds: 0 });
    } else if (choice < 63) {
      const touch = { kind: "touch-key", namespace: "default", expectedModRevision: undefined } as const;
      this.#log.client({ ...touch, key, ttlSeconds: this.#below(60) });
    } else if (choice < 68) {
      const deletion = { kind: "delete-key", namespace: "default", expectedModRevision: undefined } as const;
      this.#log.client({ ...deletion, key, returnPrevious: choice % 2 === 0 });
    } else if (choice < 84) {
      this.#askForLock(`lock-${this.#below(LOCKS)}`, choice);
    } else if (choice < 92) {
      this.#log.client(this.#write(choice));
    } else {
      const isBatch = choice % 2 === 1;
      const count = isBatch ? 1 + this.#below(4) : 1;
      const idempotencyKey = isBatch ? `event-${this.#below(500)}` : null;
      const append = this.#append(
        idempotencyKey,
        Array.from({ length: count }, (_, at) => Buffer.from(`event ${at}`)),
      );
      this.#log.client(append, choice % 3 === 0 ? ANNA : OWNER);
    }
  }

  #write(fill: number) {
    const region = { namespace: "default", regionId: this.#regionId, expectedVersion: undefined } as const;
    const offset = this.#below(REGION_BYTES - 100);
    return { kind: "write-memory", ...region, offset, data: Buffer.alloc(1 + this.#below(99), fill) } as const;
  }

  /** @param idempotencyKey null for a single event */
  #append(idempotencyKey: string | null, events: readonly Buffer[]) {
    const append = { kind: "append-events", logId: this.#logId, expectedSequence: undefined } as const;
    const payloads = Payloads.of(events);
    return { ...append, isBatch: idempotencyKey !== null, idempotencyKey, payloads } as const;
  }

  /** Several changes at one revision. */
  #transact(choice: number): void {
    const numbered = (): Buffer => Buffer.from(`key-${this.#below(KEYS)}`);
    const namespace = "default";
    const operations: (() => TransactedOperation)[] = [
      () => ({ ...PUT, key: numbered(), value: Buffer.alloc(this.#below(300), choice), ttlSeconds: 0 }),
      () => ({ kind: "increment-key", namespace, key: Buffer.from("counter"), delta: 1n, ttlSeconds: 0 }),
      () => ({ kind: "delete-keys", namespace, prefix: numbered() }),
      () => this.#write(choice),
      () => this.#append(null, [Buffer.from("an event of a transaction")]),
    ];
    const success = Array.from({ length: 1 + this.#below(12) }, () => {
      return (operations[this.#below(operations.length)] as () => TransactedOperation)();
    });
    this.#log.client({ kind: "transact", namespace, conditions: [], success, failure: [] });
  }

  /** Creates a session or ends one; or puts a key into one, if it is still there. */
  #askForSession(key: Buffer, choice: number): void {
    const namespace = "default";
    const at = this.#below(SESSIONS);
    const sessionId = this.#sessions[at];
    if (sessionId === undefined || choice === 5) {
      const metadata = Buffer.alloc(this.#below(20), choice);
      const asked = {
        kind: "create-session",
        namespace,
        ttlSeconds: 1 + this.#below(30),
        owner: "",
        metadata,
      } as const;
      const answer = this.#log.client<"create-session">(asked);
      if (!(answer instanceof CoordinationError)) {
        this.#sessions[Math.min(at, this.#sessions.length)] = answer.sessionId;
      }
    } else if (choice === 6) {
      this.#log.client({ kind: "end-session", namespace, sessionId, force: false });
    } else {
      this.#log.client({ ...PUT, key, value: Buffer.alloc(this.#below(100), choice), ttlSeconds: 0, sessionId });
    }
  }

  #renewal() {
    return { principal: OWNER, namespace: "default", sessionIds: this.#sessions.filter((_, at) => at % 2 === 0) };
  }

  #askForLock(name: string, choice: number): void {
    const token = this.#tokens.get(name);
    if (token !== undefined && choice % 2 === 0) {
      this.#tokens.delete(name);
      const release = { kind: "release-lock", namespace: "default", rw: false, mode: null, owner: "" } as const;
      this.#log.client({ ...release, name, fencingToken: token });
      return;
    }
    const waitMs = choice % 3 === 0 ? 500 : 0;
    const answer = this.#log.client<"acquire-lock">({ ...ACQUIRE, name, ttlSeconds: 0, waitMs, fencingToken: 0 });
    if (!(answer instanceof CoordinationError) && answer.hold !== null && answer.hold !== undefined) {
      this.#tokens.set(name, answer.hold.token);
    }
  }
}
