import { expect } from "chai";
import fc from "fast-check";
import {
  AppliedLog,
  applyRows,
  claimText,
  dumpOf,
  expectExactReplays,
  expectExactUsage,
  FOUNDING,
  LockModel,
  lockKey,
  MemoryStateStore,
  type ModelEvent,
  type ModelHold,
  type ModelRequest,
  machineOver,
  OWNER,
  Refused,
  requestOf,
  stepOf,
} from "../../../test/index.ts";
import { readUser, writeUser } from "../accounts/index.ts";
import {
  type Claim,
  CoordinationError,
  DEFAULT_STATE_LIMITS,
  type LockName,
  type Outcome,
  scanHistory,
  Transaction,
} from "../core/index.ts";
import { checkGuard } from "./guards.ts";
import type { AcquireLock } from "./lock-commands.ts";
import { dueLockTimers, visitWaits } from "./lock-rows.ts";
import { describeLock } from "./lock-view.ts";

/** Few, so that operations conflict. */
const LOCKS: readonly LockName[] = [
  { namespace: "default", rw: false, name: "l" },
  { namespace: "default", rw: true, name: "l" },
  { namespace: "default", rw: true, name: "__proto__" },
  { namespace: "default", rw: false, name: "s" },
];
const SUBJECTS = [OWNER.subject, "user-anna", "user-ben"];
const OWNERS = ["", "o", "p"];
const LIMITS = { ...DEFAULT_STATE_LIMITS, lockWaitsMax: 6, lockReadersMax: 3 };
const WINDOW_MS = LIMITS.replayWindowMs;
const DELAY_SECONDS = 2;

/** Ten runs of this seed have every kind of answer. Some kinds are so rare that twenty runs of another seed may not. */
const COVERING_SEED = 1;

const PERMITS = 3;
/** The name that is first that of a semaphore. */
const SEMAPHORE = "s";

const pick = fc.nat({ max: 1_000 });
const subject = fc.constantFrom(...SUBJECTS);
const lock = fc.constantFrom(...LOCKS);
const owner = fc.constantFrom(...OWNERS);
const isRead = fc.boolean();
const ttlSeconds = fc.constantFrom(0, 1, 2, 5, 400);
const permits = fc.integer({ min: 1, max: 4 });
const value = fc.constantFrom(undefined, Uint8Array.of(1), Uint8Array.of(2, 3));
/** Whether it is a request for the other of the two kinds of lock that share names. */
const isOther = fc.nat({ max: 12 }).map((at) => at === 0);
const waitMs = fc.constantFrom(0, 300, 2_500, 60_000);

const operation = fc.oneof(
  stepOf(3, "create", { lock, isSemaphore: fc.boolean() }),
  stepOf(14, "acquire", { lock, subject, owner, isRead, ttlSeconds, waitMs, permits, value, isOther }),
  stepOf(5, "change", { lock, subject, owner, isRead, ttlSeconds, pick, permits, value }),
  stepOf(2, "update", { lock, permits }),
  stepOf(2, "set-value", { lock, subject, owner, pick }),
  stepOf(4, "retry", { pick }),
  stepOf(7, "release", {
    lock,
    subject,
    owner,
    pick,
    byToken: fc.boolean(),
    mode: fc.constantFrom(null, "read" as const, "write" as const, "permits" as const),
  }),
  stepOf(1, "force", { lock, pick, byToken: fc.boolean() }),
  stepOf(1, "delete", { lock, force: fc.boolean(), isOther }),
  stepOf(3, "cancel", { pick, isNewest: fc.boolean() }),
  stepOf(5, "pass", { ms: fc.integer({ min: 1, max: 1_500 }) }),
  stepOf(1, "long-pass", {}),
  stepOf(1, "prune", {}),
  stepOf(1, "restart", { rows: fc.constantFrom(0, 2, 100) }),
  stepOf(1, "disable", { subject, disabled: fc.boolean() }),
  stepOf(3, "guard", { lock, pick }),
);
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;
type OperationOf<Kind> = Extract<Operation, { readonly kind: Kind }>;

