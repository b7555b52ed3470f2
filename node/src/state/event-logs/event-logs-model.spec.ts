import { expect } from "chai";
import fc from "fast-check";
import {
  AppliedLog,
  answerOrRefusal,
  expectExactUsage,
  expectSameFromRestart,
  NO_SETTINGS,
  stepOf,
} from "../../../test/index.ts";
import { CoordinationError, DEFAULT_STATE_LIMITS, type LogSettings } from "../core/index.ts";
import type { ClientOperation } from "../index.ts";
import { describeLog, listLogs, readEvents, sequencesOf } from "./event-logs.ts";
import type { AppendEvents } from "./log-commands.ts";
import { eventCountOf } from "./log-rows.ts";
import { Payloads } from "./payloads.ts";

/** The default of a cluster. */
const WINDOW_SECS_DEFAULT = 3_600;
const LIMITS = { ...DEFAULT_STATE_LIMITS, logsMax: 3 };
const NAMES = ["a", "__proto__", "constructor", "b", "c"];
/** The name of one is a prefix of the other. */
const NAMESPACES = ["default", "default.a"];
/** Single keys that read like keys of batches, and bases that do. */
const KEYS = ["k", "b", "b:0", "b:1", "b:3", "b:01", "b:2:0", "__proto__", "__proto__:0"];
const BASES = ["b", "__proto__", "b:2", "k"];
const ALL = { eventsMax: Number.MAX_SAFE_INTEGER, bytesMax: Number.MAX_SAFE_INTEGER };
const MANY = 1_000_000;

const short = fc.constantFrom("", "x", "yy", "zzzz");
/** Sometimes one that fills a row, or more. */
const payload = fc.oneof(
  { weight: 24, arbitrary: short },
  { weight: 1, arbitrary: fc.constantFrom("v".repeat(40_000), "w".repeat(70_000)) },
);
/** The meaning of an expectation depends on the log when its append comes. */
const expected = fc.constantFrom("any" as const, "any" as const, "right" as const, "wrong" as const, "huge" as const);
/** An index into all logs so far, from the newest; beyond the end: a log that never existed. */
const log = fc.integer({ min: 0, max: 3 });
const guarded = fc.integer({ min: 0, max: 9 }).map((number) => number === 0);
const settings = {
  duplicateWindowSecs: fc.constantFrom(null, 0, 1, 2, 5),
  retentionMaxAgeSecs: fc.constantFrom(null, null, 3, 10),
  retentionMaxBytes: fc.constantFrom(null, null, 5, 140_000),
};
const append = { log, expected, guarded };

const operation = fc.oneof(
  stepOf(4, "create", {
    name: fc.constantFrom(...NAMES),
    namespace: fc.constantFrom(...NAMESPACES, "nowhere"),
    settings: fc.record(settings),
  }),
  stepOf(1, "delete", { log }),
  stepOf(2, "change", { log, changes: fc.record(settings, { requiredKeys: [], noNullPrototype: true }) }),
  stepOf(12, "append", {
    ...append,
    payloads: payload.map((one) => [one]),
    key: fc.constantFrom(null, ...KEYS),
    isBatch: fc.constant(false),
  }),
  stepOf(8, "append", {
    ...append,
    payloads: fc.array(payload, { minLength: 1, maxLength: 4 }),
    key: fc.constantFrom(...BASES),
    isBatch: fc.constant(true),
  }),
  stepOf(5, "pass", { ms: fc.integer({ min: 1, max: 2_500 }) }),
  stepOf(2, "prune", {}),
  stepOf(2, "retain", {}),
  stepOf(1, "erase", {}),
  stepOf(1, "list", {}),
);
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;
type OperationOf<Kind> = Extract<Operation, { readonly kind: Kind }>;

interface Stored {
  readonly sequence: number;
  readonly tickMs: number;
}

interface ModelEvent extends Stored {
  readonly payload: string;
  readonly key: string | null;
}

/** An event log in the simplest form. */
interface ModelLog {
  readonly logId: Uint8Array;
  readonly namespace: string;
  readonly name: string;
  settings: LogSettings;
  isDeleted: boolean;
  lastSequence: number;
  events: ModelEvent[];
  /**
   * When and where the event of a key was last stored, for keys that share a row: one single key, the keys of a batch,
   * or single keys that read like neighbouring keys of a batch. `dueMs` is when the row is checked.
   */
  readonly remembered: Map<string, { dueMs: number; readonly keys: Map<string, Stored> }>;
}

