/** The latest events of a log, the newest first. New ones appear as they arrive. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useCallback, useRef } from "preact/hooks";
import { type EventLog, eventStreamPath, type LogEvent, logEventOf, type ServerSentEvent } from "../../api/index.ts";
import { useEventStream } from "../../live/index.ts";
import { bytesOfBase64, countText, instantText, plainValue } from "../../text/index.ts";
import { Checkbox, Chip, Problem, TextField } from "../../ui/index.ts";

/** A browser stays fast with this number of events; older ones leave the page. */
const EVENTS_MAX = 200;
const STATES = { open: "live", connecting: "connecting", paused: "paused", refused: "refused" } as const;

export function LogTail({ log }: { readonly log: EventLog }): JSX.Element {
  const events = useSignal<readonly LogEvent[]>([]);
  const isFollowing = useSignal(true);
  const from = useSignal(startOf(log));
  const waiting = useRef<readonly LogEvent[]>([]);
  const path = isFollowing.value ? eventStreamPath(log.log_id, from.value) : null;
  const onEvents = useCallback(
    (arrived: readonly ServerSentEvent[]) => {
      // A fast log sends many pieces between two frames: the page is drawn once for all of them.
      const isScheduled = waiting.current.length > 0;
      waiting.current = [...waiting.current, ...arrived.map(logEventOf)].slice(-EVENTS_MAX);
      if (!isScheduled) {
        requestAnimationFrame(() => {
          events.value = [...events.value, ...waiting.current].slice(-EVENTS_MAX);
          waiting.current = [];
        });
      }
    },
    [events],
  );
  const { state, error } = useEventStream(path, onEvents);
  const begin = (sequence: number): void => {
    events.value = [];
    from.value = sequence;
  };
  return (
    <section aria-label="Events">
      <div class="bar tail-bar">
        <h3>Events</h3>
        <Chip tone={state.value === "open" ? "good" : "neutral"}>
          {isFollowing.value ? STATES[state.value] : "stopped"}
        </Chip>
        <TextField
          label="From sequence"
          type="number"
          min={1}
          value={String(from.value)}
          onInput={(text) => begin(Math.max(1, Math.floor(Number(text)) || 1))}
        />
        <Checkbox
          label="Follow"
          value={isFollowing.value}
          onInput={(isChecked) => {
            if (isChecked) {
              from.value = (events.value.at(-1)?.sequence ?? from.value - 1) + 1;
            }
            isFollowing.value = isChecked;
          }}
        />
      </div>
      <Problem message={error.value?.message} />
      <ol class="events" tabindex={0}>
        {events.value.toReversed().map((event) => (
          <Event key={event.sequence} event={event} />
        ))}
        {events.value.length === 0 && <li class="muted">No event since sequence {countText(from.value)}.</li>}
      </ol>
    </section>
  );
}

function Event({
  event: { sequence, timestamp, payload, idempotency_key },
}: {
  readonly event: LogEvent;
}): JSX.Element {
  return (
    <li class="event">
      <p class="event-head">
        <strong>{countText(sequence)}</strong>
        <span class="muted">{instantText(Date.parse(timestamp))}</span>
        {idempotency_key !== null && <span class="muted mono">{idempotency_key}</span>}
      </p>
      <pre>{plainValue(bytesOfBase64(payload))}</pre>
    </li>
  );
}

/** The last events are more interesting than the first. */
function startOf({ first_sequence, last_sequence }: EventLog): number {
  return Math.max(1, first_sequence, last_sequence - EVENTS_MAX / 4 + 1);
}
