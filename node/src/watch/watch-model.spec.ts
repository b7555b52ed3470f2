import { expect } from "chai";
import fc from "fast-check";
import { WatchedLog, type WatchReader } from "../../test/harness/index.ts";
import { CoordinationError, expiredKeys, type KeyChange, readHistoryBounds } from "../state/index.ts";
import type { WatchMessage, WatchRequest } from "./subscriber.ts";

const NAMESPACES = ["default", "constructor"];
const KEYS = ["a", "ab", "abc", "b", "__proto__", "é", "\uFFFF", "😀"];
const PREFIXES = ["", "a", "ab", "abc", "abcd", "b", "__proto__", "\uFFFF"];

const key = fc.constantFrom(...KEYS);
const namespace = fc.constantFrom("default", "default", ...NAMESPACES);
const reader = fc.nat();

const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("put" as const),
      namespace,
      key,
      value: fc.constantFrom("", "x", "y".repeat(200)),
      ttlSeconds: fc.constantFrom(0, 0, 0, 1),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("delete" as const), namespace, key }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("expire" as const), ms: fc.integer({ min: 1, max: 700 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("trim" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("open" as const),
      namespace,
      prefix: fc.constantFrom(...PREFIXES),
      /** From now, or so far behind or ahead of what is applied. */
      start: fc.oneof(fc.constant("now" as const), fc.integer({ min: -40, max: 4 })),
      isQuick: fc.boolean(),
      progressIntervalMs: fc.constantFrom(100, 500),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("take" as const), reader }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("resume" as const), reader }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("turn" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 300 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** A change as anybody would write it down. */
interface Told {
  readonly kind: KeyChange["kind"];
  readonly namespace: string;
  readonly key: string;
  readonly revision: number;
  readonly value: string;
  readonly version: number;
  readonly createRevision: number;
  /** Revision and value. */
  readonly previous: readonly [number, string] | null;
}

function toldOf({ kind, namespace: space, current, previous }: KeyChange): Told {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
  return {
    kind,
    namespace: space,
    key: text(current.key),
    revision: current.modRevision,
    value: text(current.value),
    version: current.version,
    createRevision: current.createRevision,
    previous: previous === null ? null : [previous.modRevision, text(previous.value)],
  };
}

/** What happened, kept for ever. */
class Model {
  readonly changes: Told[] = [];
  readonly #keys = new Map<string, Told>();

  put(space: string, name: string, value: string, revision: number): void {
    const before = this.#keys.get(`${space}/${name}`);
    this.#record({
      kind: "put",
      namespace: space,
      key: name,
      revision,
      value,
      version: (before?.version ?? 0) + 1,
      createRevision: before?.createRevision ?? revision,
      previous: before === undefined ? null : [before.revision, before.value],
    });
  }

  end(kind: "delete" | "expire", space: string, name: string, revision: number): void {
    const before = this.#keys.get(`${space}/${name}`);
    if (before === undefined) {
      throw new Error("what ends was there");
    }
    this.#record({ ...before, kind, revision, previous: [before.revision, before.value] });
    this.#keys.delete(`${space}/${name}`);
  }

  /** What a watch is to be told of the revisions from < revision ≤ to. */
  between({ namespace: space, prefix }: Pick<WatchRequest, "namespace" | "prefix">, from: number, to: number): Told[] {
    const start = Buffer.from(prefix);
    return this.changes.filter(
      (change) =>
        change.namespace === space &&
        change.revision > from &&
        change.revision <= to &&
        Buffer.from(change.key).subarray(0, start.length).equals(start),
    );
  }

  #record(change: Told): void {
    this.changes.push(change);
    this.#keys.set(`${change.namespace}/${change.key}`, change);
  }
}

interface Session {
  readonly reader: WatchReader;
  readonly request: WatchRequest;
  /** Messages that were judged. */
  judged: number;
  /** What was told up to here is right. */
  revision: number;
}

