import { expect } from "chai";
import fc from "fast-check";
import {
  ANNA,
  AppliedLog,
  addUser,
  applyRows,
  BEN,
  dumpOf,
  expectExactReplays,
  expectExactUsage,
  MemoryStateStore,
  putOf,
  requestOf,
  rowsOf,
  stepOf,
} from "../../../test/index.ts";
import { CoordinationError, DEFAULT_STATE_LIMITS, decodeText, type Row, scanHistory } from "../core/index.ts";
import { expiredKeys, listKeys } from "../keys/index.ts";
import { describeSession, dueSessions, listSessions, type RenewSessionsResult } from "../sessions/index.ts";

const NAMESPACE = "default";
const LIMITS = { ...DEFAULT_STATE_LIMITS, sessionObjectsMax: 3, sessionBytesMax: 12, namespaceSessionsMax: 4 };
const SUBJECTS = [ANNA, BEN];
const KEYS = ["a", "ab", "b", "c", "d"];
const ALL = { entriesMax: 1_000, bytesMax: 1_000_000, keysOnly: false };
const NOTHING = new Uint8Array(0);

const pick = fc.nat({ max: 1_000 });
const who = fc.nat({ max: SUBJECTS.length - 1 });
const key = fc.constantFrom(...KEYS);
const value = fc.constantFrom("", "v", "12345");
/** The session of a write: none, one of those that there were, or one that never was. */
const owner = fc.option(pick, { freq: 3 });

