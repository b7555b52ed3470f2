/** Watches at a Quoin member. */

import { KeyEvent_Type, serviceDefinitions, WatchKeysRequest, WatchKeysResponse } from "@quoin/proto";
import type { WatchConnection, WatchListener } from "./connection.ts";
import { GrpcStreams } from "./grpc-streams.ts";
import { NAMESPACE, quoinHeaders } from "./quoin-headers.ts";
import { RepeatedMessages } from "./repeated-messages.ts";
import { openWatch, type WatchMessage } from "./watch-message.ts";

const { path } = serviceDefinitions.WatchService.watchKeys;

export class QuoinWatches implements WatchConnection {
  readonly #streams: GrpcStreams;
  readonly #token: string;
  readonly #messages = new RepeatedMessages(decodeWatchMessage);

  constructor(endpoint: string, token: string) {
    this.#streams = new GrpcStreams(endpoint);
    this.#token = token;
  }

  watch(prefix: string, listener: WatchListener): Promise<void> {
    const request = WatchKeysRequest.encode(WatchKeysRequest.fromPartial({ namespace: NAMESPACE, prefix })).finish();
    return openWatch(this.#messages, listener, (streamListener) => {
      this.#streams.open(path, quoinHeaders(this.#token), request, false, streamListener);
    });
  }

  close(): void {
    this.#streams.close();
  }
}

function decodeWatchMessage(bytes: Buffer): WatchMessage {
  const { created, events } = WatchKeysResponse.decode(bytes);
  const puts = events.map(({ type, kv }) => {
    if (type !== KeyEvent_Type.PUT || kv === undefined) {
      throw new Error(`a watch of puts received ${type}`);
    }
    return { key: kv.key, revision: kv.modRevision };
  });
  return { isCreated: created, puts };
}
