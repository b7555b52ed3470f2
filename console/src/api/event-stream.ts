/** Follows a stream of server-sent events, and connects again after the last event until its signal ends it. */

import type { ApiError } from "./api-error.ts";
import { EventReader, type ServerSentEvent } from "./event-reader.ts";
import { pause } from "./pause.ts";
import { request } from "./request.ts";

export interface StreamOptions {
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** Gets the events of one piece of the stream, at least one. */
  readonly onEvents: (events: readonly ServerSentEvent[]) => void;
  /** Called with true once the stream is open, and with false when it is interrupted. */
  readonly onOpen: (isOpen: boolean) => void;
  /** Called when the member refuses the stream for a reason that will not pass; the stream has then ended. */
  readonly onRefused: (error: ApiError) => void;
  /** Id of the last event that was seen before; the stream continues after it. */
  readonly lastEventId?: string;
}

const PAUSE_MS = 1_000;

/** Resolves when the stream has ended for good. Throws nothing. */
export async function followEvents(path: string, options: StreamOptions): Promise<void> {
  const { signal, onEvents, onOpen, onRefused } = options;
  let lastEventId = options.lastEventId ?? "";
  while (!signal.aborted) {
    try {
      const resume = lastEventId === "" ? {} : { "Last-Event-ID": lastEventId };
      const response = await request(path, { headers: { Accept: "text/event-stream", ...resume }, signal });
      onOpen(true);
      for await (const events of eventsOf(response)) {
        lastEventId = events.findLast(({ id }) => id !== "")?.id ?? lastEventId;
        onEvents(events);
      }
    } catch (error) {
      const refusal = error as ApiError;
      if (!signal.aborted && refusal.name === "ApiError" && !refusal.isPassing) {
        onRefused(refusal);
        return;
      }
    }
    if (!signal.aborted) {
      onOpen(false);
      await pause(PAUSE_MS);
    }
  }
}

async function* eventsOf(response: Response): AsyncGenerator<readonly ServerSentEvent[]> {
  const reader = new EventReader();
  const pieces = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let piece = await pieces?.read(); piece?.done === false; piece = await pieces?.read()) {
    const events = reader.add(piece.value);
    if (events.length > 0) {
      yield events;
    }
  }
}