const NEVER: ModelLog = {
  logId: new Uint8Array(16),
  namespace: "",
  name: "",
  settings: NO_SETTINGS,
  isDeleted: true,
  lastSequence: 0,
  events: [],
  remembered: new Map(),
};

class Model {
  readonly logs: ModelLog[] = [];
  tickMs = 0;

  logOf(counted: number): ModelLog {
    return this.logs.at(-1 - counted) ?? NEVER;
  }

  get live(): ModelLog[] {
    return this.logs.filter(({ isDeleted }) => !isDeleted);
  }

  require(found: ModelLog): ModelLog {
    if (found.isDeleted) {
      throw new CoordinationError("LOG_NOT_FOUND", "");
    }
    return found;
  }

  isRemembered({ settings: { duplicateWindowSecs } }: ModelLog, { tickMs }: Stored): boolean {
    const windowMs = (duplicateWindowSecs ?? WINDOW_SECS_DEFAULT) * 1_000;
    return windowMs > 0 && this.tickMs <= tickMs + windowMs;
  }

  sequenceOf(found: ModelLog, key: string): number | undefined {
    const stored = [...found.remembered.values()].flatMap(({ keys }) => keys.get(key) ?? []);
    const sequences = stored.filter((one) => this.isRemembered(found, one)).map(({ sequence }) => sequence);
    return sequences.length === 0 ? undefined : Math.max(...sequences);
  }

  remember(found: ModelLog, together: string, keys: ReadonlyMap<string, Stored>): void {
    const windowMs = (found.settings.duplicateWindowSecs ?? WINDOW_SECS_DEFAULT) * 1_000;
    if (windowMs === 0) {
      return;
    }
    const before = [...(found.remembered.get(together)?.keys ?? [])];
    const all = new Map([...before.filter(([, one]) => this.isRemembered(found, one)), ...keys]);
    const dueMs = Math.min(...[...all.values()].map(({ tickMs }) => tickMs)) + windowMs;
    found.remembered.set(together, { dueMs, keys: all });
  }

  append(found: ModelLog, keys: readonly (string | null)[], payloads: readonly string[], together: string): number[] {
    const { tickMs } = this;
    const fresh = new Map<string, Stored>();
    const sequences = keys.map((key, at) => {
      const known = key === null ? undefined : this.sequenceOf(found, key);
      if (known !== undefined) {
        return known;
      }
      const sequence = ++found.lastSequence;
      found.events.push({ sequence, tickMs, payload: payloads[at] as string, key });
      if (key !== null) {
        fresh.set(key, { sequence, tickMs });
      }
      return sequence;
    });
    if (fresh.size > 0) {
      this.remember(found, together, fresh);
    }
    return sequences;
  }

  prune(): void {
    for (const found of this.live) {
      for (const [together, row] of [...found.remembered]) {
        if (row.dueMs < this.tickMs) {
          found.remembered.delete(together);
          const kept = [...row.keys].filter(([, one]) => this.isRemembered(found, one));
          if (kept.length > 0) {
            this.remember(found, together, new Map(kept));
          }
        }
      }
    }
  }

  retain(): void {
    for (const { settings: limits, events } of this.live) {
      const ageMs = (limits.retentionMaxAgeSecs ?? Infinity) * 1_000;
      const isTooOld = (event: ModelEvent | undefined) => event !== undefined && this.tickMs > event.tickMs + ageMs;
      while (isTooOld(events[0]) || sizeOf(events) > (limits.retentionMaxBytes ?? Infinity)) {
        events.shift();
      }
    }
  }
}

function sizeOf(events: readonly ModelEvent[]): number {
  return events.reduce((sum, { payload: { length } }) => sum + length, 0);
}

/** Keys that share a row have the same name. */
function togetherOf(key: string | null, isBatch: boolean): string {
  const [, base, position] = /^(.*):(0|[1-9][0-9]*)$/s.exec(key ?? "") ?? [];
  return isBatch || base === undefined ? `${isBatch} ${key}` : `shelf ${Math.floor(Number(position) / 32)} of ${base}`;
}

class Comparison {
  readonly log = new AppliedLog(LIMITS);
  readonly model = new Model();
  /** All kinds of answers that occurred. */
  readonly #seen: Set<string>;

  constructor(seen: Set<string>) {
    this.#seen = seen;
    this.log.result({ kind: "create-namespace", namespace: "default.a" });
  }

