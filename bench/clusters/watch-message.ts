/** Shared by the watches of every kind of cluster: the content of a message, and the calls of a listener. */

import type { WatchedPut, WatchListener } from "./connection.ts";
import type { StreamListener } from "./grpc-streams.ts";
import type { RepeatedMessages } from "./repeated-messages.ts";

export interface WatchMessage {
  /** Whether the message confirms that the watch is in place. */
  readonly isCreated: boolean;
  readonly puts: readonly WatchedPut[];
}

/** Opens a stream whose listener calls the watch's own one; fulfilled when the watch is in place. */
export function openWatch(
  messages: RepeatedMessages<WatchMessage>,
  { onPuts, onFailed }: WatchListener,
  open: (listener: StreamListener) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    open({
      onMessage: (bytes) => {
        const { isCreated, puts } = messages.decode(bytes);
        if (isCreated) {
          resolve();
        }
        if (puts.length > 0) {
          onPuts(puts);
        }
      },
      onEnd: (error) => {
        reject(error);
        onFailed(error);
      },
    });
  });
}
