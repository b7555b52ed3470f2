/**
 * Event logs of the benchmark as JetStream streams: an append is a publish that the stream has acknowledged. A key is
 * the id of the message, by which the server recognizes a repetition.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { type JetStreamClient, type JetStreamManager, type PubAck, StorageType } from "@nats-io/jetstream";
import { headers, type NatsConnectionImpl } from "@nats-io/transport-node";
import type { EventLogs } from "./connection.ts";
import { BATCH_COMMIT, BATCH_ID, BATCH_SEQUENCE, encodeBatch, linesOf } from "./nats-batch.ts";

const POLL_MS = 20;
const REPLICAS_TIMEOUT_MS = 60_000;

/** The answer to a publish; `count` belongs to a batch. */
export type Acknowledgement = Pick<PubAck, "seq" | "duplicate"> & { readonly count?: number };

export class NatsEventLogs implements EventLogs {
  readonly #client: NatsConnectionImpl;
  readonly #jetstream: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #replicas: number;

  /** @param replicas of the streams that it creates. */
  constructor(client: NatsConnectionImpl, jetstream: JetStreamClient, manager: JetStreamManager, replicas: number) {
    this.#client = client;
    this.#jetstream = jetstream;
    this.#manager = manager;
    this.#replicas = replicas;
  }

  /**
   * Fulfilled when all replicas of the stream follow its leader. The name is also the stream's id and its only subject.
   */
  async create(name: string): Promise<string> {
    await this.#manager.streams.add({
      name,
      subjects: [name],
      storage: StorageType.File,
      num_replicas: this.#replicas,
      allow_atomic: true,
    });
    const deadlineMs = performance.now() + REPLICAS_TIMEOUT_MS;
    for (;;) {
      const { cluster } = await this.#manager.streams.info(name);
      const followers = (cluster?.replicas ?? []).filter(({ current, offline }) => current && offline !== true);
      if (followers.length === this.#replicas - 1) {
        return name;
      }
      if (performance.now() > deadlineMs) {
        throw new Error(`the stream ${name} has ${followers.length} followers after ${REPLICAS_TIMEOUT_MS} ms`);
      }
      await sleep(POLL_MS);
    }
  }

  async append(log: string, payload: Buffer, key: string | null): Promise<number> {
    const acknowledgement = await this.#jetstream.publish(log, payload, key === null ? {} : { msgID: key });
    return lastSequenceOf(acknowledgement, 1);
  }

  appendByHttp(log: string, payload: Buffer, key: string | null): Promise<number> {
    return this.append(log, payload, key);
  }

  /**
   * Appends one atomic batch. The key is the id of the last message, because the server refuses the whole batch for a
   * repetition of one message. Only the commit requests an answer, and it fails if any message before it failed.
   */
  async appendBatch(log: string, lines: Buffer, key: string): Promise<readonly number[]> {
    const messages = linesOf(lines);
    const count = messages.length;
    const last = messages.pop();
    if (last === undefined) {
      throw new Error("a batch must have at least one event");
    }
    this.#client.protocol.sendCommand(encodeBatch(log, key, messages));
    const commit = headers();
    commit.set(BATCH_ID, key);
    commit.set(BATCH_SEQUENCE, String(count));
    commit.set(BATCH_COMMIT, "1");
    const acknowledgement = await this.#jetstream.publish(log, last, { headers: commit, msgID: key });
    const lastSequence = lastSequenceOf(acknowledgement, count);
    return messages.map((_, at) => lastSequence - messages.length + at).concat(lastSequence);
  }

  /** Raises an error if the stream does not have each message up to the last one. */
  async lastSequence(log: string): Promise<number> {
    const { state } = await this.#manager.streams.info(log);
    if (state.messages !== state.last_seq) {
      throw new Error(`the stream ${log} has ${state.messages} messages, but its last one is ${state.last_seq}`);
    }
    return state.last_seq;
  }

  async follow(): Promise<never> {
    throw new Error("following a stream of NATS is not measured");
  }
}

/**
 * The sequence of the last message of a publish of `published` messages. Raises an error if the server did not store
 * all of them, or stored them for another publish.
 */
export function lastSequenceOf({ seq, duplicate, count = 1 }: Acknowledgement, published: number): number {
  if (duplicate) {
    throw new Error(`a publish of new messages was acknowledged as a duplicate of message ${seq}`);
  }
  if (count !== published) {
    throw new Error(`a publish of ${published} messages was acknowledged as ${count}`);
  }
  return seq;
}