  run(operations: readonly Operation[]): void {
    const { revision } = this.log;
    for (const each of operations) {
      this.model.tickMs = this.log.tickMs;
      this.#step(each);
    }
    for (const found of this.model.live) {
      this.#compareLog(found);
    }
    expectExactUsage(this.log.store);
    expect(this.log.revision, "no operation here takes a revision").to.equal(revision);
  }

  /** The rows and counts that are left after all logs are deleted and erased. */
  leftAfterAll(): unknown {
    for (const { logId } of this.model.live) {
      this.log.result({ kind: "delete-log", logId });
    }
    while (this.log.progress.logErasures > 0) {
      this.log.lead({ kind: "erase-logs", rowsMax: 7 });
    }
    const { logs, eventBytes, logTimers } = this.log.progress;
    return [this.log.dump().filter((row) => /^[DEFLNRT]/.test(row)), logs, eventBytes, logTimers];
  }

  #step(each: Operation): void {
    switch (each.kind) {
      case "create":
        this.#create(each);
        return;
      case "delete":
        this.#delete(this.model.logOf(each.log));
        return;
      case "change":
        this.#change(each);
        return;
      case "append":
        this.#append(each);
        return;
      case "pass":
        this.log.tickMs += each.ms;
        return;
      case "prune":
        this.log.lead({ kind: "prune-duplicates", countMax: MANY });
        this.model.prune();
        return;
      case "retain":
        // A log that becomes too large at this very tick is trimmed later.
        this.model.tickMs = ++this.log.tickMs;
        this.log.lead({ kind: "apply-retention", rowsMax: MANY });
        this.model.retain();
        return;
      case "erase":
        this.log.lead({ kind: "erase-logs", rowsMax: 3 });
        return;
      case "list":
        this.#list();
        return;
    }
  }

  /** The state machine's answer must equal the model's. */
  #compare<Answer>(asked: ClientOperation, answerOfModel: () => Answer): Answer | null {
    const wanted = answerOrRefusal(answerOfModel);
    const { answer } = this.log.execute(asked);
    this.#seen.add(`${asked.kind}: ${wanted instanceof CoordinationError ? wanted.reason : "done"}`);
    if (wanted instanceof CoordinationError) {
      expect(answer instanceof CoordinationError ? answer.reason : answer).to.equal(wanted.reason);
      return null;
    }
    if (answer instanceof CoordinationError) {
      throw answer;
    }
    const told = answer.kind === "append-events" ? { ...answer, sequences: [...sequencesOf(answer.runs)] } : answer;
    expect(told).to.deep.include({ kind: asked.kind, ...wanted });
    return wanted;
  }

  #create({ name, namespace, settings: wanted }: OperationOf<"create">): void {
    const created = this.#compare({ kind: "create-log", name, namespace, settings: wanted }, () => {
      if (namespace === "nowhere") {
        throw new CoordinationError("NAMESPACE_NOT_FOUND", "");
      }
      if (this.model.live.some((one) => one.namespace === namespace && one.name === name)) {
        throw new CoordinationError("LOG_EXISTS", "");
      }
      if (this.model.live.length === LIMITS.logsMax) {
        throw new CoordinationError("QUOTA", "");
      }
      return {};
    });
    if (created !== null) {
      const selection = { namespaces: [namespace], name };
      const [found] = listLogs(this.log.store, selection, null, 100, () => true).logs;
      const logId = found?.logId ?? new Uint8Array(0);
      const fresh = { isDeleted: false, lastSequence: 0, events: [], remembered: new Map() };
      this.model.logs.push({ logId, namespace, name, settings: wanted, ...fresh });
    }
  }

  #delete(found: ModelLog): void {
    this.#compare({ kind: "delete-log", logId: found.logId }, () => {
      this.model.require(found).isDeleted = true;
      return {};
    });
  }

  #change({ log: counted, changes }: OperationOf<"change">): void {
    const found = this.model.logOf(counted);
    this.#compare({ kind: "update-log-settings", logId: found.logId, changes }, () => {
      this.model.require(found).settings = { ...found.settings, ...changes };
      return {};
    });
  }

  #append({
    log: counted,
    expected: meaning,
    guarded: isGuarded,
    payloads,
    key,
    isBatch,
  }: OperationOf<"append">): void {
    const found = this.model.logOf(counted);
    const { lastSequence } = found;
    const expectedSequence = {
      any: undefined,
      right: BigInt(lastSequence),
      wrong: BigInt(lastSequence + 1),
      huge: 2n ** 53n + BigInt(lastSequence),
    }[meaning];
    const asked: AppendEvents = {
      kind: "append-events",
      logId: found.logId,
      isBatch,
      idempotencyKey: key,
      expectedSequence,
      payloads: Payloads.of(payloads.map((one) => Buffer.from(one))),
      ...(isGuarded ? { guard: { namespace: "default", lockName: "free", fencingToken: 1, rw: false } } : {}),
    };
    const keys = payloads.map((_, at) => (isBatch ? `${key}:${at}` : key));
    this.#compare(asked, () => {
      this.model.require(found);
      const isAllKnown = keys.every((one) => one !== null && this.model.sequenceOf(found, one) !== undefined);
      if (isGuarded && !isAllKnown) {
        throw new CoordinationError("FENCED", "");
      }
      if (expectedSequence !== undefined && expectedSequence !== BigInt(lastSequence) && !isAllKnown) {
        throw new CoordinationError("SEQUENCE_CONFLICT", "");
      }
      const known = keys.filter((one) => one !== null && this.model.sequenceOf(found, one) !== undefined).length;
      this.#seen.add(`of ${isBatch ? "a batch" : "one"}, ${known === 0 ? "none" : isAllKnown ? "all" : "some"} again`);
      const sequences = this.model.append(found, keys, payloads, togetherOf(key, isBatch));
      return { sequences, lastSequence: Math.max(...sequences), appendedEvents: keys.length - known };
    });
  }

  #list(): void {
    for (const namespaces of [null, [], ["default"], [...NAMESPACES].reverse(), ["nowhere", "de"]]) {
      for (const name of [null, ...NAMES]) {
        const listed = listLogs(this.log.store, { namespaces, name }, null, 100, () => true).logs;
        const selected = this.model.live.filter(
          (log) => (namespaces?.includes(log.namespace) ?? true) && (name ?? log.name) === log.name,
        );
        const places = selected.map((log) => `${log.namespace}\0${log.name}\0${log.logId.toHex()}`).sort();
        expect(listed.map((log) => `${log.namespace}\0${log.name}\0${log.logId.toHex()}`)).to.deep.equal(places);
      }
    }
  }

  #compareLog({ logId, settings: wanted, lastSequence, events }: ModelLog): void {
    const stored = describeLog(this.log.store, logId);
    const firstSequence = events[0]?.sequence ?? lastSequence + 1;
    expect(stored).to.deep.include({ settings: wanted, lastSequence, firstSequence, sizeBytes: sizeOf(events) });
    expect(eventCountOf(stored)).to.equal(events.length);
    const read = readEvents(this.log.store, stored, 0, ALL);
    expect(
      read.map((event) => [event.sequence, event.idempotencyKey, Buffer.from(event.payload).toString()]),
    ).to.deep.equal(events.map(({ sequence, key, payload: text }) => [sequence, key, text]));
  }
}

