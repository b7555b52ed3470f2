import { expect } from "chai";
import fc from "fast-check";
import { WatchedLog, type WatchReader } from "../../test/harness/index.ts";
import {
  LockModel,
  lockKey,
  type ModelEvent,
  type ModelHold,
  type ModelRequest,
  OWNER,
  putOf,
  requestOf,
  stepOf,
} from "../../test/index.ts";
import {
  type AcquireLock,
  CoordinationError,
  compactRevisionOf,
  DEFAULT_STATE_LIMITS,
  dueLockTimers,
  expiredKeys,
  type KeyChange,
  type LockName,
} from "../state/index.ts";
import type { SharedChange } from "./shared-change.ts";
import type { WatchMessage, WatchRequest } from "./subscriber.ts";

const NAMESPACES = ["default", "constructor"];
const KEYS = ["a", "ab", "abc", "b", "__proto__", "é", "\uFFFF", "😀"];
/** Of both kinds, some with the names of keys. */
const LOCKS: readonly LockName[] = [
  { namespace: "default", rw: false, name: "a" },
  { namespace: "default", rw: true, name: "a" },
  { namespace: "default", rw: true, name: "abé" },
  { namespace: "constructor", rw: false, name: "ab" },
];
/** Only LAST_STEPS use it, so that its state there does not depend on the random steps. */
const LAST_LOCK: LockName = { namespace: "default", rw: true, name: "aé" };
const DELAY_SECONDS = 1;
const PREFIXES = ["", "a", "ab", "abc", "abcd", "b", "__proto__", "\uFFFF"];

const key = fc.constantFrom(...KEYS);
const namespace = fc.constantFrom("default", "default", ...NAMESPACES);
const reader = fc.nat();

