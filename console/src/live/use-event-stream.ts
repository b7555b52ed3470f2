/** A stream of events for a view, which is open only while a person can see the page. */

import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type ApiError, followEvents, type ServerSentEvent } from "../api/index.ts";
import { isVisible } from "./visibility.ts";

/** `paused`: the page is hidden or there is no path. */
export type StreamState = "paused" | "connecting" | "open" | "refused";

export interface EventStreamState {
  readonly state: ReadonlySignal<StreamState>;
  readonly error: ReadonlySignal<ApiError | undefined>;
}

/**
 * Follows the stream at a path; null = none. After the page was hidden, the stream continues after the last event.
 * `onEvents` must not change while the path stays the same.
 */
export function useEventStream(
  path: string | null,
  onEvents: (events: readonly ServerSentEvent[]) => void,
): EventStreamState {
  const state = useSignal<StreamState>("paused");
  const error = useSignal<ApiError | undefined>(undefined);
  useEffect(() => {
    if (path === null) {
      return undefined;
    }
    error.value = undefined;
    let lastEventId = "";
    let ending: AbortController | null = null;
    const open = (): void => {
      ending = new AbortController();
      state.value = "connecting";
      void followEvents(path, {
        signal: ending.signal,
        lastEventId,
        onEvents: (events) => {
          lastEventId = events.findLast(({ id }) => id !== "")?.id ?? lastEventId;
          onEvents(events);
        },
        onOpen: (isOpen) => {
          state.value = isOpen ? "open" : "connecting";
        },
        onRefused: (refusal) => {
          [state.value, error.value] = ["refused", refusal];
        },
      });
    };
    const close = (): void => {
      ending?.abort();
      ending = null;
    };
    const unsubscribe = isVisible.subscribe((visible) => {
      if (visible && ending === null) {
        open();
      } else if (!visible) {
        close();
        state.value = "paused";
      }
    });
    return () => {
      unsubscribe();
      close();
    };
  }, [path]);
  return { state, error };
}
