/** The open streams of a member as administrators see them. */

import type { Principal } from "../state/index.ts";

export interface OpenStream {
  /** Counts the streams of this process. */
  readonly number: number;
  readonly about: "key" | "lock" | "event";
  readonly namespace: string;
  /** Prefix of keys or of lock names; empty for a stream of events. */
  readonly prefix: Uint8Array;
  /** Whether only the name that is equal to the prefix is watched. */
  readonly isExact: boolean;
  /** 16 bytes; null = not a stream of events. */
  readonly logId: Uint8Array | null;
  /** Who opened it. */
  readonly principal: Principal;
  /** How long it has been open, in milliseconds. */
  readonly openMs: number;
  /** The revision with which it began; for a stream of events, the sequence. */
  readonly start: number;
  /** It has sent everything up to there. */
  readonly delivered: number;
  /** How many revisions or sequences exist beyond that. */
  readonly behind: number;
  /** A message is in flight. */
  readonly isSending: boolean;
}

/** Which streams a page lists. */
export interface StreamSelection {
  /** Null = of all namespaces. */
  readonly namespace: string | null;
  /** Only streams with a greater number. */
  readonly after: number;
  readonly countMax: number;
}

/** The selected streams, by their numbers. The caller has at most some ten thousand of them. */
export function selectedStreams<
  Stream extends { readonly number: number; readonly request: { readonly namespace: string } },
>(streams: Iterable<Stream>, { namespace, after, countMax }: StreamSelection): Stream[] {
  const found: Stream[] = [];
  for (const stream of streams) {
    if (stream.number > after && (namespace === null || stream.request.namespace === namespace)) {
      found.push(stream);
    }
  }
  return found.sort((one, other) => one.number - other.number).slice(0, countMax);
}
