/** The benchmark's requests to a member of NATS: event logs, which are JetStream streams. */

import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, NatsConnectionImpl } from "@nats-io/transport-node";
import type { Connection } from "./connection.ts";
import { NatsEventLogs } from "./nats-event-logs.ts";

/** A longer request counts as lost, not as slow. */
const REQUEST_TIMEOUT_MS = 60_000;

export class NatsConnection implements Connection {
  readonly keys = null;
  readonly locks = null;
  readonly sessions = null;
  readonly regions = null;
  readonly logs: NatsEventLogs;
  readonly #client: NatsConnectionImpl;

  private constructor(client: NatsConnectionImpl, logs: NatsEventLogs) {
    this.#client = client;
    this.logs = logs;
  }

  /**
   * Connects to that member and to no other. It retries nothing, on a new connection or on this one.
   *
   * @param endpoint host:port.
   * @param replicas of streams that are created over this connection.
   */
  static async open(endpoint: string, replicas: number): Promise<NatsConnection> {
    const client = await connect({
      servers: endpoint,
      reconnect: false,
      ignoreClusterUpdates: true,
      // A trace for each request would cost the generator work that no test needs.
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
    // Requests in flight do not matter any more, and neither does the way in which the connection ends.
    this.#client.close().catch(() => undefined);
  }
}
