/** Event logs and their events. Times are in ISO 8601, in UTC, with milliseconds. */

/** An event log. */
export interface LogBody {
  readonly log_id: string;
  readonly name: string;
  readonly namespace: string;
  /** Sequence of the oldest kept event, or of the next one if there is none. */
  readonly first_sequence: number;
  /** 0 = nothing was ever appended. */
  readonly last_sequence: number;
  readonly event_count: number;
  /** Of all kept payloads. */
  readonly size_bytes: number;
  readonly created_at: string;
  /** Id of a user. */
  readonly created_by: string;
  /** By their names, such as `retention.max_bytes`; null = not set. */
  readonly settings: Readonly<Record<string, number | null>>;
}

/** A page of event logs. */
export interface LogsBody {
  readonly logs: readonly LogBody[];
  /** Cursor of the next page; null if this is the last page. */
  readonly next_cursor: string | null;
}

/** An event, in a page and in a stream. */
export interface EventBody {
  readonly sequence: number;
  readonly timestamp: string;
  /** Base64. */
  readonly payload: string;
  /** Null = none. */
  readonly idempotency_key: string | null;
}

/** Consecutive events. */
export interface EventsBody {
  readonly events: readonly EventBody[];
  /** Last sequence of the log at the time of the answer. */
  readonly last_sequence: number;
}
