/**
 * Leases at a member of etcd. Keep-alives go over one stream of the connection, with a message for each lease, as those
 * of etcd's own client do.
 */

import type { CreatedSession, Sessions } from "./connection.ts";
import {
  decodeKeepAliveResponse,
  decodeLeaseGrantResponse,
  decodeLeasesResponse,
  encodeKeepAliveRequest,
  encodeLeaseGrantRequest,
  encodeLeasesRequest,
  type KeptLease,
  type Lease,
} from "./etcd-lease-messages.ts";
import { decodeHeaderOnly, encodeCountRequest } from "./etcd-messages.ts";
import { GrpcStreams, type SendMessage } from "./grpc-streams.ts";
import type { AskBytes } from "./unary-calls.ts";

/** A renewal that waits for answers, in the order of its leases. */
interface Renewal {
  readonly ids: readonly bigint[];
  answered: number;
  readonly resolve: (revision: bigint) => void;
  readonly reject: (error: Error) => void;
}

export class EtcdLeases implements Sessions {
  /** A lease is no change of a key. */
  readonly revisionsPerCreation = 0n;
  readonly #endpoint: string;
  readonly #ask: AskBytes;
  /** Open after the first renewal. */
  #stream: { readonly streams: GrpcStreams; readonly send: SendMessage } | null = null;
  /** In the order of their requests. */
  readonly #renewals: Renewal[] = [];

  constructor(endpoint: string, ask: AskBytes) {
    this.#endpoint = endpoint;
    this.#ask = ask;
  }

  /** There is no limit. */
  async allowMany(): Promise<void> {}

  create(ttlSeconds: number): Promise<CreatedSession> {
    return grantLease(this.#ask, ttlSeconds);
  }

  renew(ids: readonly bigint[]): Promise<bigint> {
    return new Promise((resolve, reject) => {
      this.#renewals.push({ ids, answered: 0, resolve, reject });
      for (const id of ids) {
        this.#send(encodeKeepAliveRequest(id));
      }
    });
  }

  /** A read waits until the member has everything that was acknowledged elsewhere. */
  async count(): Promise<number> {
    await this.#ask("/etcdserverpb.KV/Range", encodeCountRequest("bench/"), decodeHeaderOnly);
    return this.#ask("/etcdserverpb.Lease/LeaseLeases", encodeLeasesRequest(), decodeLeasesResponse);
  }

  close(): void {
    this.#stream?.streams.close();
  }

  #send(message: Buffer): void {
    if (this.#stream !== null) {
      this.#stream.send(message);
      return;
    }
    const streams = new GrpcStreams(this.#endpoint);
    const send = streams.open("/etcdserverpb.Lease/LeaseKeepAlive", {}, message, true, {
      onMessage: (answer) => this.#onAnswer(decodeKeepAliveResponse(answer)),
      onEnd: (error) => this.#fail(error),
    });
    this.#stream = { streams, send };
  }

  /** A member answers the messages of a stream in their order. An error ends the stream, and so all renewals. */
  #onAnswer({ id, ttlSeconds, revision }: KeptLease): void {
    const [renewal] = this.#renewals;
    const expected = renewal?.ids[renewal.answered];
    if (renewal === undefined || id !== expected) {
      throw new Error(`lease ${id} was answered instead of ${expected}`);
    }
    if (ttlSeconds <= 0n) {
      throw new Error(`lease ${id} has ended`);
    }
    renewal.answered++;
    if (renewal.answered === renewal.ids.length) {
      this.#renewals.shift();
      renewal.resolve(revision);
    }
  }

  #fail(error: Error): void {
    for (const { reject } of this.#renewals.splice(0)) {
      reject(error);
    }
  }
}

/** Raises an error if there is no lease. */
export async function grantLease(ask: AskBytes, ttlSeconds: number): Promise<Lease> {
  const request = encodeLeaseGrantRequest(BigInt(ttlSeconds));
  const lease = await ask("/etcdserverpb.Lease/LeaseGrant", request, decodeLeaseGrantResponse);
  if (lease.error !== "") {
    throw new Error(`etcd granted no lease: ${lease.error}`);
  }
  return lease;
}
