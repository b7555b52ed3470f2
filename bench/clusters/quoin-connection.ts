/** The benchmark's requests to a Quoin member with one answer each, in the messages of the contract. */

import { Metadata } from "@grpc/grpc-js";
import {
  AcquireLockRequest,
  AllocateMemoryRequest,
  CompareAndSwapRequest,
  CreateLockRequest,
  DescribeLockRequest,
  GetKeyRequest,
  PutKeyRequest,
  ReadMemoryRequest,
  ReleaseLockRequest,
  serviceDefinitions,
  TransactRequest,
  WriteMemoryRequest,
} from "@quoin/proto";
import {
  type Connection,
  type Found,
  type Hold,
  type Keys,
  LOCK_WAIT_MS,
  type Locks,
  type RegionPart,
  type Regions,
  type Sessions,
  type Swapped,
} from "./connection.ts";
import { QuoinEventLogs } from "./quoin-event-logs.ts";
import { NAMESPACE, quoinHeaders } from "./quoin-headers.ts";
import { QuoinSessions } from "./quoin-sessions.ts";
import { type Ask, UnaryCalls } from "./unary-calls.ts";

const { KeyValueService, LockService, MemoryService, TransactionService } = serviceDefinitions;
const namespace = NAMESPACE;

type Operations = NonNullable<Parameters<typeof TransactRequest.fromPartial>[0]["success"]>;

/** Receives the request id of a call just before the call starts. */
export type OnCall = (requestId: string) => void;

export class QuoinConnection implements Connection {
  readonly keys: Keys;
  readonly locks: Locks;
  readonly sessions: Sessions;
  readonly regions: Regions;
  readonly logs: QuoinEventLogs;
  readonly #calls: UnaryCalls;

  /** @param url of the HTTP interface of the same member. */
  constructor(endpoint: string, url: string, token: string, onCall: OnCall = () => undefined) {
    this.#calls = new UnaryCalls(endpoint);
    const ask: Ask = (method, request) => {
      const metadata = new Metadata();
      const headers = quoinHeaders(token);
      for (const [name, value] of Object.entries(headers)) {
        metadata.set(name, value);
      }
      onCall(headers["request-id"]);
      return this.#calls.call(method, request, metadata);
    };
    this.keys = new QuoinKeys(ask);
    this.locks = new QuoinLocks(ask);
    this.sessions = new QuoinSessions(ask);
    this.regions = new QuoinRegions(ask);
    this.logs = new QuoinEventLogs(ask, url, token);
  }

  close(): void {
    this.#calls.close();
    this.logs.close();
  }
}

class QuoinKeys implements Keys {
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async put(key: string, value: Buffer): Promise<bigint> {
    const { revision } = await this.#ask(KeyValueService.putKey, PutKeyRequest.fromPartial({ namespace, key, value }));
    return revision;
  }

  get(key: string): Promise<Found> {
    return this.#ask(KeyValueService.getKey, GetKeyRequest.fromPartial({ namespace, key }));
  }

  async swap(key: string, modRevision: bigint, value: Buffer): Promise<Swapped> {
    const fields = { namespace, key, newValue: value, expectedModRevision: modRevision };
    const request = CompareAndSwapRequest.fromPartial(fields);
    const { success, revision } = await this.#ask(KeyValueService.compareAndSwap, request);
    return { isDone: success, revision };
  }

  transact(keys: readonly string[], value: Buffer): Promise<bigint> {
    return this.#transact(keys.map((key) => ({ put: { key, value } })));
  }

  /** A transaction of one operation. */
  increment(key: string): Promise<bigint> {
    return this.#transact([{ increment: { key, delta: 1n } }]);
  }

  async #transact(success: Operations): Promise<bigint> {
    const request = TransactRequest.fromPartial({ namespace, success });
    const { results, revision } = await this.#ask(TransactionService.transact, request);
    if (results.length !== request.success.length) {
      throw new Error(`a transaction of ${request.success.length} operations has ${results.length} results`);
    }
    return revision;
  }
}

class QuoinLocks implements Locks {
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async create(name: string): Promise<bigint> {
    const request = CreateLockRequest.fromPartial({ namespace, name });
    return (await this.#ask(LockService.createLock, request)).revision;
  }

  async acquire(name: string): Promise<Hold> {
    const request = AcquireLockRequest.fromPartial({ namespace, name, waitMs: BigInt(LOCK_WAIT_MS) });
    const { acquired, fencingToken } = await this.#ask(LockService.acquireLock, request);
    if (!acquired) {
      throw new Error(`${name} was not granted within ${LOCK_WAIT_MS} ms`);
    }
    return { token: fencingToken, release: () => this.#release(name, fencingToken) };
  }

  async countWaiters(name: string): Promise<number> {
    const request = DescribeLockRequest.fromPartial({ namespace, name });
    return (await this.#ask(LockService.describeLock, request)).waiters;
  }

  async #release(name: string, fencingToken: bigint): Promise<bigint> {
    const request = ReleaseLockRequest.fromPartial({ namespace, name, fencingToken });
    return (await this.#ask(LockService.releaseLock, request)).revision;
  }
}

class QuoinRegions implements Regions {
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async allocate(sizeBytes: number): Promise<string> {
    const request = AllocateMemoryRequest.fromPartial({ namespace, sizeBytes: BigInt(sizeBytes) });
    return (await this.#ask(MemoryService.allocateMemory, request)).regionId;
  }

  async write(regionId: string, offset: number, data: Buffer): Promise<bigint> {
    const request = WriteMemoryRequest.fromPartial({ namespace, regionId, offset: BigInt(offset), data });
    return (await this.#ask(MemoryService.writeMemory, request)).revision;
  }

  read(regionId: string, offset: number, length: number): Promise<RegionPart> {
    const range = { offset: BigInt(offset), length: BigInt(length) };
    return this.#ask(MemoryService.readMemory, ReadMemoryRequest.fromPartial({ namespace, regionId, ...range }));
  }
}