const ALIKE = { lock: LOCKS[1] as LockName, subject: OWNER.subject, owner: "o" };
const READ: Operation = {
  kind: "acquire",
  ...ALIKE,
  isRead: true,
  ttlSeconds: 1,
  waitMs: 0,
  permits: 1,
  value: undefined,
  isOther: false,
};
/** A case that random operations seldom reach: a release that matches two holds. */
const AMBIGUOUS: readonly Operation[] = [
  ...[READ, READ],
  { kind: "release", ...ALIKE, pick: 0, byToken: false, mode: null },
];

/** The state machine's answer, in the words of the model. */
function wordsOf({ answer }: Outcome): string {
  if (answer instanceof CoordinationError) {
    return answer.reason;
  }
  switch (answer.kind) {
    case "acquire-lock": {
      const { hold, holds, state, queueLength, waitedMs, tickMs, revision } = answer;
      const all = holds.map((one) => `${one.token} ${claimText(one)} ${one.owner} ${one.deadlineMs}`).join(", ");
      const what = hold === null ? "not acquired" : `acquired ${hold.token} for ${hold.ttlSeconds}`;
      return `${what} [${all}] ${state} ${queueLength} ${waitedMs} ${tickMs} ${revision}`;
    }
    case "release-lock":
    case "update-semaphore":
    case "set-lock-value":
    case "delete-lock":
      return `${answer.kind} ${answer.revision}`;
    case "force-release-lock":
      return `force-release-lock ${answer.previous?.token ?? "none"} ${answer.revision}`;
    default:
      return answer.kind;
  }
}

class Comparison {
  readonly log = new AppliedLog(LIMITS);
  readonly model = new LockModel({ ...LIMITS, lockDelaySeconds: DELAY_SECONDS, ttlSeconds: 30 });
  readonly #seen: Set<string>;
  readonly #requests: ModelRequest[] = [];
  #attempts = 0;

  constructor(seen: Set<string>) {
    this.#seen = seen;
    for (const who of SUBJECTS) {
      this.#writeUser(who, false);
    }
  }

  run(operations: readonly Operation[]): void {
    for (const each of operations) {
      this.#step(each);
      expect(this.log.revision).to.equal(this.model.revision);
      const settled = this.log.settled.splice(0).map(({ attempt, outcome }) => `${attempt.seq}: ${wordsOf(outcome)}`);
      expect(settled).to.deep.equal(this.model.settled.splice(0));
      for (const text of settled) {
        this.#note("settled", text.slice(text.indexOf(" ") + 1));
      }
    }
    expectExactUsage(this.log.store);
    expectExactReplays(this.log.store);
    this.#compareEvents();
    this.#compareContent();
    this.#compareRestarts();
  }

