/**
 * Locks that clients use under faults, and the history of what they did with them. After some operations a new
 * generation of locks takes their place, so that the history of each lock stays short.
 */

import {
  AllocateMemoryRequest,
  CreateLockRequest,
  CreateRWLockRequest,
  CreateSemaphoreRequest,
  serviceDefinitions,
} from "@quoin/proto";
import { until } from "../../test/harness/index.ts";
import { History, type LockAnswer, type LockOperation, type LockRecord } from "../history/index.ts";
import { type LockInUse, performLockOperation } from "./lock-operations.ts";
import type { AskOptions, MemberCalls } from "./member-calls.ts";

const { LockService, MemoryService } = serviceDefinitions;
const GUARDED_BYTES = 64;
/** Maximum operations of one generation of locks, of all outcomes and of unknown outcome. */
const OPERATIONS_MAX = 900;
const UNKNOWN_MAX = 30;
const LAST_READ: AskOptions = { timeoutMs: 5_000, triesMax: 6 };

/** What the locks of one position are, in each generation. */
export interface LockKind {
  readonly rw: boolean;
  /** Permits of a semaphore; 0 = it is none. */
  readonly permits: number;
  /** A semaphore has no delay. */
  readonly delaySeconds: number;
  /** Whether its holders also write a memory region. */
  readonly hasRegion: boolean;
}

export class RecordedLocks {
  readonly #calls: MemberCalls;
  readonly #random: (bound: number) => number;
  readonly #namespace: string;
  readonly #kinds: readonly LockKind[];
  readonly #history = new History<LockOperation, LockAnswer>(() => performance.now());
  readonly #locks = new Map<string, LockInUse>();
  #generation = 0;
  #operations = 0;
  #unknown = 0;
  #owners = 0;

  /** @param kinds one for each lock that is in use at a time */
  constructor(calls: MemberCalls, random: (bound: number) => number, namespace: string, kinds: readonly LockKind[]) {
    this.#calls = calls;
    this.#random = random;
    this.#namespace = namespace;
    this.#kinds = kinds;
  }

  get records(): readonly LockRecord[] {
    return this.#history.operations;
  }

  /** The number of locks that were created. */
  get size(): number {
    return this.#locks.size;
  }

  /** An owner that no other acquisition has. */
  newOwner(): string {
    return `owner-${this.#owners++}`;
  }

  /** A lock of the current generation; creates it if needed. Null if that fails. */
  async some(): Promise<LockInUse | null> {
    if (this.#operations >= OPERATIONS_MAX || this.#unknown >= UNKNOWN_MAX) {
      this.#generation++;
      this.#operations = 0;
      this.#unknown = 0;
    }
    const position = this.#random(this.#kinds.length);
    const kind = this.#kinds[position] as LockKind;
    const what = kind.permits > 0 ? "semaphore" : kind.rw ? "rw-lock" : "lock";
    const name = `${what}-${this.#generation}-${position}`;
    return this.#locks.get(name) ?? (await this.#create(name, kind));
  }

  /** Performs and records the operation. Returns the answer; null if it is not known. */
  async do(name: string, lock: LockInUse, operation: LockOperation, options?: AskOptions): Promise<LockAnswer | null> {
    const open = this.#history.begin(name, operation);
    this.#operations++;
    const asked = await performLockOperation(this.#calls, lock, operation, options);
    if (asked.kind === "ok") {
      open.end({ kind: "ok", answer: asked.response });
      return asked.response;
    }
    // A read-only operation has no effect, so without an answer it counts as not executed.
    const isUnknown = asked.kind === "unknown" && operation.kind !== "describe";
    open.end({ kind: isUnknown ? "unknown" : "not-executed" });
    this.#unknown += Number(isUnknown);
    return null;
  }

  /**
   * Waits until all locks are free and no request waits for one. All members must serve again. Rejects if a lock does
   * not become free: then a hold never expires, or a waiter was forgotten.
   */
  async untilAllFree(): Promise<void> {
    for (const lock of this.#locks.values()) {
      await until(`${lock.name} to be free`, async () => {
        const answer = await this.do("last-reader", lock, { kind: "describe", lock: lock.name }, LAST_READ);
        return answer?.kind === "described" && answer.view.state === "free" && answer.view.waiters === 0;
      });
    }
  }

  async #create(name: string, { rw, permits, delaySeconds, hasRegion }: LockKind): Promise<LockInUse | null> {
    const namespace = this.#namespace;
    const fields = { namespace, name, lockDelaySeconds: BigInt(delaySeconds) };
    const semaphore = { namespace, name, permits };
    const asked =
      permits > 0
        ? await this.#calls.ask(LockService.createSemaphore, CreateSemaphoreRequest.fromPartial(semaphore))
        : rw
          ? await this.#calls.ask(LockService.createRWLock, CreateRWLockRequest.fromPartial(fields))
          : await this.#calls.ask(LockService.createLock, CreateLockRequest.fromPartial(fields));
    if (asked.kind !== "ok" && !(asked.kind === "refused" && asked.reason === "LOCK_EXISTS")) {
      return null;
    }
    const regionId = hasRegion ? await this.#allocate() : "";
    // Another client may have created it meanwhile.
    const lock = this.#locks.get(name) ?? { namespace, name, rw, permits, regionId };
    this.#locks.set(name, lock);
    return lock;
  }

  /** The id of a new region; "" if there is none. */
  async #allocate(): Promise<string> {
    const request = AllocateMemoryRequest.fromPartial({
      namespace: this.#namespace,
      sizeBytes: BigInt(GUARDED_BYTES),
    });
    const asked = await this.#calls.ask(MemoryService.allocateMemory, request);
    return asked.kind === "ok" ? asked.response.regionId : "";
  }
}
