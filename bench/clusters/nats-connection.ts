/** What the benchmark asks of a member of NATS: event logs, which are streams of JetStream. */

import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, NatsConnectionImpl } from "@nats-io/transport-node";
import type { Connection } from "./connection.ts";
import { NatsEventLogs } from "./nats-event-logs.ts";

/** A request that takes so long is not slow but lost. */
const REQUEST_TIMEOUT_MS = 60_000;

export class NatsConnection implements Connection {
  readonly keys = null;
  readonly locks = null;
  readonly regions = null;
  readonly logs: NatsEventLogs;
  readonly #client: NatsConnectionImpl;

  private constructor(client: NatsConnectionImpl, logs: NatsEventLogs) {
    this.#client = client;
    this.logs = logs;
  }

  /**
   * Connects to that member and to no other. Nothing is retried, on a new connection or on this one.
   *
   * @param endpoint host:port.
   * @param replicas of streams that are made over this connection.
   */
  static async open(endpoint: string, replicas: number): Promise<NatsConnection> {
    const client = await connect({
      servers: endpoint,
      reconnect: false,
      ignoreClusterUpdates: true,
      // A trace for each request is work of the generator that nothing here needs.
      noAsyncTraces: true,
    });
    if (!(client instanceof NatsConnectionImpl)) {
      throw new Error("this release of the client has another kind of connection");
    }
    const options = { timeout: REQUEST_TIMEOUT_MS, checkAPI: false };
    const manager = await jetstreamManager(client, options);
    return new NatsConnection(client, new NatsEventLogs(client, jetstream(client, options), manager, replicas));
  }

  close(): void {
    // What was in flight is of no interest any more, and neither is how the connection ends.
    this.#client.close().catch(() => undefined);
  }
}