const step = fc.oneof(
  stepOf(4, "create", { who, ttlSeconds: fc.constantFrom(1, 2, 5) }),
  stepOf(12, "put", { who, key, value, owner, ttlSeconds: fc.constantFrom(0, 0, 0, 2), isRetried: fc.boolean() }),
  stepOf(4, "swap", { who, key, value, owner, isRight: fc.boolean() }),
  stepOf(3, "delete", { key }),
  stepOf(2, "touch", { key, ttlSeconds: fc.constantFrom(0, 2) }),
  stepOf(4, "transact", {
    who,
    keys: fc.uniqueArray(key, { minLength: 1, maxLength: 3 }),
    owner,
    isLive: fc.boolean(),
  }),
  stepOf(6, "renew", { who, picks: fc.array(pick, { minLength: 1, maxLength: 3 }) }),
  stepOf(2, "end", { who, pick, force: fc.boolean(), isRetried: fc.boolean() }),
  stepOf(8, "pass", { ms: fc.constantFrom(1, 400, 999, 1_000, 1_001, 2_100) }),
  stepOf(5, "expire", { countMax: fc.constantFrom(1, 10), objectsMax: fc.constantFrom(1, 100), isStale: fc.boolean() }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type StepOf<Kind> = Extract<Step, { readonly kind: Kind }>;

interface ModelSession {
  readonly subject: string;
  readonly ttlMs: number;
  deadlineMs: number;
}

interface ModelKey {
  readonly value: string;
  readonly sessionId: number | undefined;
  readonly deadlineMs: number;
}

/** Sessions as plainly as possible: a table of sessions, a table of keys, and the changes in words. */
class Model {
  readonly sessions = new Map<number, ModelSession>();
  keys = new Map<string, ModelKey>();
  readonly changes: string[] = [];
  revision: number;

  constructor(revision: number) {
    this.revision = revision;
  }

  keysOf(sessionId: number): string[] {
    return [...this.keys].flatMap(([name, one]) => (one.sessionId === sessionId ? [name] : [])).sort();
  }

  /** The refusal of writes as one change; null if there is room for each after the ones before it. */
  write(subject: string, writes: readonly (readonly [string, ModelKey])[]): string | null {
    const before = this.keys;
    this.keys = new Map(before);
    for (const [name, one] of writes) {
      const refusal = one.sessionId === undefined ? null : this.#refusal(subject, name, one, one.sessionId);
      if (refusal !== null) {
        this.keys = before;
        return refusal;
      }
      this.keys.set(name, one);
    }
    this.revision++;
    this.changes.push(...writes.map(([name]) => `${this.revision} put ${name}`));
    return null;
  }

  #refusal(subject: string, name: string, { value: written }: ModelKey, sessionId: number): string | null {
    const session = this.sessions.get(sessionId);
    if (session === undefined) {
      return "SESSION_NOT_FOUND";
    }
    if (session.subject !== subject) {
      return "ACCESS_DENIED";
    }
    const others = this.keysOf(sessionId).filter((one) => one !== name);
    const bytesOf = (one: string) => one.length + (this.keys.get(one)?.value.length ?? 0);
    const had = this.keys.get(name)?.sessionId === sessionId ? bytesOf(name) : 0;
    const bytes = others.reduce((sum, one) => sum + bytesOf(one), 0) + name.length + written.length;
    const isFull = others.length + 1 > LIMITS.sessionObjectsMax;
    const grows = name.length + written.length > had;
    return isFull || (grows && bytes > LIMITS.sessionBytesMax) ? "QUOTA" : null;
  }

  end(sessionId: number, kind: "delete" | "expire"): number {
    this.revision++;
    const ended = this.keysOf(sessionId);
    for (const name of ended) {
      this.keys.delete(name);
      this.changes.push(`${this.revision} ${kind} ${name}`);
    }
    this.sessions.delete(sessionId);
    return ended.length;
  }
}

class Comparison {
  readonly log = new AppliedLog(LIMITS);
  /** The state with the users, who were written beside the log, and the number of entries until then. */
  readonly start: { readonly rows: readonly Row[]; readonly entries: number };
  readonly #seen: Set<string>;
  readonly #ids: number[] = [];
  readonly #model: Model;
  #requests = 0;

  constructor(seen: Set<string>) {
    this.#seen = seen;
    for (const one of SUBJECTS) {
      addUser(this.log, one, { role: "admin" });
    }
    this.#model = new Model(this.log.revision);
    this.start = { rows: rowsOf(this.log.store), entries: this.log.rows.length };
  }

  run(steps: readonly Step[]): void {
    const first = this.log.revision + 1;
    for (const each of steps) {
      this.#step(each);
      expect(this.log.revision, each.kind).to.equal(this.#model.revision);
      this.#compareContent();
    }
    const kept: string[] = [];
    scanHistory(this.log.store, first, this.log.revision, ({ revision, changes }) => {
      const words = changes.flatMap((one) =>
        one.about === "key" ? [`${one.kind} ${decodeText(one.current.key)}`] : [],
      );
      return kept.push(...words.map((text) => `${revision} ${text}`)) >= 0;
    });
    expect(kept).to.deep.equal(this.#model.changes);
    expectExactUsage(this.log.store);
    expectExactReplays(this.log.store);
  }

  #compareContent(): void {
    const { sessions, more } = listSessions(this.log.store, NAMESPACE, 0, ALL);
    const found = sessions.map(({ sessionId, subject, deadlineMs, objects, bytes }) => {
      const keys = describeSession(this.log.store, NAMESPACE, sessionId).keys.map((bytesOf) => decodeText(bytesOf));
      return { sessionId, subject, deadlineMs, objects, bytes, keys };
    });
    const wanted = [...this.#model.sessions].map(([sessionId, { subject, deadlineMs }]) => {
      const keys = this.#model.keysOf(sessionId);
      const bytes = keys.reduce((sum, one) => sum + one.length + (this.#model.keys.get(one)?.value.length ?? 0), 0);
      return { sessionId, subject, deadlineMs, objects: keys.length, bytes, keys };
    });
    expect([found, more]).to.deep.equal([wanted, false]);
    expect(this.log.progress.totals.sessions).to.equal(wanted.length);
    const keys = listKeys(this.log.store, NAMESPACE, NOTHING, undefined, ALL).keys.map((one) => {
      return [
        decodeText(one.key),
        { value: decodeText(one.value), sessionId: one.sessionId, deadlineMs: one.deadlineMs },
      ];
    });
    expect(keys).to.deep.equal([...this.#model.keys].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #step(each: Step): void {
    switch (each.kind) {
      case "create":
        this.#create(each);
        return;
      case "put":
        this.#put(each);
        return;
      case "swap":
        this.#swap(each);
        return;
      case "transact":
        this.#transact(each);
        return;
      case "delete":
        this.#delete(each.key);
        return;
      case "touch":
        this.#touch(each);
        return;
      case "renew":
        this.#renew(each);
        return;
      case "end":
        this.#end(each);
        return;
      case "pass":
        this.log.tickMs += each.ms;
        return;
      case "expire":
        this.#expire(each);
        return;
    }
  }

  #create({ who: at, ttlSeconds }: StepOf<"create">): void {
    const principal = SUBJECTS[at] as (typeof SUBJECTS)[number];
    const asked = { kind: "create-session", namespace: NAMESPACE, ttlSeconds, owner: "", metadata: NOTHING } as const;
    const { answer } = this.log.execute(asked, { principal, request: this.#request() });
    if (this.#model.sessions.size >= LIMITS.namespaceSessionsMax) {
      this.#expectRefusal(answer, "QUOTA", "create");
      return;
    }
    this.#model.revision++;
    const sessionId = this.#model.revision;
    const deadlineMs = this.log.tickMs + ttlSeconds * 1_000;
    this.#model.sessions.set(sessionId, { subject: principal.subject, ttlMs: ttlSeconds * 1_000, deadlineMs });
    this.#ids.push(sessionId);
    expect(answer).to.include({ kind: "create-session", sessionId, deadlineMs });
  }

  #put({ who: at, key: name, value: written, owner: drawn, ttlSeconds, isRetried }: StepOf<"put">): void {
    const principal = SUBJECTS[at] as (typeof SUBJECTS)[number];
    const sessionId = this.#idOf(drawn);
    const request = this.#request();
    const asked = putOf(name, written, { ttlSeconds, ...(sessionId === undefined ? {} : { sessionId }) });
    const { answer } = this.log.execute(asked, { principal, request });
    const refusal = this.#model.write(principal.subject, [[name, this.#keyOf(written, sessionId, ttlSeconds)]]);
    if (isRetried) {
      expect(this.log.execute(asked, { principal, request }).replayed).to.equal("yes");
    }
    this.#compareAnswer(answer, refusal, "put");
  }

  #swap({ who: at, key: name, value: written, owner: drawn, isRight }: StepOf<"swap">): void {
    const principal = SUBJECTS[at] as (typeof SUBJECTS)[number];
    const sessionId = this.#idOf(drawn);
    const before = this.#model.keys.get(name);
    const isNow = before !== undefined && isRight;
    const { answer } = this.log.execute(
      {
        kind: "compare-and-swap",
        namespace: NAMESPACE,
        key: Buffer.from(name),
        newValue: Buffer.from(written),
        expectedValue: isNow ? Buffer.from(before.value) : undefined,
        expectedModRevision: isRight ? undefined : 1,
        ttlSeconds: 0,
        ...(sessionId === undefined ? {} : { sessionId }),
      },
      { principal, request: this.#request() },
    );
    const session = sessionId === undefined ? undefined : this.#model.sessions.get(sessionId);
    if (sessionId !== undefined && session?.subject !== principal.subject) {
      this.#expectRefusal(answer, session === undefined ? "SESSION_NOT_FOUND" : "ACCESS_DENIED", "swap");
      return;
    }
    if (!isRight) {
      expect(answer).to.include({ success: false });
      return;
    }
    const refusal = this.#model.write(principal.subject, [[name, this.#keyOf(written, sessionId, 0)]]);
    this.#compareAnswer(answer, refusal, "swap");
  }

  #transact({ who: at, keys, owner: drawn, isLive }: StepOf<"transact">): void {
    const principal = SUBJECTS[at] as (typeof SUBJECTS)[number];
    const sessionId = this.#idOf(drawn);
    const ended = this.#ids.find((id) => !this.#model.sessions.has(id)) ?? 1;
    const [live = ended] = this.#model.sessions.keys();
    const compared = isLive ? live : ended;
    const success = keys.map((name) => putOf(name, "t", sessionId === undefined ? {} : { sessionId }));
    const conditions = [{ about: "session", sessionId: compared } as const];
    const asked = { kind: "transact", namespace: NAMESPACE, conditions, success, failure: [] } as const;
    const { answer } = this.log.execute(
      { ...asked, conditions: [...conditions] },
      { principal, request: this.#request() },
    );
    if (!this.#model.sessions.has(compared)) {
      expect(answer).to.include({ failedCondition: 0 });
      return;
    }
    const writes = keys.map((name) => [name, this.#keyOf("t", sessionId, 0)] as const);
    this.#compareAnswer(answer, this.#model.write(principal.subject, writes), "transact");
  }

  #delete(name: string): void {
    const asked = { kind: "delete-key", namespace: NAMESPACE, key: Buffer.from(name) } as const;
    const { answer } = this.log.execute({ ...asked, expectedModRevision: undefined, returnPrevious: false });
    if (!this.#model.keys.delete(name)) {
      this.#expectRefusal(answer, "KEY_NOT_FOUND", "delete");
      return;
    }
    this.#model.revision++;
    this.#model.changes.push(`${this.#model.revision} delete ${name}`);
  }

  #touch({ key: name, ttlSeconds }: StepOf<"touch">): void {
    const asked = { kind: "touch-key", namespace: NAMESPACE, key: Buffer.from(name), ttlSeconds } as const;
    const { answer } = this.log.execute({ ...asked, expectedModRevision: undefined });
    const before = this.#model.keys.get(name);
    if (before === undefined) {
      this.#expectRefusal(answer, "KEY_NOT_FOUND", "touch");
      return;
    }
    this.#model.keys.set(name, this.#keyOf(before.value, before.sessionId, ttlSeconds));
  }

  #renew({ who: at, picks }: StepOf<"renew">): void {
    const principal = SUBJECTS[at] as (typeof SUBJECTS)[number];
    const sessionIds = picks.map((one) => this.#idOf(one) ?? 1);
    const outcome = this.log.lead({
      kind: "renew-sessions",
      renewals: [{ principal, namespace: NAMESPACE, sessionIds }],
    });
    const { renewed } = (outcome as { readonly answer: RenewSessionsResult }).answer;
    const wanted = sessionIds.map((sessionId) => {
      const session = this.#model.sessions.get(sessionId);
      if (session?.subject !== principal.subject) {
        this.#seen.add("renew: none");
        return { sessionId, deadlineMs: 0 };
      }
      this.#seen.add("renew: live");
      session.deadlineMs = this.log.tickMs + session.ttlMs;
      return { sessionId, deadlineMs: session.deadlineMs };
    });
    expect(renewed).to.deep.equal([wanted]);
  }

  #end({ who: at, pick: drawn, force, isRetried }: StepOf<"end">): void {
    const principal = SUBJECTS[at] as (typeof SUBJECTS)[number];
    const sessionId = this.#idOf(drawn) ?? 1;
    const asked = { kind: "end-session", namespace: NAMESPACE, sessionId, force } as const;
    const request = this.#request();
    const { answer } = this.log.execute(asked, { principal, request });
    if (isRetried) {
      expect(this.log.execute(asked, { principal, request })).to.deep.include({ replayed: "yes" });
    }
    const session = this.#model.sessions.get(sessionId);
    if (session === undefined) {
      this.#expectRefusal(answer, "SESSION_NOT_FOUND", "end");
      return;
    }
    if (session.subject !== principal.subject && !force) {
      this.#expectRefusal(answer, "ACCESS_DENIED", "end");
      return;
    }
    this.#seen.add(force ? "end: forced" : "end: own");
    const endedObjects = this.#model.end(sessionId, "delete");
    expect(answer).to.include({ kind: "end-session", endedObjects, revision: this.#model.revision });
  }

  /** What is due ends, sessions first; what is named and not due stays. */
  #expire({ countMax, objectsMax, isStale }: StepOf<"expire">): void {
    const { tickMs } = this.log;
    const due = dueSessions(this.log.store, tickMs, countMax, objectsMax);
    const named = isStale ? this.#ids.map((sessionId) => ({ namespace: NAMESPACE, sessionId })) : due;
    this.log.lead({ kind: "expire-sessions", sessions: named });
    for (const { sessionId } of named) {
      const session = this.#model.sessions.get(sessionId);
      if (session !== undefined && session.deadlineMs < tickMs) {
        this.#seen.add(this.#model.end(sessionId, "expire") > 1 ? "expire: several keys" : "expire: few keys");
      } else {
        this.#seen.add("expire: not due");
      }
    }
    const keys = expiredKeys(this.log.store, tickMs, 100);
    this.log.lead({ kind: "expire-keys", keys: [...keys] });
    for (const { key: bytesOf } of keys) {
      const name = decodeText(bytesOf);
      this.#model.keys.delete(name);
      this.#model.revision++;
      this.#model.changes.push(`${this.#model.revision} expire ${name}`);
    }
  }

  #keyOf(written: string, sessionId: number | undefined, ttlSeconds: number): ModelKey {
    return { value: written, sessionId, deadlineMs: ttlSeconds === 0 ? 0 : this.log.tickMs + ttlSeconds * 1_000 };
  }

  /** One of the sessions that there were, or are; without any, one that never was. */
  #idOf(drawn: number | null): number | undefined {
    return drawn === null ? undefined : (this.#ids[drawn % (this.#ids.length || 1)] ?? 1);
  }

  #request() {
    this.#requests++;
    return requestOf(this.#requests);
  }

  #compareAnswer(answer: unknown, refusal: string | null, what: string): void {
    if (refusal !== null) {
      this.#expectRefusal(answer, refusal, what);
    } else {
      this.#seen.add(`${what}: done`);
      expect(answer).not.to.be.instanceOf(CoordinationError);
    }
  }

  #expectRefusal(answer: unknown, reason: string, what: string): void {
    this.#seen.add(`${what}: ${reason}`);
    expect((answer as CoordinationError).reason, what).to.equal(reason);
  }
}

/** A member that has the state after any prefix of the log, and applies the rest, reaches the same state. */
function expectSameAfterRestart({ log, start }: Comparison, drawn: number): void {
  const store = new MemoryStateStore();
  store.write(start.rows);
  const rows = log.rows.slice(start.entries);
  const prefix = drawn % (rows.length + 1);
  applyRows(log.machineOver(store), rows.slice(0, prefix), new Set([3, 7, 20]));
  const restarted = log.machineOver(store);
  applyRows(restarted, rows.slice(prefix));
  expect(restarted.progress).to.deep.equal(log.progress);
  expect(dumpOf(store)).to.deep.equal(log.dump());
}

describe("sessions beside a model", () => {
  it("have the same keys, deadlines, answers and changes, whatever happens, and after restarts", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), fc.nat(), (steps, at) => {
        const comparison = new Comparison(seen);
        comparison.run(steps);
        expectSameAfterRestart(comparison, at);
      }),
      { numRuns: 100, seed: 1 },
    );
    expect([...seen]).to.include.members([
      ...["put: done", "put: QUOTA", "put: SESSION_NOT_FOUND", "put: ACCESS_DENIED", "swap: done"],
      ...["transact: done", "transact: QUOTA", "transact: SESSION_NOT_FOUND", "create: QUOTA", "renew: live"],
      ...["renew: none", "end: own", "end: forced", "end: ACCESS_DENIED", "end: SESSION_NOT_FOUND"],
      ...["expire: several keys", "expire: few keys", "expire: not due"],
    ]);
  });
});
