/**
 * The load of the put benchmark: so many PutKey requests always in flight, each with a fresh request id and key.
 *
 * The generator shares the machine with the member, so it does as little as it can: one client per connection, one
 * metadata object per request, no retries. A failed request ends the run, because a figure with errors in it is none.
 */

import { randomUUID } from "node:crypto";
import { credentials, Metadata } from "@grpc/grpc-js";
import { KeyValueServiceClient, PutKeyRequest } from "@quoin/proto";

export interface PutLoad {
  readonly endpoint: string;
  readonly token: string;
  readonly valueBytes: number;
}

/** Latencies in milliseconds, in the order of completion, and the greatest revision answered. */
export interface PutRun {
  readonly latenciesMs: Float64Array;
  readonly durationMs: number;
  readonly revision: bigint;
}

/** Few requests share a connection, as with real clients. */
const IN_FLIGHT_PER_CONNECTION = 4;
/** Distinct keys, so that the state does not grow without bound in a long run. */
const KEYS = 100_000;

/** Keeps `inFlight` requests going until both bounds are reached, or only the first without `operationsMin`. */
export async function runPuts(
  load: PutLoad,
  inFlight: number,
  bounds: { readonly ms: number; readonly operations: number },
): Promise<PutRun> {
  const connections = Math.ceil(inFlight / IN_FLIGHT_PER_CONNECTION);
  const clients = Array.from({ length: connections }, () => {
    return new KeyValueServiceClient(load.endpoint, credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
  });
  const value = Buffer.alloc(load.valueBytes, "v");
  const latencies: number[] = [];
  let sent = 0;
  let revision = 0n;
  const startedMs = performance.now();
  const isOver = (): boolean => performance.now() - startedMs >= bounds.ms || sent >= bounds.operations;

  const putOne = (client: KeyValueServiceClient): Promise<void> =>
    new Promise((resolve, reject) => {
      const metadata = new Metadata();
      metadata.set("authorization", `Bearer ${load.token}`);
      metadata.set("api-version", "v1");
      metadata.set("request-id", randomUUID());
      const request = PutKeyRequest.fromPartial({ namespace: "default", key: `bench/${sent++ % KEYS}`, value });
      const sentMs = performance.now();
      client.putKey(request, metadata, (error, response) => {
        if (error !== null) {
          reject(error);
          return;
        }
        latencies.push(performance.now() - sentMs);
        revision = response.revision > revision ? response.revision : revision;
        resolve();
      });
    });
  const worker = async (at: number): Promise<void> => {
    const client = clients[at % clients.length] as KeyValueServiceClient;
    while (!isOver()) {
      await putOne(client);
    }
  };
  try {
    await Promise.all(Array.from({ length: inFlight }, (_, at) => worker(at)));
  } finally {
    for (const client of clients) {
      client.close();
    }
  }
  return { latenciesMs: Float64Array.from(latencies), durationMs: performance.now() - startedMs, revision };
}