const step = fc.oneof(
  stepOf(12, "put", {
    namespace,
    key,
    value: fc.constantFrom("", "x", "y".repeat(200)),
    ttlSeconds: fc.constantFrom(0, 0, 0, 1),
  }),
  stepOf(4, "delete", { namespace, key }),
  stepOf(2, "expire", { ms: fc.integer({ min: 1, max: 700 }) }),
  stepOf(10, "lock", {
    lock: fc.constantFrom(...LOCKS),
    act: fc.constantFrom("acquire", "acquire", "wait", "change", "release", "release", "force"),
    isRead: fc.boolean(),
    ttlSeconds: fc.constantFrom(0, 1),
  }),
  stepOf(1, "trim", {}),
  stepOf(1, "compact", { back: fc.integer({ min: -2, max: 30 }) }),
  stepOf(3, "open", {
    about: fc.constantFrom("key" as const, "lock" as const),
    namespace,
    prefix: fc.constantFrom(...PREFIXES),
    isExact: fc.boolean(),
    /** From now, or so far behind or ahead of the applied revision. */
    start: fc.oneof(fc.constant("now" as const), fc.integer({ min: -40, max: 4 })),
    isQuick: fc.boolean(),
    progressIntervalMs: fc.constantFrom(100, 500),
  }),
  stepOf(4, "take", { reader }),
  stepOf(1, "resume", { reader }),
  stepOf(4, "turn", {}),
  stepOf(2, "pass", { ms: fc.integer({ min: 1, max: 300 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * The changes that random steps seldom make while a watch could still get them. They end every run: then the history
 * has them, whatever it dropped before.
 */
const LAST_STEPS: readonly Step[] = [
  { kind: "put", namespace: "default", key: "a", value: "x", ttlSeconds: 1 },
  { kind: "lock", lock: LAST_LOCK, act: "acquire", isRead: true, ttlSeconds: 1 },
  // From read to write, and back.
  { kind: "lock", lock: LAST_LOCK, act: "change", isRead: false, ttlSeconds: 1 },
  { kind: "lock", lock: LAST_LOCK, act: "change", isRead: false, ttlSeconds: 1 },
  { kind: "expire", ms: 1_100 },
];

/** A change of a key in the simplest form. */
interface ToldKey {
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
type Told = ToldKey | ModelEvent;

function toldOf({ change, revision }: SharedChange): Told {
  if (change.about === "lock") {
    return { ...change, revision };
  }
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
  const { kind, namespace: space, current, previous } = change;
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

type Watched = Pick<WatchRequest, "about" | "namespace" | "prefix" | "isExact">;

/** All that happened, kept for ever. */
class Model {
  readonly changes: ToldKey[] = [];
  readonly locks = new LockModel({ ...DEFAULT_STATE_LIMITS, lockDelaySeconds: DELAY_SECONDS, ttlSeconds: 30 });
  readonly #keys = new Map<string, ToldKey>();

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

  /** The changes that a watch must get of the revisions from < revision ≤ to. */
  between({ about, namespace: space, prefix, isExact = false }: Watched, from: number, to: number): Told[] {
    const start = Buffer.from(prefix);
    const isNamed = (name: Buffer) => (isExact ? name : name.subarray(0, start.length)).equals(start);
    const isWatched = (change: Told) =>
      change.namespace === space &&
      change.revision > from &&
      change.revision <= to &&
      isNamed(Buffer.from("key" in change ? change.key : change.name));
    return about === "key" ? this.changes.filter(isWatched) : this.locks.events.filter(isWatched);
  }

  #record(change: ToldKey): void {
    this.changes.push(change);
    this.#keys.set(`${change.namespace}/${change.key}`, change);
  }
}

type Asked = Pick<AcquireLock, "ttlSeconds" | "waitMs" | "fencingToken">;

interface Session {
  readonly reader: WatchReader;
  readonly request: WatchRequest;
  /** Checked messages. */
  judged: number;
  /** The messages up to here are correct. */
  revision: number;
}

class Comparison {
  readonly #watched = new WatchedLog(
    // As small as possible, so that every case occurs: several slices, several messages, histories that end.
    { recentBytesMax: 9_000, messageBytes: 300, readRevisionsMax: 5, readBytesMax: 700, servedPerTurn: 3 },
    { revisionsMax: 30 },
  );
  readonly #model = new Model();
  readonly #sessions: Session[] = [];
  readonly #seen: Set<string>;
  #requests = 0;

  constructor(seen: Set<string>) {
    this.#seen = seen;
    const { log } = this.#watched;
    log.result({ kind: "create-namespace", namespace: "constructor" });
    for (const name of [...LOCKS, LAST_LOCK]) {
      log.result({ kind: "create-lock", ...name, ttlSeconds: 30, lockDelaySeconds: DELAY_SECONDS });
      this.#model.locks.locks.set(lockKey(name), { name, permits: 0, holds: [], queue: [], delayUntilMs: 0 });
    }
  }

  run(steps: readonly Step[]): void {
    for (const each of [...steps, ...LAST_STEPS]) {
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
      case "lock":
        this.#lock(each);
        return;
      case "trim":
        this.#watched.trim();
        return;
      case "compact":
        log.lead({
          kind: "compact-history",
          revision: Math.max(1, log.revision - each.back),
          subject: "admin",
          request: null,
        });
        this.#watched.notify();
        return;
      case "open": {
        const { start, ...request } = each;
        const startRevision = start === "now" ? 0 : Math.max(1, log.revision + start);
        this.#open({ ...request, principal: OWNER, prefix: Buffer.from(each.prefix), startRevision }, each.isQuick);
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
    const { modRevision } = log.result<"put-key">(putOf(name, value, { namespace: space, ttlSeconds }));
    this.#model.put(space, name, value, modRevision);
    this.#watched.notify();
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
      this.#watched.notify();
    }
  }

  #expire(): void {
    const { log } = this.#watched;
    for (const expired of expiredKeys(log.store, log.tickMs, 100)) {
      log.lead({ kind: "expire-keys", keys: [expired] });
      this.#model.end("expire", expired.namespace, Buffer.from(expired.key).toString(), log.revision);
    }
    const { locks } = this.#model;
    this.#meetLocks();
    for (let [due] = locks.due(); due !== undefined; [due] = locks.due()) {
      log.lead({ kind: "expire-locks", timers: dueLockTimers(log.store, log.tickMs, 1) });
      due.end();
    }
    this.#endLocks();
  }

  #lock({ lock, act, isRead, ttlSeconds }: Extract<Step, { readonly kind: "lock" }>): void {
    this.#meetLocks();
    const { locks } = this.#model;
    const holds = locks.lockOf(lock).holds;
    const [hold] = holds;
    if (act === "acquire" || act === "wait") {
      this.#acquire(lock, { isRead, ttlSeconds, waitMs: act === "wait" ? 60_000 : 0, fencingToken: 0 });
    } else if (hold !== undefined && act === "change" && lock.rw) {
      this.#acquire(lock, { isRead: hold.mode === "write", ttlSeconds, waitMs: 0, fencingToken: hold.token });
    } else if (hold !== undefined && act === "release") {
      this.#release(lock, hold);
    } else if (act === "force") {
      this.#watched.log.execute({ kind: "force-release-lock", ...lock, fencingToken: 0, reason: "" });
      locks.force(lock, 0);
    }
    this.#endLocks();
  }

  #acquire(lock: LockName, { isRead, ...asked }: { readonly isRead: boolean } & Asked): void {
    const { namespace: space, rw, name } = lock;
    const mode = isRead ? "read" : "write";
    const operation = { kind: "acquire-lock", namespace: space, name, mode: rw ? mode : "exclusive" } as const;
    const request: ModelRequest = {
      id: ++this.#requests,
      subject: OWNER.subject,
      operation: { ...operation, ...asked, owner: "" },
      status: "new",
      reason: "",
      token: 0,
      attempt: 0,
      sinceMs: 0,
    };
    this.#watched.log.execute(request.operation, { request: requestOf(request.id) });
    this.#model.locks.send(request, request.id);
  }

  #release(lock: LockName, { token }: ModelHold): void {
    this.#watched.log.result({ kind: "release-lock", ...lock, mode: null, owner: "", fencingToken: token });
    this.#model.locks.release(lock, { subject: OWNER.subject, owner: "", mode: null, token });
  }

  /** The model of locks counts its own changes only. */
  #meetLocks(): void {
    const { log } = this.#watched;
    this.#model.locks.revision = log.revision;
    this.#model.locks.tickMs = log.tickMs;
  }

  #endLocks(): void {
    expect(this.#model.locks.revision).to.equal(this.#watched.log.revision);
    this.#watched.notify();
  }

  #open(request: WatchRequest, isQuick: boolean): void {
    const { log } = this.#watched;
    const compactRevision = compactRevisionOf(log.store, request.namespace);
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

  /** Disconnects, and continues where the messages ended, as a client does. */
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
        // Only changes that the limits allow to drop may be missing, and the error must say so.
        const compactRevision = compactRevisionOf(this.#watched.log.store, session.request.namespace);
        expect([session.reader.ended.reason, compactRevision > session.revision + 1]).to.deep.equal([
          "COMPACTED",
          true,
        ]);
        this.#seen.add("fell out of the history");
      }
      expect(session.reader.untaken).to.be.at.most(1);
    }
  }

  /** Ordered, unique, complete, and not split: exactly the changes between the last message and this one. */
  #judgeMessage({ request, judged, revision }: Session, message: WatchMessage): void {
    expect(message.kind === "created").to.equal(judged === 0);
    expect(message.changes.length > 0).to.equal(message.kind === "changes");
    // Only a start that is ahead may be announced before it is reached.
    const isAhead = message.kind === "created" && message.revision === revision;
    expect(message.revision).to.be.within(revision, isAhead ? revision : this.#watched.log.revision);
    const wanted = this.#model.between(request, revision, message.revision);
    expect(message.changes.map(toldOf)).to.deep.equal(wanted);
    this.#seen.add(message.kind);
    for (const { change } of message.changes) {
      this.#seen.add(change.about === "key" ? change.kind : `${change.kind} ${change.reason}`);
    }
  }

  /** When all readers read, all reach the end. */
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
      for (const about of ["key", "lock"] as const) {
        const asked = { about, namespace: "default", prefix: Buffer.from("a"), startRevision };
        this.#open({ ...asked, principal: OWNER, progressIntervalMs: 100 }, true);
      }
      time.drain();
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
  it("S37, S38: send each change once, in order and with the previous value, to readers of any speed", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.array(step, { minLength: 150, maxLength: 150 }), (steps) => {
        new Comparison(seen).run(steps);
      }),
      { numRuns: 25 },
    );
    // Without these cases, agreement would mean little.
    expect([...seen].sort()).to.deep.equal([
      "acquired downgraded",
      "acquired normal",
      "acquired upgraded",
      "changes",
      "created",
      "delete",
      "expire",
      "fell out of the history",
      "progress",
      "put",
      "refused start",
      "released expired",
      "released forced",
      "released normal",
      "released upgraded",
    ]);
  });
});
