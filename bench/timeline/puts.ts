/** Puts of always new keys, one after the other over all members of a cluster, with the times that the client sees. */

import { type ChannelListener, subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientHttp2Stream } from "node:http2";
import type { Connection, Keys, QuoinCluster } from "../clusters/index.ts";
import { keysOf } from "../scenarios/index.ts";
import type { Put } from "./join.ts";

/** A run ends with the first of these. */
export interface PutBounds {
  readonly ms: number;
  readonly operations: number;
}

/** Channels of Node: the HTTP/2 session has a request, and the headers of the answer have arrived. */
const SUBMITTED = "http2.client.stream.start";
const HEADERS = "http2.client.stream.finish";
const NS_PER_MS = 1e6;

/** A connection to one member. */
interface MemberConnection {
  readonly pid: number;
  readonly connection: Connection;
  readonly keys: Keys;
}

export class PutClient {
  readonly #members: readonly MemberConnection[];
  /** The current call. */
  readonly #call: { requestId: string };
  readonly #value: Buffer;
  #next = 0;
  #submittedNs = 0;
  #headersNs = 0;
  #trailersNs = 0;
  readonly #onSubmitted: ChannelListener = () => {
    this.#submittedNs = nowNs();
  };
  readonly #onHeaders: ChannelListener = (message) => {
    this.#headersNs = nowNs();
    const { stream } = message as { readonly stream: ClientHttp2Stream };
    stream.once("trailers", () => {
      this.#trailersNs = nowNs();
    });
  };

  private constructor(members: readonly MemberConnection[], call: { requestId: string }, valueBytes: number) {
    this.#members = members;
    this.#call = call;
    this.#value = Buffer.alloc(valueBytes, "v");
  }

  /** Connects to every member. */
  static async open(cluster: QuoinCluster, valueBytes: number): Promise<PutClient> {
    const call = { requestId: "" };
    const members: MemberConnection[] = [];
    for (const member of cluster.members) {
      const connection = await cluster.connect(member, (requestId) => {
        call.requestId = requestId;
      });
      members.push({ pid: member.pid, connection, keys: keysOf(connection) });
    }
    return new PutClient(members, call, valueBytes);
  }

  /**
   * Raises the first error, the reason of the interruption, or an error if the revision does not show that exactly
   * these puts were done. No other code may make HTTP/2 requests meanwhile.
   */
  async run(bounds: PutBounds, interrupted: AbortSignal): Promise<readonly Put[]> {
    const puts: Put[] = [];
    const untilMs = performance.now() + bounds.ms;
    // One put before the others reveals the revision.
    const before = await this.#put([]);
    let revision = before;
    subscribe(SUBMITTED, this.#onSubmitted);
    subscribe(HEADERS, this.#onHeaders);
    try {
      while (puts.length < bounds.operations && performance.now() < untilMs) {
        interrupted.throwIfAborted();
        revision = await this.#put(puts);
      }
    } finally {
      unsubscribe(SUBMITTED, this.#onSubmitted);
      unsubscribe(HEADERS, this.#onHeaders);
    }
    if (revision - before !== BigInt(puts.length)) {
      throw new Error(`${puts.length} puts were answered, but the revision grew by ${revision - before}`);
    }
    return puts;
  }

  close(): void {
    for (const { connection } of this.#members) {
      connection.close();
    }
  }

  /** Makes one put, at the next member. Returns the revision after it. */
  async #put(puts: Put[]): Promise<bigint> {
    const number = this.#next++;
    const { keys, pid } = this.#members[number % this.#members.length] as MemberConnection;
    const sentNs = nowNs();
    const revision = await keys.put(`timeline/${number}`, this.#value);
    const answeredNs = nowNs();
    puts.push({
      requestId: this.#call.requestId,
      pid,
      sentNs,
      answeredNs,
      submittedNs: this.#submittedNs,
      headersNs: this.#headersNs,
      trailersNs: this.#trailersNs,
    });
    return revision;
  }
}

/** Since the time origin of this process. */
function nowNs(): number {
  return performance.now() * NS_PER_MS;
}