describe("event logs beside a model of plain maps", () => {
  it("have the same answers and events over 10,000 random operations, and from every restart", function () {
    // Each log is applied twice, and large events are compared.
    this.timeout(60_000);
    const seen = new Set<string>();
    const operations = fc.array(operation, { minLength: 500, maxLength: 500 });
    fc.assert(
      fc.property(operations, fc.nat(), fc.integer({ min: 1, max: 40 }), (script, cut, sliceEntries) => {
        const comparison = new Comparison(seen);
        comparison.run(script);
        expectSameFromRestart(comparison.log, cut % comparison.log.rows.length, sliceEntries);
        expect(comparison.leftAfterAll()).to.deep.equal([[], 0, 0, 0]);
      }),
      { numRuns: 20 },
    );
    // Without these cases, agreement would mean little.
    expect([...seen].sort()).to.deep.equal(
      [
        ...["FENCED", "LOG_NOT_FOUND", "SEQUENCE_CONFLICT", "done"].map((answer) => `append-events: ${answer}`),
        ...["LOG_EXISTS", "NAMESPACE_NOT_FOUND", "QUOTA", "done"].map((answer) => `create-log: ${answer}`),
        ...["LOG_NOT_FOUND", "done"].flatMap((answer) => [`delete-log: ${answer}`, `update-log-settings: ${answer}`]),
        ...["of a batch, all again", "of a batch, none again", "of a batch, some again"],
        ...["of one, all again", "of one, none again"],
      ].sort(),
    );
  });
});
