/** What clients did with event logs, and which answers they got. */

import type { RecordedOperation } from "./history.ts";

/** A client's request. Payloads are distinct over a whole history, so that a payload identifies its append. */
export type EventLogOperation = { readonly log: string } & (
  | {
      readonly kind: "append";
      readonly events: readonly AskedEvent[];
      /** The last sequence that the log must have, in decimal digits because it may be above 2^53. */
      readonly expectedSequence?: string;
    }
  | { readonly kind: "read"; readonly fromSequence: number }
);

export interface AskedEvent {
  /** Null = the event has no idempotency key. */
  readonly key: string | null;
  readonly payload: string;
}

export interface ReadEvent extends AskedEvent {
  readonly sequence: number;
}

export type EventLogAnswer =
  /** `replayed`: all of its events were stored before. */
  | { readonly kind: "appended"; readonly sequences: readonly number[]; readonly replayed: boolean }
  /** Nothing was stored, because the log has another last sequence. */
  | { readonly kind: "conflict"; readonly lastSequence: number }
  | { readonly kind: "events"; readonly events: readonly ReadEvent[]; readonly lastSequence: number };

export type EventLogRecord = RecordedOperation<EventLogOperation, EventLogAnswer>;

/** The operation in a few words. */
export function describeEventLogRecord({ id, client, operation }: EventLogRecord): string {
  return operation.kind === "read"
    ? `#${id} read from ${operation.fromSequence} of ${client}`
    : `#${id} append of ${operation.events.length} of ${client}`;
}