  /** The rows are those of the model, and the counters count them. */
  #compareContent(): void {
    let timers = 0;
    let holds = 0;
    let waiting = 0;
    for (const found of this.model.locks.values()) {
      const view = describeLock(this.log.store, found.name);
      const textOf = (hold: Pick<ModelHold, "token" | "mode" | "deadlineMs">) =>
        `${hold.token} ${claimText(hold)} ${hold.deadlineMs}`;
      expect(view.holds.map(textOf)).to.deep.equal(found.holds.map(textOf));
      const held = found.holds.reduce((sum, hold) => sum + (hold.permits ?? 0), 0);
      expect([view.lock.permits, view.lock.heldPermits]).to.deep.equal([found.permits, held]);
      const waits: number[] = [];
      visitWaits(this.log.store, view.lock, ({ deadlineMs }) => waits.push(deadlineMs) > 0);
      expect(waits).to.deep.equal(found.queue.map(({ deadlineMs }) => deadlineMs));
      expect([view.state, view.lock.delayUntilMs]).to.deep.equal([this.model.stateOf(found), found.delayUntilMs]);
      holds += view.holds.length;
      waiting += waits.length;
      timers += view.holds.length + waits.length + (found.delayUntilMs === 0 ? 0 : 1);
    }
    const { lockTimers, totals } = this.log.progress;
    expect([lockTimers, totals.lockHolds, totals.lockWaits]).to.deep.equal([timers, holds, waiting]);
  }

  /** Watchers get exactly the beginnings and ends of holds, in order and at their revisions. */
  #compareEvents(): void {
    const told: ModelEvent[] = [];
    scanHistory(this.log.store, 1, this.log.revision, ({ revision, changes }) => {
      for (const change of changes) {
        if (change.about === "lock") {
          told.push({ ...change, revision });
        }
      }
      return true;
    });
    expect(told).to.deep.equal(this.model.events);
    for (const { kind, reason } of told) {
      this.#seen.add(`event: ${kind} ${reason}`);
    }
  }

  /** A member that restarts after any prefix of the log reaches the same state. */
  #compareRestarts(): void {
    // Users were changed beside the log, so only a log without disabled users can be applied again.
    const { rows } = this.log;
    if (this.#wasDisabled) {
      return;
    }
    // A different one in each run.
    const prefix = 1 + (this.log.progress.digest % rows.length);
    const store = new MemoryStateStore();
    applyRows(machineOver(store, LIMITS), rows.slice(0, 1));
    copyUsers(this.log.store, store);
    applyRows(machineOver(store, LIMITS), rows.slice(1, prefix), new Set([3, 7, 20]));
    const restarted = machineOver(store, LIMITS);
    applyRows(restarted, rows.slice(prefix));
    expect(restarted.progress).to.deep.equal(this.log.progress);
    expect(dumpOf(store)).to.deep.equal(this.log.dump());
  }

  #wasDisabled = false;

  #step(each: Operation): void {
    switch (each.kind) {
      case "create":
        this.#create(each);
        return;
      case "acquire":
        this.#acquire(each);
        return;
      case "change":
        this.#change(each);
        return;
      case "retry":
        this.#retry(each);
        return;
      case "release":
        this.#release(each);
        return;
      case "force":
        this.#force(each);
        return;
      case "delete":
        this.#delete(each);
        return;
      case "update":
        this.#update(each);
        return;
      case "set-value":
        this.#setValue(each);
        return;
      case "cancel":
        this.#cancel(each);
        return;
      case "pass":
        this.#pass(each.ms);
        return;
      case "long-pass":
        this.#pass(WINDOW_MS / 3);
        return;
      case "prune":
        this.log.lead({ kind: "drop-replays" });
        return;
      case "restart":
        this.log.restart(each.rows);
        return;
      case "disable":
        this.#writeUser(each.subject, each.disabled);
        this.#wasDisabled ||= each.disabled;
        return;
      case "guard":
        this.#guard(each);
        return;
    }
  }

  #note(what: string, words: string): void {
    this.#seen.add(`${what}: ${/^(not acquired|[a-zA-Z_-]+)/.exec(words)?.[0]}`);
  }

  #create({ lock: name, isSemaphore }: OperationOf<"create">): void {
    const permitsOf = isSemaphore && !name.rw ? PERMITS : 0;
    const kept = { ttlSeconds: 30, lockDelaySeconds: DELAY_SECONDS };
    if (this.model.disabled.has(OWNER.subject)) {
      return;
    }
    const { namespace, name: lockName } = name;
    const { answer } = this.log.execute(
      permitsOf > 0
        ? { kind: "create-semaphore", namespace, name: lockName, permits: PERMITS, ttlSeconds: 30 }
        : { kind: "create-lock", ...name, ...kept },
    );
    if (this.model.locks.has(lockKey(name))) {
      expect(answer).to.include({ reason: "LOCK_EXISTS" });
      return;
    }
    this.model.revision++;
    const kind = permitsOf > 0 ? "create-semaphore" : "create-lock";
    expect(answer).to.include({ kind, revision: this.model.revision });
    this.model.locks.set(lockKey(name), { name, permits: permitsOf, holds: [], queue: [], delayUntilMs: 0 });
  }

  #acquire({ lock: name, subject: who, isRead: reads, ...rest }: OperationOf<"acquire">): void {
    const { owner: whose, ttlSeconds: seconds, waitMs: wait } = rest;
    const asked: AcquireLock = {
      kind: "acquire-lock",
      namespace: name.namespace,
      name: name.name,
      ...this.#claimOf(name, reads, rest, rest.isOther),
      ttlSeconds: seconds,
      owner: whose,
      waitMs: wait,
      fencingToken: 0,
    };
    this.#send("acquire", this.#newRequest(who, asked));
  }

  #change({ lock: name, subject: who, owner: whose, isRead: reads, ...rest }: OperationOf<"change">): void {
    const hold = this.#someHold(name, rest.pick);
    const asked: AcquireLock = {
      kind: "acquire-lock",
      namespace: name.namespace,
      name: name.name,
      ...this.#changeOf(name, reads, rest),
      ttlSeconds: rest.ttlSeconds,
      owner: whose,
      waitMs: 0,
      fencingToken: hold?.token ?? 1,
    };
    // Mostly by the holder, sometimes by any user.
    this.#send("change", this.#newRequest(rest.pick % 4 === 0 ? who : (hold?.subject ?? who), asked));
  }

  #isSemaphore(name: LockName): boolean {
    return (this.model.locks.get(lockKey(name))?.permits ?? 0) > 0;
  }

  #claimOf(
    name: LockName,
    reads: boolean,
    { permits: asked, value: shown }: Pick<OperationOf<"acquire">, "permits" | "value">,
    other: boolean,
  ): Claim {
    if (name.rw) {
      return { mode: reads ? "read" : "write" };
    }
    if (this.#isSemaphore(name) !== other) {
      return { mode: "permits", permits: asked };
    }
    return { mode: "exclusive", ...(shown !== undefined && { value: shown }) };
  }

  /** A renewal mostly has a mode alone. */
  #changeOf(name: LockName, reads: boolean, rest: Pick<OperationOf<"change">, "pick" | "permits" | "value">): Claim {
    const claim = this.#claimOf(name, reads, rest, false);
    return rest.pick % 5 === 0 ? claim : { mode: claim.mode };
  }

  #update({ lock: name, permits: asked }: OperationOf<"update">): void {
    const { namespace, name: lockName } = name;
    if (name.rw) {
      return;
    }
    const outcome = this.log.execute({ kind: "update-semaphore", namespace, name: lockName, permits: asked });
    const words = this.#byModel(OWNER.subject, () => this.model.update(name, asked));
    expect(wordsOf(outcome)).to.equal(words);
    this.#note("update", words);
  }

  #setValue({ lock: name, subject: who, owner: anyOwner, pick: at }: OperationOf<"set-value">): void {
    if (name.rw) {
      return;
    }
    const { namespace, name: lockName } = name;
    const hold = this.#someHold(name, at);
    const asked = {
      subject: at % 4 === 0 ? who : (hold?.subject ?? who),
      owner: at % 3 === 0 ? anyOwner : "",
      token: hold?.token ?? 1,
    };
    const shown = Uint8Array.of(at % 256);
    const { owner: label, token: fencingToken } = asked;
    const principal = { subject: asked.subject, apiKeyId: "" };
    const command = { kind: "set-lock-value", namespace, name: lockName, fencingToken, owner: label } as const;
    const outcome = this.log.execute({ ...command, value: shown }, { principal });
    const words = this.#byModel(asked.subject, () => this.model.setValue(name, asked, shown));
    expect(wordsOf(outcome)).to.equal(words);
    this.#note("set value", words);
  }

  #retry({ pick: at }: OperationOf<"retry">): void {
    const request = this.#recent(at);
    if (request !== undefined) {
      this.#send("retry", request);
    }
  }

  #newRequest(who: string, asked: AcquireLock): ModelRequest {
    const request: ModelRequest = {
      id: this.#requests.length + 1,
      subject: who,
      operation: asked,
      status: "new",
      reason: "",
      token: 0,
      attempt: 0,
      sinceMs: 0,
    };
    this.#requests.push(request);
    return request;
  }

  #recent(at: number): ModelRequest | undefined {
    return this.#requests.at(-1 - (at % 20));
  }

  #send(what: string, request: ModelRequest): void {
    this.#attempts++;
    this.log.origin = { memberId: 1, boot: 1, seq: this.#attempts };
    const principal = { subject: request.subject, apiKeyId: "" };
    const outcome = this.log.execute(request.operation, { principal, request: requestOf(request.id) });
    const words = this.model.send(request, this.#attempts);
    expect(wordsOf(outcome), JSON.stringify(request)).to.equal(words);
    this.#note(what, words);
  }

  #release({ lock: name, subject: who, owner: anyOwner, mode, byToken, pick: at }: OperationOf<"release">): void {
    const hold = this.#someHold(name, at);
    // Mostly the holder names its hold correctly.
    const whose = at % 2 === 0 ? (hold?.owner ?? anyOwner) : anyOwner;
    const subjectOf = at % 4 === 0 ? who : (hold?.subject ?? who);
    const token = byToken ? (hold?.token ?? 1) : 0;
    const command = {
      kind: "release-lock",
      ...name,
      mode: at % 3 === 0 ? mode : null,
      owner: whose,
      fencingToken: token,
    };
    const principal = { subject: subjectOf, apiKeyId: "" };
    const outcome = this.log.execute(command as Parameters<AppliedLog["execute"]>[0], { principal });
    const words = this.#byModel(subjectOf, () => {
      return this.model.release(name, { subject: subjectOf, owner: whose, mode: command.mode, token });
    });
    expect(wordsOf(outcome)).to.equal(words);
    this.#note("release", words);
  }

  #force({ lock: name, pick: at, byToken }: OperationOf<"force">): void {
    const token = byToken ? (this.#someHold(name, at)?.token ?? 1) : 0;
    const outcome = this.log.execute({ kind: "force-release-lock", ...name, fencingToken: token, reason: "" });
    const words = this.#byModel(OWNER.subject, () => this.model.force(name, token));
    expect(wordsOf(outcome)).to.equal(words);
    this.#note("force", words);
  }

  #delete({ lock: name, force, isOther: other }: OperationOf<"delete">): void {
    const isSemaphore = this.#isSemaphore(name) !== other;
    const outcome = this.log.execute({ kind: "delete-lock", ...name, force, ...(isSemaphore && { semaphore: true }) });
    const words = this.#byModel(OWNER.subject, () => this.model.delete(name, force, isSemaphore));
    expect(wordsOf(outcome)).to.equal(words);
    this.#note(force ? "delete with force" : "delete", words);
  }

  #byModel(who: string, act: () => string): string {
    if (this.model.disabled.has(who)) {
      return "TOKEN_REVOKED";
    }
    try {
      return act();
    } catch (error) {
      if (error instanceof Refused) {
        return error.message;
      }
      throw error;
    }
  }

  #cancel({ pick: at, isNewest }: OperationOf<"cancel">): void {
    const request = this.#recent(at);
    if (request === undefined || request.operation.fencingToken !== 0) {
      return;
    }
    const seq = isNewest ? request.attempt : request.attempt + 1;
    const { requestId } = requestOf(request.id);
    const attempt = { memberId: 1, boot: 1, seq };
    this.log.lead({ kind: "cancel-acquisition", subject: request.subject, requestId, attempt });
    this.model.cancel(request, seq);
  }

  /** Lets time pass, and proposes the due timers as a leader does. */
  #pass(ms: number): void {
    this.log.tickMs += ms;
    this.model.tickMs += ms;
    for (;;) {
      const timers = dueLockTimers(this.log.store, this.log.tickMs, 1);
      const [due] = this.model.due();
      expect(timers.length).to.equal(due === undefined ? 0 : 1);
      if (due === undefined) {
        return;
      }
      this.log.lead({ kind: "expire-locks", timers });
      due.end();
    }
  }

  #guard({ lock: name, pick: at }: OperationOf<"guard">): void {
    const token = at % 5 === 0 ? this.model.revision - (at % 7) : (this.#someHold(name, at)?.token ?? 1);
    const held = this.model.locks
      .get(lockKey(name))
      ?.holds.some((hold) => hold.token === token && hold.mode !== "read");
    let isLive = true;
    try {
      checkGuard(this.log.store, name.namespace, { lockName: name.name, fencingToken: token, rw: name.rw });
    } catch (error) {
      expect(error).to.be.instanceOf(CoordinationError).and.to.include({ reason: "FENCED" });
      isLive = false;
    }
    expect(isLive).to.equal(held ?? false);
    this.#seen.add(`guard: ${isLive}`);
  }

  #someHold(name: LockName, at: number): ModelHold | undefined {
    const holds = this.model.locks.get(lockKey(name))?.holds ?? [];
    return holds[at % Math.max(1, holds.length)];
  }

  #writeUser(who: string, disabled: boolean): void {
    const before = readUser(this.log.store, OWNER.subject);
    if (before === undefined) {
      throw new Error("there is no owner");
    }
    const transaction = new Transaction(this.log.store, (previous) => previous, 0);
    const email = who === OWNER.subject ? FOUNDING.owner.email : `${who}@quoin.local`;
    writeUser(transaction, { ...before, userId: who, email, status: disabled ? "disabled" : "active" });
    this.log.store.write(transaction.take());
    if (disabled) {
      this.model.disabled.add(who);
    } else {
      this.model.disabled.delete(who);
    }
  }
}