class Comparison {
  readonly #watched = new WatchedLog(
    // As small as they can be, so that everything happens: several slices, several messages, histories that end.
    { recentBytesMax: 600, messageBytes: 300, readRevisionsMax: 5, readBytesMax: 700, servedPerTurn: 3 },
    { revisionsMax: 30 },
  );
  readonly #model = new Model();
  readonly #sessions: Session[] = [];
  readonly #seen: Set<string>;

  constructor(seen: Set<string>) {
    this.#seen = seen;
    this.#watched.log.result({ kind: "create-namespace", namespace: "constructor" });
  }

  run(steps: readonly Step[]): void {
    for (const each of steps) {
      this.#step(each);
      this.#judge();
    }
    this.#finish();
    this.#resumeEverywhere();
  }

  #step(each: Step): void {
    const { time, log } = this.#watched;
    switch (each.kind) {
      case "put":
        this.#put(each);
        return;
      case "delete":
        this.#delete(each.namespace, each.key);
        return;
      case "expire":
        log.tickMs += each.ms;
        this.#expire();
        return;
      case "trim":
        this.#watched.trim();
        return;
      case "open": {
        const { start, ...request } = each;
        const startRevision = start === "now" ? 0 : Math.max(1, log.revision + start);
        this.#open({ ...request, prefix: Buffer.from(each.prefix), startRevision }, each.isQuick);
        return;
      }
      case "take":
        this.#sessionAt(each.reader)?.reader.take();
        return;
      case "resume":
        this.#resume(this.#sessionAt(each.reader));
        return;
      case "turn":
        time.turn();
        return;
      case "pass":
        time.advance(each.ms);
        return;
    }
  }

  #put({ namespace: space, key: name, value, ttlSeconds }: Extract<Step, { readonly kind: "put" }>): void {
    const { log } = this.#watched;
    const { modRevision } = log.result<"put-key">({
      kind: "put-key",
      namespace: space,
      key: Buffer.from(name),
      value: Buffer.from(value),
      ttlSeconds,
      expectedModRevision: undefined,
      returnPrevious: false,
    });
    this.#model.put(space, name, value, modRevision);
    this.#watched.tell();
  }

  #delete(space: string, name: string): void {
    const { log } = this.#watched;
    const { answer } = log.execute({
      kind: "delete-key",
      namespace: space,
      key: Buffer.from(name),
      expectedModRevision: undefined,
      returnPrevious: false,
    });
    if (!(answer instanceof CoordinationError)) {
      this.#model.end("delete", space, name, log.revision);
      this.#watched.tell();
    }
  }

  #expire(): void {
    const { log } = this.#watched;
    for (const expired of expiredKeys(log.store, log.tickMs, 100)) {
      log.lead({ kind: "expire-keys", keys: [expired] });
      this.#model.end("expire", expired.namespace, Buffer.from(expired.key).toString(), log.revision);
    }
    this.#watched.tell();
  }

  #open(request: WatchRequest, isQuick: boolean): void {
    const { log } = this.#watched;
    const { compactRevision } = readHistoryBounds(log.store);
    const isCompacted = request.startRevision !== 0 && request.startRevision < compactRevision;
    try {
      const opened = this.#watched.watch(Buffer.from(request.prefix).toString(), request, isQuick);
      expect(isCompacted).to.equal(false);
      const start = request.startRevision === 0 ? log.revision + 1 : request.startRevision;
      this.#sessions.push({ reader: opened, request, judged: 0, revision: start - 1 });
    } catch (error) {
      if (!(error instanceof CoordinationError)) {
        throw error;
      }
      expect([error.reason, isCompacted]).to.deep.equal(["COMPACTED", true]);
      this.#seen.add("refused start");
    }
  }

  /** Breaks off, and goes on where the messages ended, as a client does. */
  #resume(session: Session | undefined): void {
    if (session !== undefined && session.judged > 0) {
      session.reader.close();
      this.#sessions.splice(this.#sessions.indexOf(session), 1);
      this.#open({ ...session.request, startRevision: session.revision + 1 }, session.reader.isQuick);
    }
  }

  #sessionAt(number: number): Session | undefined {
    return this.#sessions[number % this.#sessions.length];
  }

  #judge(): void {
    for (const session of this.#sessions) {
      for (const message of session.reader.messages.slice(session.judged)) {
        this.#judgeMessage(session, message);
        session.judged++;
        session.revision = message.revision;
      }
      if (session.reader.ended !== null) {
        // Only what the limits allow to be dropped may be missing, and it is said.
        const { compactRevision } = readHistoryBounds(this.#watched.log.store);
        expect([session.reader.ended.reason, compactRevision > session.revision + 1]).to.deep.equal([
          "COMPACTED",
          true,
        ]);
        this.#seen.add("fell out of the history");
      }
      expect(session.reader.untaken).to.be.at.most(1);
    }
  }

  /** Ordered, unique, complete, and not split: exactly what happened between the last message and this one. */
  #judgeMessage({ request, judged, revision }: Session, message: WatchMessage): void {
    expect(message.kind === "created").to.equal(judged === 0);
    expect(message.changes.length > 0).to.equal(message.kind === "changes");
    // Only a start that is ahead is told of although it is not reached.
    const isAhead = message.kind === "created" && message.revision === revision;
    expect(message.revision).to.be.within(revision, isAhead ? revision : this.#watched.log.revision);
    const wanted = this.#model.between(request, revision, message.revision);
    expect(message.changes.map(({ change }) => toldOf(change))).to.deep.equal(wanted);
    this.#seen.add(message.kind);
    for (const { change } of message.changes) {
      this.#seen.add(change.kind);
    }
  }

  /** When everybody reads, everybody comes to the end. */
  #finish(): void {
    for (const session of this.#sessions) {
      session.reader.isQuick = true;
      session.reader.take();
    }
    this.#watched.time.advance(600);
    this.#judge();
    for (const session of this.#sessions) {
      const { revision } = this.#watched.log;
      expect(session.reader.ended !== null || session.revision >= revision, "is at the end").to.equal(true);
      session.reader.close();
    }
    this.#sessions.length = 0;
  }

  #resumeEverywhere(): void {
    const { log, time } = this.#watched;
    for (let startRevision = 1; startRevision <= log.revision + 1; startRevision++) {
      this.#open({ namespace: "default", prefix: Buffer.from("a"), startRevision, progressIntervalMs: 100 }, true);
      time.settle();
      this.#judge();
      time.advance(200);
      this.#judge();
      for (const session of this.#sessions.splice(0)) {
        expect(session.revision).to.equal(log.revision);
        session.reader.close();
      }
    }
  }
}

describe("watches beside a model that keeps everything", () => {
  it("S37, S38: tell each change once, in order and with what was before, to readers of any speed", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.array(step, { minLength: 150, maxLength: 150 }), (steps) => {
        new Comparison(seen).run(steps);
      }),
      { numRuns: 25 },
    );
    // Otherwise agreement would mean little.
    expect([...seen].sort()).to.deep.equal([
      "changes",
      "created",
      "delete",
      "expire",
      "fell out of the history",
      "progress",
      "put",
      "refused start",
    ]);
  });
});
