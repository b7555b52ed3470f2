/**
 * Judges the answers that clients got about event logs. The logs remember their keys for longer than the history lasts,
 * and lose no events. A sequence is the place of an event in its log, so the answers themselves show the order.
 *
 * - Sequences are dense from 1. Each is one event for every reader, at any time.
 * - Every acknowledged event is in the log. A client appended each event in the log, once for each append, and once for
 *   each key.
 * - An answer names the events of its keys, and of its payloads if they were new. A batch is stored whole or not at
 *   all, and its new events stand together.
 * - Order follows time: a new acknowledged event stands behind all events that were acknowledged before its append
 *   began.
 * - An expected sequence is exact: the new events were stored right behind it. A conflict names another last sequence,
 *   which the log had while the append ran. An event that was acknowledged before is answered again, whatever sequence
 *   is expected.
 *
 * Missing events show only in a log that was read completely. In other logs the check judges no absence.
 */

import {
  type AskedEvent,
  describeEventLogRecord,
  type EventLogAnswer,
  type EventLogOperation,
  type EventLogRecord,
  type ReadEvent,
} from "./log-history.ts";

type Append = EventLogRecord & { readonly operation: Extract<EventLogOperation, { readonly kind: "append" }> };
type Read = EventLogRecord & { readonly operation: Extract<EventLogOperation, { readonly kind: "read" }> };
type Of<Kind extends EventLogAnswer["kind"]> = Extract<EventLogAnswer, { readonly kind: Kind }>;

/** One log: all requests for it, and the events that were seen. */
interface Judged {
  readonly appends: readonly Append[];
  readonly reads: readonly Read[];
  /** All events that were seen, by sequence. */
  readonly seen: ReadonlyMap<number, ReadEvent>;
  /** The greatest sequence that was seen, and whether all before it were. */
  readonly lastSeen: number;
  readonly isComplete: boolean;
  /** For each answer with a greater sequence than all before, that sequence and the end of the answer. */
  readonly answered: readonly AnsweredSequence[];
}

interface AnsweredSequence {
  readonly endMs: number;
  readonly sequence: number;
}

/** Returns the contradictions in the history of event logs in words; empty if there are none. */
export function logCheck(records: readonly EventLogRecord[]): readonly string[] {
  const wrong: string[] = [];
  for (const [log, ofLog] of Map.groupBy(records, ({ operation }) => operation.log)) {
    const appends = ofLog.filter((record): record is Append => record.operation.kind === "append");
    const reads = ofLog.filter((record): record is Read => record.operation.kind === "read");
    const seen = new Map(reads.flatMap((read) => eventsOf(read).map((event) => [event.sequence, event])));
    const lastSeen = greatestOf(seen.keys());
    const judged = { appends, reads, seen, lastSeen, isComplete: seen.size === lastSeen, answered: answeredIn(ofLog) };
    const found = [
      ...contradictionsOfReads(judged),
      ...contradictionsOfContent(judged),
      ...contradictionsOfAnswers(judged),
      ...contradictionsOfBatches(judged),
      ...contradictionsOfTime(judged),
      ...contradictionsOfExpectations(judged),
    ];
    wrong.push(...found.map((what) => `log ${log}: ${what}`));
  }
  return wrong;
}

function answerOf<Kind extends EventLogAnswer["kind"]>({ outcome }: EventLogRecord, kind: Kind): Of<Kind> | null {
  return outcome.kind === "ok" && outcome.answer.kind === kind ? (outcome.answer as Of<Kind>) : null;
}

function eventsOf(read: Read): readonly ReadEvent[] {
  return answerOf(read, "events")?.events ?? [];
}

function answeredIn(ofLog: readonly EventLogRecord[]): readonly AnsweredSequence[] {
  const answered: AnsweredSequence[] = [];
  for (const record of ofLog.toSorted((one, other) => one.endMs - other.endMs)) {
    const sequence = greatestOf([
      ...(answerOf(record, "appended")?.sequences ?? []),
      answerOf(record, "conflict")?.lastSequence ?? 0,
      answerOf(record, "events")?.lastSequence ?? 0,
    ]);
    if (sequence > (answered.at(-1)?.sequence ?? 0)) {
      answered.push({ endMs: record.endMs, sequence });
    }
  }
  return answered;
}