/** Users are written outside the log. */
function copyUsers(from: MemoryStateStore, to: MemoryStateStore): void {
  for (const who of SUBJECTS) {
    const user = readUser(from, who);
    if (user !== undefined) {
      const transaction = new Transaction(to, (previous) => previous, 0);
      writeUser(transaction, { ...user, status: "active" });
      to.write(transaction.take());
    }
  }
}

describe("locks beside a model in arrays", () => {
  const operations = fc.array(operation, { minLength: 500, maxLength: 500 });

  /** Compares the locks with the model over random operations, and returns the kinds of answers that occurred. */
  function compare(parameters: { readonly seed?: number; readonly numRuns: number }): ReadonlySet<string> {
    const seen = new Set<string>();
    fc.assert(
      fc.property(operations, fc.boolean(), (script, mayDisable) => {
        const created = LOCKS.slice(1).map((name) => ({
          kind: "create" as const,
          lock: name,
          isSemaphore: name.name === SEMAPHORE,
        }));
        const chosen = script.filter(({ kind }) => mayDisable || kind !== "disable");
        new Comparison(seen).run([...created, ...AMBIGUOUS, ...chosen]);
      }),
      parameters,
    );
    return seen;
  }

  it("S22 to S29: have the same answers, queues and holds over 10,000 random operations", () => {
    compare({ numRuns: 20 });
  });

  it("have the same ones over fixed operations, which have every kind of answer", () => {
    const seen = compare({ seed: COVERING_SEED, numRuns: 10 });
    // Without these cases, agreement would mean little.
    expect([...seen]).to.include.members([
      ...["acquired", "not acquired", "queued-lock", "QUOTA", "TOKEN_REVOKED"].map((words) => `acquire: ${words}`),
      ...["acquired", "LOCK_LOST", "NOT_LOCK_HOLDER", "UPGRADE_WOULD_DEADLOCK"].map((words) => `change: ${words}`),
      ...["acquired", "not acquired", "queued-lock", "LOCK_LOST"].map((words) => `retry: ${words}`),
      ...["acquired", "not acquired", "TOKEN_REVOKED", "LEADER_CHANGED"].map((words) => `settled: ${words}`),
      ...["release-lock", "NOT_LOCK_HOLDER", "AMBIGUOUS_HOLD"].map((words) => `release: ${words}`),
      ...["normal", "downgraded", "upgraded", "updated"].map((reason) => `event: acquired ${reason}`),
      ...["normal", "expired", "forced", "upgraded"].map((reason) => `event: released ${reason}`),
      ...["delete-lock", "NOT_EMPTY", "LOCK_NOT_FOUND"].map((words) => `delete: ${words}`),
      ...["acquire: BAD_FIELD", "change: BAD_FIELD", "settled: BAD_FIELD", "update: update-semaphore"],
      ...["set-lock-value", "LOCK_LOST", "NOT_LOCK_HOLDER", "LOCK_NOT_FOUND"].map((words) => `set value: ${words}`),
      ...["delete with force: delete-lock", "settled: LOCK_NOT_FOUND", "retry: LOCK_NOT_FOUND"],
      ...["force: force-release-lock", "acquire: LOCK_NOT_FOUND", "guard: true", "guard: false"],
    ]);
  });
});
