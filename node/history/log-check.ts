/**
 * Judges what clients were told of event logs whose keys are remembered for longer than the history lasts, and which lose
 * no events. A sequence is the place of an event in the order of its log, so that the answers say themselves what came
 * before what.
 *
 * - Sequences are dense from 1, and each is one event, whoever reads it, however often.
 * - What was acknowledged is there; what is there was appended by somebody, once for each append, and once for each key.
 * - An answer names the events of its keys, and of its payloads if they were new. A batch is there as a whole or not at
 *   all, and what is new of it stands together.
 * - Order is that of time: what was new when it was acknowledged stands behind all that was acknowledged before it began.
 * - An expected sequence is exact: what was new was stored right behind it; a conflict names another last sequence, which
 *   the log had while the append went on. What was acknowledged before is answered again, whatever sequence is expected.
 *
 * What a log lacks can be told only if all of it was read: what was not is judged no further.
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

/** One log: who asked what of it, and what was seen of it. */
interface Judged {
  readonly appends: readonly Append[];
  readonly reads: readonly Read[];
  /** All events that were seen, by sequence. */
  readonly seen: ReadonlyMap<number, ReadEvent>;
  /** The greatest sequence that was seen, and whether all before it were. */
  readonly lastSeen: number;
  readonly isComplete: boolean;
  /** The greatest sequence that anybody had been told, after each answer that told of a greater one, by its end. */
  readonly told: readonly Told[];
}

interface Told {
  readonly endMs: number;
  readonly sequence: number;
}

/** What contradicts the history of event logs, in words; empty if nothing does. */
export function logCheck(records: readonly EventLogRecord[]): readonly string[] {
  const wrong: string[] = [];
  for (const [log, ofLog] of Map.groupBy(records, ({ operation }) => operation.log)) {
    const appends = ofLog.filter((record): record is Append => record.operation.kind === "append");
    const reads = ofLog.filter((record): record is Read => record.operation.kind === "read");
    const seen = new Map(reads.flatMap((read) => eventsOf(read).map((event) => [event.sequence, event])));
    const lastSeen = greatestOf(seen.keys());
    const judged = { appends, reads, seen, lastSeen, isComplete: seen.size === lastSeen, told: toldIn(ofLog) };
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

function toldIn(ofLog: readonly EventLogRecord[]): readonly Told[] {
  const told: Told[] = [];
  for (const record of ofLog.toSorted((one, other) => one.endMs - other.endMs)) {
    const sequence = greatestOf([
      ...(answerOf(record, "appended")?.sequences ?? []),
      answerOf(record, "conflict")?.lastSequence ?? 0,
      answerOf(record, "events")?.lastSequence ?? 0,
    ]);
    if (sequence > (told.at(-1)?.sequence ?? 0)) {
      told.push({ endMs: record.endMs, sequence });
    }
  }
  return told;
}

/** The greatest sequence that anybody had been told before the time. */
function toldBefore({ told }: Judged, timeMs: number): number {
  let [low, high] = [0, told.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((told[middle] as Told).endMs < timeMs) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return told[low - 1]?.sequence ?? 0;
}

/** 0 if there is none. There may be more of them than a call can have arguments. */
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
      wrong.push(`what is there is read: ${name} has nothing of ${answer.lastSequence}`);
    }
    const told = toldBefore(judged, read.startMs);
    if (answer.lastSequence < told) {
      wrong.push(`a read shows what ended before it began: ${name} ends at ${answer.lastSequence}, not ${told}`);
    }
  }
  return wrong;
}

/** What is there was appended by somebody, once. */
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
      wrong.push(`what is there was appended: nobody can have stored ${payload} at ${sequence}`);
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

/** Answers name the events that they are about, and all answers the same for one key. */
function contradictionsOfAnswers({ appends, seen, lastSeen, isComplete }: Judged): readonly string[] {
  const wrong: string[] = [];
  const keys = new Map<string, number>();
  for (const append of appends) {
    const name = describeEventLogRecord(append);
    const { sequences } = answerOf(append, "appended") ?? { sequences: [] };
    const { events } = append.operation;
    if (answerOf(append, "appended") !== null && sequences.length !== events.length) {
      wrong.push(`each event has a sequence: ${name} was told ${sequences.length}`);
      continue;
    }
    for (const [at, sequence] of sequences.entries()) {
      const { key, payload } = events[at] as AskedEvent;
      const event = seen.get(sequence);
      if (event === undefined && isComplete && sequence <= lastSeen) {
        wrong.push(`what was acknowledged is there: nobody has read ${sequence} of ${name}`);
      }
      const isAnother = event !== undefined && (event.key !== key || (key === null && event.payload !== payload));
      if (isAnother) {
        wrong.push(`an answer names its events: ${name} was told ${sequence}, which is ${event.payload}`);
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

/** The events of an append that are new stand together, all of them or none. */
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
    // What is not there with its own payload was there with that of another append.
    const missing = events.filter(
      (event) => !bySeen.has(nameOf(event)) && (event.key === null || !keys.has(event.key)),
    );
    if (missing.length > 0) {
      wrong.push(`a batch is all or nothing: ${name} lacks ${missing.map(({ payload }) => payload).join(" ")}`);
    }
  }
  return wrong;
}

/** What is new stands behind all that anybody was told before it began. */
function contradictionsOfTime(judged: Judged): readonly string[] {
  const wrong: string[] = [];
  for (const append of judged.appends) {
    const [first] = freshOf(append, judged);
    const told = toldBefore(judged, append.startMs);
    if (first !== undefined && first <= told) {
      const name = describeEventLogRecord(append);
      wrong.push(`order is that of time: ${name} was told ${first}; when it began, ${told} had been told`);
    }
  }
  return wrong;
}

function contradictionsOfExpectations(judged: Judged): readonly string[] {
  const wrong: string[] = [];
  const stored = toldKeys(judged);
  for (const append of judged.appends) {
    const { expectedSequence } = append.operation;
    const name = describeEventLogRecord(append);
    const conflict = answerOf(append, "conflict");
    if (conflict !== null) {
      const told = toldBefore(judged, append.startMs);
      if (expectedSequence === undefined || BigInt(expectedSequence) === BigInt(conflict.lastSequence)) {
        wrong.push(`a conflict is one: ${name} expected ${expectedSequence}, and was told ${conflict.lastSequence}`);
      }
      if (conflict.lastSequence < told) {
        wrong.push(
          `a conflict tells the truth: ${name} was told ${conflict.lastSequence}, after ${told} had been told`,
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

/** Whether the append may have stored its first new event where it expected to: before `first` only what nobody has read. */
function mayHaveStoredAt(append: Append, { seen }: Judged, first: number): boolean {
  const expected = BigInt(append.operation.expectedSequence ?? 0) + 1n;
  const { sequences } = answerOf(append, "appended") ?? { sequences: [] };
  const possible = sequences.filter((sequence) => sequence === first || (sequence < first && !seen.has(sequence)));
  return possible.some((sequence) => BigInt(sequence) === expected);
}

/** When it was first told to somebody that an event with this key is stored, by key. */
function toldKeys({ appends }: Judged): ReadonlyMap<string, number> {
  const told = new Map<string, number>();
  for (const append of appends) {
    for (const { key } of answerOf(append, "appended") === null ? [] : append.operation.events) {
      if (key !== null) {
        told.set(key, Math.min(append.endMs, told.get(key) ?? Number.POSITIVE_INFINITY));
      }
    }
  }
  return told;
}

/** Sequences of those events of an acknowledged append that it is known to have stored itself, ascending. */
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