/** The greatest sequence in any answer before the time. */
function answeredBefore({ answered }: Judged, timeMs: number): number {
  let [low, high] = [0, answered.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((answered[middle] as AnsweredSequence).endMs < timeMs) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return answered[low - 1]?.sequence ?? 0;
}

/** 0 if there is none. A spread would not do: there may be more sequences than a call can have arguments. */
function greatestOf(sequences: Iterable<number>): number {
  let greatest = 0;
  for (const sequence of sequences) {
    greatest = Math.max(greatest, sequence);
  }
  return greatest;
}

function contradictionsOfReads(judged: Judged): readonly string[] {
  const wrong: string[] = [];
  for (const read of judged.reads) {
    const name = describeEventLogRecord(read);
    const answer = answerOf(read, "events");
    if (answer === null) {
      continue;
    }
    const from = Math.max(read.operation.fromSequence, 1);
    for (const [at, event] of answer.events.entries()) {
      if (event.sequence !== from + at) {
        wrong.push(`sequences are dense: ${name} has ${event.sequence} in the place of ${from + at}`);
      }
      if (event.sequence > answer.lastSequence) {
        wrong.push(`a last sequence is the greatest: ${name} has ${event.sequence} of ${answer.lastSequence}`);
      }
      const other = judged.seen.get(event.sequence);
      if (other?.payload !== event.payload || other.key !== event.key) {
        wrong.push(`a sequence is one event: ${event.sequence} was ${event.payload} to ${name}, and ${other?.payload}`);
      }
    }
    if (answer.events.length === 0 && answer.lastSequence >= from) {
      wrong.push(`a read returns the events that exist: ${name} has nothing of ${answer.lastSequence}`);
    }
    const answered = answeredBefore(judged, read.startMs);
    if (answer.lastSequence < answered) {
      wrong.push(`a read shows what ended before it began: ${name} ends at ${answer.lastSequence}, not ${answered}`);
    }
  }
  return wrong;
}

/** An append stored each event in the log, once. */
function contradictionsOfContent({ appends, seen }: Judged): readonly string[] {
  const wrong: string[] = [];
  const possible = new Set(
    appends
      .filter(
        ({ outcome }) => outcome.kind === "unknown" || (outcome.kind === "ok" && outcome.answer.kind === "appended"),
      )
      .flatMap(({ operation }) => operation.events.map(nameOf)),
  );
  const payloads = new Map<string, number>();
  const keys = new Map<string, number>();
  for (const event of seen.values()) {
    const { sequence, key, payload } = event;
    if (!possible.has(nameOf(event))) {
      wrong.push(`every event was appended: no append can have stored ${payload} at ${sequence}`);
    }
    const before = payloads.get(payload);
    if (before !== undefined) {
      wrong.push(`an append is stored once: ${payload} stands at ${before} and ${sequence}`);
    }
    payloads.set(payload, sequence);
    const other = key === null ? undefined : keys.get(key);
    if (key !== null && other !== undefined) {
      wrong.push(`a key is stored once: ${key} stands at ${other} and ${sequence}`);
    }
    if (key !== null) {
      keys.set(key, sequence);
    }
  }
  return wrong;
}

/** Answers name the events of their append, and all answers name the same event for one key. */
function contradictionsOfAnswers({ appends, seen, lastSeen, isComplete }: Judged): readonly string[] {
  const wrong: string[] = [];
  const keys = new Map<string, number>();
  for (const append of appends) {
    const name = describeEventLogRecord(append);
    const { sequences } = answerOf(append, "appended") ?? { sequences: [] };
    const { events } = append.operation;
    if (answerOf(append, "appended") !== null && sequences.length !== events.length) {
      wrong.push(`each event has a sequence: ${name} got ${sequences.length}`);
      continue;
    }
    for (const [at, sequence] of sequences.entries()) {
      const { key, payload } = events[at] as AskedEvent;
      const event = seen.get(sequence);
      if (event === undefined && isComplete && sequence <= lastSeen) {
        wrong.push(`every acknowledged event is there: no client has read ${sequence} of ${name}`);
      }
      const isAnother = event !== undefined && (event.key !== key || (key === null && event.payload !== payload));
      if (isAnother) {
        wrong.push(`an answer names its events: ${name} got ${sequence}, which is ${event.payload}`);
      }
      const other = key === null ? undefined : keys.get(key);
      if (other !== undefined && other !== sequence) {
        wrong.push(`duplicates have the first sequence: ${key} was ${other}, and ${sequence} to ${name}`);
      }
      if (key !== null) {
        keys.set(key, sequence);
      }
    }
  }
  return wrong;
}

/** The new events of an append stand together, all of them or none. */
function contradictionsOfBatches({ appends, seen, lastSeen, isComplete }: Judged): readonly string[] {
  const wrong: string[] = [];
  if (!isComplete) {
    return wrong;
  }
  const bySeen = new Map([...seen.values()].map((event) => [nameOf(event), event.sequence]));
  const keys = new Set([...seen.values()].map(({ key }) => key));
  for (const append of appends) {
    const { events } = append.operation;
    const name = describeEventLogRecord(append);
    const stored = events.flatMap((event) => bySeen.get(nameOf(event)) ?? []);
    const [first] = stored;
    if (first === undefined || lastSeen < first + events.length - 1) {
      continue;
    }
    if (stored.some((sequence, at) => sequence !== first + at)) {
      wrong.push(`a batch stands together: ${name} is at ${stored.join(" ")}`);
    }
    // An event that is missing with its own payload may be a duplicate of another append's event.
    const missing = events.filter(
      (event) => !bySeen.has(nameOf(event)) && (event.key === null || !keys.has(event.key)),
    );
    if (missing.length > 0) {
      wrong.push(`a batch is all or nothing: ${name} lacks ${missing.map(({ payload }) => payload).join(" ")}`);
    }
  }
  return wrong;
}

/** New events stand behind all events in answers from before the append began. */
function contradictionsOfTime(judged: Judged): readonly string[] {
  const wrong: string[] = [];
  for (const append of judged.appends) {
    const [first] = freshOf(append, judged);
    const answered = answeredBefore(judged, append.startMs);
    if (first !== undefined && first <= answered) {
      const name = describeEventLogRecord(append);
      wrong.push(`order follows time: ${name} got ${first}; when it began, ${answered} had been answered`);
    }
  }
  return wrong;
}

function contradictionsOfExpectations(judged: Judged): readonly string[] {
  const wrong: string[] = [];
  const stored = answeredKeys(judged);
  for (const append of judged.appends) {
    const { expectedSequence } = append.operation;
    const name = describeEventLogRecord(append);
    const conflict = answerOf(append, "conflict");
    if (conflict !== null) {
      const answered = answeredBefore(judged, append.startMs);
      if (expectedSequence === undefined || BigInt(expectedSequence) === BigInt(conflict.lastSequence)) {
        wrong.push(`a conflict is one: ${name} expected ${expectedSequence}, and got ${conflict.lastSequence}`);
      }
      if (conflict.lastSequence < answered) {
        wrong.push(
          `a conflict names the last sequence: ${name} got ${conflict.lastSequence}, after ${answered} had been answered`,
        );
      }
      const { events } = append.operation;
      if (events.every(({ key }) => key !== null && (stored.get(key) ?? append.startMs) < append.startMs)) {
        wrong.push(`duplicates come before the sequence: ${name} met a conflict, and was stored before it began`);
      }
      continue;
    }
    const [first] = freshOf(append, judged);
    if (first !== undefined && expectedSequence !== undefined && !mayHaveStoredAt(append, judged, first)) {
      wrong.push(`an expected sequence is exact: ${name} expected ${expectedSequence}, and was stored at ${first}`);
    }
  }
  return wrong;
}

/**
 * Whether the append may have stored its first new event at the expected place. That needs unread places before
 * `first`.
 */
function mayHaveStoredAt(append: Append, { seen }: Judged, first: number): boolean {
  const expected = BigInt(append.operation.expectedSequence ?? 0) + 1n;
  const { sequences } = answerOf(append, "appended") ?? { sequences: [] };
  const possible = sequences.filter((sequence) => sequence === first || (sequence < first && !seen.has(sequence)));
  return possible.some((sequence) => BigInt(sequence) === expected);
}

/** By key, the first time at which an answer showed that an event with this key is stored. */
function answeredKeys({ appends }: Judged): ReadonlyMap<string, number> {
  const answered = new Map<string, number>();
  for (const append of appends) {
    for (const { key } of answerOf(append, "appended") === null ? [] : append.operation.events) {
      if (key !== null) {
        answered.set(key, Math.min(append.endMs, answered.get(key) ?? Number.POSITIVE_INFINITY));
      }
    }
  }
  return answered;
}

/** Sequences of the events that an acknowledged append certainly stored itself, ascending. */
function freshOf(append: Append, { seen }: Judged): readonly number[] {
  const answer = answerOf(append, "appended");
  if (answer === null || answer.replayed) {
    return [];
  }
  const { events } = append.operation;
  const sequences = answer.sequences.filter((sequence, at) => {
    return events[at]?.key === null || seen.get(sequence)?.payload === events[at]?.payload;
  });
  return sequences.toSorted((one, other) => one - other);
}

function nameOf({ key, payload }: AskedEvent): string {
  return JSON.stringify([key, payload]);
}
