/**
 * The benchmark's requests to a member of etcd. It takes a lock as clients without a library do: a lease for each hold,
 * which bounds the life of the hold, and then the lock with that lease.
 */

import { Metadata } from "@grpc/grpc-js";
import {
  type Connection,
  type Found,
  type Hold,
  type Keys,
  LOCK_WAIT_MS,
  type Locks,
  type Sessions,
  type Swapped,
  type WatchConnection,
  type WatchListener,
} from "./connection.ts";
import { EtcdLeases, grantLease } from "./etcd-leases.ts";
import { decodeLockResponse, encodeLockRequest, encodeUnlockRequest } from "./etcd-lock-messages.ts";
import {
  decodeHeaderOnly,
  decodePutsResponse,
  decodeRangeResponse,
  decodeStatusResponse,
  decodeSwapResponse,
  encodeCountRequest,
  encodePutRequest,
  encodePutsRequest,
  encodeRangeRequest,
  encodeStatusRequest,
  encodeSwapRequest,
  type Status,
} from "./etcd-messages.ts";
import { decodeWatchResponse, encodeWatchRequest } from "./etcd-watch-messages.ts";
import { GrpcStreams } from "./grpc-streams.ts";
import { RepeatedMessages } from "./repeated-messages.ts";
import { type AskBytes, UnaryCalls } from "./unary-calls.ts";
import { openWatch } from "./watch-message.ts";

/** No lease ends during a measurement. */
const LEASE_SECONDS = 3_600;

export class EtcdConnection implements Connection {
  readonly endpoint: string;
  readonly keys: Keys;
  readonly locks: Locks;
  readonly sessions: Sessions;
  readonly regions = null;
  readonly logs = null;
  readonly #calls: UnaryCalls;
  readonly #ask: AskBytes;
  readonly #leases: EtcdLeases;

  constructor(endpoint: string) {
    this.endpoint = endpoint;
    this.#calls = new UnaryCalls(endpoint);
    this.#ask = (path, request, responseDeserialize, timeoutMs) =>
      this.#calls.call({ path, requestSerialize: asIs, responseDeserialize }, request, new Metadata(), timeoutMs);
    this.keys = new EtcdKeys(this.#ask);
    this.locks = new EtcdLocks(this.#ask);
    this.#leases = new EtcdLeases(endpoint, this.#ask);
    this.sessions = this.#leases;
  }

  status(): Promise<Status> {
    return this.#ask("/etcdserverpb.Maintenance/Status", encodeStatusRequest(), decodeStatusResponse);
  }

  close(): void {
    this.#calls.close();
    this.#leases.close();
  }
}

class EtcdKeys implements Keys {
  readonly increment = null;
  readonly #ask: AskBytes;

  constructor(ask: AskBytes) {
    this.#ask = ask;
  }

  async put(key: string, value: Buffer): Promise<bigint> {
    const { revision } = await this.#ask("/etcdserverpb.KV/Put", encodePutRequest(key, value), decodeHeaderOnly);
    return revision;
  }

  async get(key: string): Promise<Found> {
    const { first, revision } = await this.#ask("/etcdserverpb.KV/Range", encodeRangeRequest(key), decodeRangeResponse);
    if (first === null) {
      throw new Error(`etcd has no key ${key}`);
    }
    return { ...first, revision };
  }

  swap(key: string, modRevision: bigint, value: Buffer): Promise<Swapped> {
    return this.#ask("/etcdserverpb.KV/Txn", encodeSwapRequest(key, modRevision, value), decodeSwapResponse);
  }

  async transact(keys: readonly string[], value: Buffer): Promise<bigint> {
    const request = encodePutsRequest(keys, value);
    const { results, revision } = await this.#ask("/etcdserverpb.KV/Txn", request, decodePutsResponse);
    if (results !== keys.length) {
      throw new Error(`a transaction of ${keys.length} puts has ${results} results`);
    }
    return revision;
  }
}

class EtcdLocks implements Locks {
  readonly #ask: AskBytes;

  constructor(ask: AskBytes) {
    this.#ask = ask;
  }

  async create(): Promise<null> {
    return null;
  }

  async acquire(name: string): Promise<Hold> {
    const lease = await grantLease(this.#ask, LEASE_SECONDS);
    const request = encodeLockRequest(name, lease.id);
    const { key, revision } = await this.#ask("/v3lockpb.Lock/Lock", request, decodeLockResponse, LOCK_WAIT_MS);
    return { token: revision, release: () => this.#release(key) };
  }

  /** Each request for a lock has a key below the lock's name; all requests but the holder's wait. */
  async countWaiters(name: string): Promise<number> {
    const request = encodeCountRequest(`${name}/`);
    const { count } = await this.#ask("/etcdserverpb.KV/Range", request, decodeRangeResponse);
    return Math.max(0, count - 1);
  }

  async #release(key: Uint8Array): Promise<bigint> {
    const { revision } = await this.#ask("/v3lockpb.Lock/Unlock", encodeUnlockRequest(key), decodeHeaderOnly);
    return revision;
  }
}

/** Watches with a separate stream each, like watches of separate clients. */
export class EtcdWatches implements WatchConnection {
  readonly #streams: GrpcStreams;
  readonly #messages = new RepeatedMessages(decodeWatchResponse);

  constructor(endpoint: string) {
    this.#streams = new GrpcStreams(endpoint);
  }

  watch(prefix: string, listener: WatchListener): Promise<void> {
    return openWatch(this.#messages, listener, (streamListener) => {
      this.#streams.open("/etcdserverpb.Watch/Watch", {}, encodeWatchRequest(prefix), true, streamListener);
    });
  }

  close(): void {
    this.#streams.close();
  }
}

function asIs(message: Buffer): Buffer {
  return message;
}
