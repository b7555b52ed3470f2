import { expect } from "chai";
import {
  ANNA,
  AppliedLock,
  AppliedLog,
  acquireLock,
  addUser,
  answerText,
  BEN,
  createLock,
  NAMED,
  OWNER,
  releaseLock,
  requestOf,
} from "../../../test/index.ts";
import { DEFAULT_STATE_LIMITS, generationMs, scanHistory } from "../core/index.ts";
import type { AcquireLockResult } from "./lock-commands.ts";
import { dueLockTimers } from "./lock-rows.ts";
import { describeLock } from "./lock-view.ts";

const WINDOW_MS = DEFAULT_STATE_LIMITS.replayWindowMs;

describe("a lock", () => {
  it("is created once, free, at its own revision; the names of both kinds are separate", () => {
    const log = new AppliedLog();
    const revision = log.revision + 1;
    expect(log.result<"create-lock">(createLock())).to.deep.equal({
      kind: "create-lock",
      createdAtMs: log.wallMs,
      revision,
    });
    expect(log.refusal(createLock({ ttlSeconds: 5 })).reason).to.equal("LOCK_EXISTS");
    expect(log.result<"create-lock">(createLock({ rw: true })).revision).to.equal(revision + 1);
    const { lock, state, holds } = describeLock(log.store, { ...NAMED, rw: false });
    expect([state, holds, lock.lastToken, lock.ttlSeconds]).to.deep.equal(["free", [], 0, 30]);
  });

  it("must exist, in a namespace that does", () => {
    const log = new AppliedLog();
    const force = { kind: "force-release-lock", ...NAMED, rw: false, fencingToken: 0, reason: "" } as const;
    const deletion = { kind: "delete-lock", ...NAMED, rw: false, force: true } as const;
    for (const operation of [acquireLock(), acquireLock({ fencingToken: 7 }), releaseLock(), force, deletion]) {
      expect(log.refusal(operation).reason).to.equal("LOCK_NOT_FOUND");
      expect(log.refusal({ ...operation, namespace: "none" }).reason).to.equal("NAMESPACE_NOT_FOUND");
    }
    expect(log.refusal(createLock({ namespace: "none" })).reason).to.equal("NAMESPACE_NOT_FOUND");
  });

  it("S28: does not repeat a token after its deletion, and a former token guards nothing", () => {
    const locks = new AppliedLock();
    const { log } = locks;
    const request = requestOf(1);
    const token = locks.result({}, { request }).hold?.token ?? 0;
    locks.releaseHold();
    const deletion = { kind: "delete-lock", ...NAMED, rw: false, force: false } as const;
    const deleted = log.execute(deletion, { request: requestOf(2) });
    expect(deleted.answer).to.deep.equal({ kind: "delete-lock", revision: log.revision });
    expect(log.refusal(deletion).reason).to.equal("LOCK_NOT_FOUND");
    expect(log.execute(deletion, { request: requestOf(2) })).to.deep.equal({ ...deleted, replayed: "yes" });
    expect(locks.isGuarding(token)).to.equal(false);
    expect(locks.ask({}, { request }), "a retry of the former request").to.equal("LOCK_LOST");
    log.result(createLock());
    expect(locks.ask({}, { request }), "the same after the new creation").to.equal("LOCK_LOST");
    expect(locks.view.lock.lastToken).to.equal(0);
    expect(locks.result().hold?.token).to.be.above(token);
    expect(locks.isGuarding(token)).to.equal(false);
  });

  it("is deleted with its holds, waits and delay only by force; then nothing of it is left", () => {
    const rows = (log: AppliedLog) => log.dump().filter((row) => /^[hijlo]/.test(row));
    for (const rw of [false, true]) {
      const locks = new AppliedLock({ rw, lockDelaySeconds: 10 });
      const { log } = locks;
      const deletion = { kind: "delete-lock", ...NAMED, rw } as const;
      const hold = locks.result({}, { request: requestOf(1) }).hold?.token ?? 0;
      locks.ask({ waitMs: 60_000 }, { principal: ANNA, request: requestOf(2) });
      locks.ask({ waitMs: 60_000 }, { principal: BEN, request: requestOf(3) });
      const refusal = log.refusal({ ...deletion, force: false });
      expect([refusal.reason, ...refusal.details]).to.deep.equal(["NOT_EMPTY", ["holds", "1"], ["waits", "2"]]);
      const { revision } = log.result<"delete-lock">({ ...deletion, force: true });
      const changes: object[] = [];
      scanHistory(log.store, revision, log.revision, (entry) => changes.push(...entry.changes) > 0);
      expect(changes).to.have.lengthOf(1);
      expect(changes[0]).to.include({ kind: "released", reason: "forced", token: hold });
      expect(locks.settled()).to.deep.equal([`${locks.seq - 1}: LOCK_NOT_FOUND`, `${locks.seq}: LOCK_NOT_FOUND`]);
      expect(locks.ask({ waitMs: 60_000 }, { principal: ANNA, request: requestOf(2) })).to.equal("LOCK_NOT_FOUND");
      expect(rows(log)).to.deep.equal([]);
      locks.cancel(1, 1);
      locks.pass(100_000);
      log.result(createLock({ rw, lockDelaySeconds: 10 }));
      locks.result();
      expect(locks.force()).to.equal(true);
      expect(locks.view.state).to.equal("cooldown");
      expect(log.refusal({ ...deletion, force: false }).message).to.include("its delay has not ended");
      log.result({ ...deletion, force: true });
      expect(rows(log)).to.deep.equal([]);
    }
  });

  it("S19: may have any name, and differs from a lock whose name it is a prefix of", () => {
    const log = new AppliedLog();
    const names = ["__proto__", "constructor", "a", "a\0", "a\0b", "\0", "é"];
    for (const name of names) {
      log.result<"create-lock">(createLock({ name }));
    }
    for (const name of names) {
      const { hold } = log.result<"acquire-lock">(acquireLock({ name }));
      expect(describeLock(log.store, { ...NAMED, rw: false, name }).holds).to.deep.equal([hold]);
    }
  });

  it("has one holder, whose token is the revision of the grant", () => {
    const locks = new AppliedLock();
    const revision = locks.log.revision + 1;
    const { log } = locks;
    const request = requestOf(1);
    const hold = {
      token: revision,
      owner: OWNER.subject,
      subject: OWNER.subject,
      requestId: request.requestId,
      mode: "exclusive",
      ttlSeconds: 30,
      acquiredAtMs: log.wallMs,
      deadlineMs: log.tickMs + 30_000,
    };
    expect(locks.result({}, { request })).to.deep.equal({
      kind: "acquire-lock",
      hold,
      holds: [hold],
      state: "held",
      queueLength: 0,
      waitedMs: 0,
      tickMs: log.tickMs,
      revision,
    });
    expect(locks.ask({}, { principal: ANNA })).to.equal("not acquired, held");
    expect(log.revision, "no visible change").to.equal(revision);
    expect(locks.result({}, { principal: ANNA }).holds).to.deep.equal([hold]);
  });

  it("S28: gives tokens that only grow, for all of its holds", () => {
    const locks = new AppliedLock();
    let last = 0;
    for (let round = 0; round < 5; round++) {
      const token = locks.result().hold?.token ?? 0;
      expect(token).to.be.above(last);
      last = token;
      expect(locks.view.lock.lastToken).to.equal(token);
      expect(locks.releaseHold()).to.equal("release-lock");
      expect(locks.isGuarding(token)).to.equal(false);
    }
    expect(locks.view.state).to.equal("free");
  });

  it("S27: is not entered twice by the same subject and owner", () => {
    const locks = new AppliedLock();
    locks.ask({ owner: "o" });
    expect(locks.ask({ owner: "o" })).to.equal("not acquired, held");
    expect(locks.ask({ owner: "o", waitMs: 1_000 })).to.equal("queued-lock");
    expect(locks.view.lock.waitingWriters).to.equal(1);
  });

  it("S26: is released by its holder only, by token or by name; else nothing changes", () => {
    const locks = new AppliedLock();
    const token = locks.result({ owner: "o" }, { principal: ANNA }).hold?.token ?? 0;
    const { revision } = locks.log;
    for (const [changes, principal] of [
      [{}, ANNA],
      [{ owner: "p" }, ANNA],
      [{ owner: "o" }, BEN],
      [{ fencingToken: token }, BEN],
      [{ fencingToken: token, owner: "p" }, ANNA],
      [{ fencingToken: token - 1 }, ANNA],
      [{ fencingToken: token + 1, owner: "o" }, ANNA],
    ] as const) {
      expect(locks.releaseHold(changes, { principal }), JSON.stringify(changes)).to.equal("NOT_LOCK_HOLDER");
    }
    expect([locks.tokens, locks.log.revision]).to.deep.equal([[token], revision]);
    expect(locks.releaseHold({ fencingToken: token }, { principal: ANNA })).to.equal("release-lock");
    expect(locks.releaseHold({ fencingToken: token }, { principal: ANNA })).to.equal("NOT_LOCK_HOLDER");
    locks.ask({ owner: "o" }, { principal: ANNA });
    expect(locks.releaseHold({ owner: "o" }, { principal: ANNA })).to.equal("release-lock");
  });

  it("S26: is renewed by token, from that moment on, by its holder only", () => {
    const locks = new AppliedLock();
    const token = locks.result({ owner: "o" }, { principal: ANNA }).hold?.token ?? 0;
    locks.pass(20_000);
    const { revision } = locks.log;
    const renewed = locks.result({ fencingToken: token, ttlSeconds: 40 }, { principal: ANNA });
    expect(renewed.hold).to.include({ token, ttlSeconds: 40, deadlineMs: locks.log.tickMs + 40_000 });
    expect([renewed.revision, locks.log.revision], "a visible change").to.deep.equal([revision + 1, revision + 1]);
    expect(locks.result({ fencingToken: token }, { principal: ANNA }).hold?.ttlSeconds, "the lock's own").to.equal(30);
    for (const [changes, principal, reason] of [
      [{ fencingToken: token }, BEN, "NOT_LOCK_HOLDER"],
      [{ fencingToken: token, owner: "p" }, ANNA, "NOT_LOCK_HOLDER"],
      [{ fencingToken: token - 1 }, ANNA, "LOCK_LOST"],
      [{ fencingToken: token + 1 }, ANNA, "LOCK_LOST"],
    ] as const) {
      expect(locks.ask(changes, { principal })).to.equal(reason);
    }
    locks.pass(30_001);
    expect(locks.ask({ fencingToken: token }, { principal: ANNA })).to.equal("LOCK_LOST");
  });

  it("S21, S22: expires when its deadline has passed, not before, and not if it was renewed meanwhile", () => {
    const locks = new AppliedLock({ ttlSeconds: 2 });
    const { token = 0 } = locks.result().hold ?? {};
    locks.pass(2_000);
    expect(locks.tokens, "ticks are rounded down").to.deep.equal([token]);
    locks.log.tickMs++;
    const timers = dueLockTimers(locks.log.store, locks.log.tickMs, 10);
    expect(timers).to.deep.equal([{ about: "hold", lock: { ...NAMED, rw: false }, number: token }]);
    locks.ask({ fencingToken: token });
    locks.log.lead({ kind: "expire-locks", timers });
    expect(locks.tokens).to.deep.equal([token]);
    const { revision } = locks.log;
    locks.pass(2_001);
    expect([locks.tokens, locks.view.state, locks.log.revision]).to.deep.equal([[], "free", revision + 1]);
    locks.log.lead({ kind: "expire-locks", timers });
    expect(locks.log.revision, "no hold is left to expire").to.equal(revision + 1);
  });

  it("S21, S22: does not end at the very tick of a deadline, whichever member names it, and neither does a wait", () => {
    const locks = new AppliedLock({ ttlSeconds: 2 });
    const { token = 0 } = locks.result().hold ?? {};
    locks.ask({ waitMs: 2_000 });
    const lock = { ...NAMED, rw: false };
    const position = locks.log.rows.length;
    locks.log.tickMs += 2_000;
    const timers = [
      { about: "wait", lock, number: position },
      { about: "hold", lock, number: token },
    ] as const;
    locks.log.lead({ kind: "expire-locks", timers });
    expect([locks.tokens, locks.settled()]).to.deep.equal([[token], []]);
    locks.log.tickMs++;
    locks.log.lead({ kind: "expire-locks", timers });
    expect([locks.tokens, locks.settled()]).to.deep.equal([[], ["1: not acquired, held"]]);
  });

  it("S22: an old expiry does not touch the next hold", () => {
    const locks = new AppliedLock({ ttlSeconds: 2 });
    locks.ask();
    locks.log.tickMs += 2_001;
    const timers = dueLockTimers(locks.log.store, locks.log.tickMs, 10);
    locks.releaseHold();
    const next = locks.result({}, { principal: ANNA }).hold?.token;
    locks.log.tickMs += 2_001;
    locks.log.lead({ kind: "expire-locks", timers });
    expect(locks.tokens).to.deep.equal([next]);
  });

  it("can be forced by any caller with the right, for any holder, and with a token only for that hold", () => {
    const locks = new AppliedLock();
    expect(locks.force(), "the lock is free").to.equal(false);
    const { token = 0 } = locks.result({}, { principal: ANNA }).hold ?? {};
    const { revision } = locks.log;
    expect([locks.force(token - 1), locks.force(token + 1), locks.log.revision]).to.deep.equal([
      false,
      false,
      revision,
    ]);
    expect([locks.force(token), locks.view.state]).to.deep.equal([true, "free"]);
    expect(locks.ask({ fencingToken: token }, { principal: ANNA })).to.equal("LOCK_LOST");
  });

  it("needs admin access to be forced, and write access for everything else", () => {
    const locks = new AppliedLock();
    addUser(locks.log, ANNA, { role: "member" });
    const force = { kind: "force-release-lock", ...NAMED, rw: false, fencingToken: 0, reason: "" } as const;
    expect(locks.log.refusal(force, { principal: ANNA }).reason).to.equal("ACCESS_DENIED");
    expect(locks.ask({}, { principal: ANNA })).to.match(/^token/);
    addUser(locks.log, ANNA, { role: "viewer" });
    expect(locks.releaseHold({}, { principal: ANNA })).to.equal("ACCESS_DENIED");
  });
});

describe("the delay of a lock", () => {
  it("passes after an expired hold before the next grant, for waiting and for new callers", () => {
    const locks = new AppliedLock({ ttlSeconds: 2, lockDelaySeconds: 5 });
    locks.ask();
    expect(locks.ask({ waitMs: 60_000 }, { principal: ANNA })).to.equal("queued-lock");
    locks.pass(2_001);
    expect([locks.view.state, locks.settled()]).to.deep.equal(["cooldown", []]);
    expect(locks.ask({}, { principal: BEN })).to.equal("not acquired, cooldown");
    locks.pass(5_000);
    expect(locks.view.state, "ticks are rounded down").to.equal("cooldown");
    locks.pass(1);
    expect([locks.view.state, locks.settled()]).to.deep.equal(["held", [`2: token ${locks.tokens[0]}`]]);
  });

  it("passes after a forced hold, and ends also without waiters", () => {
    const locks = new AppliedLock({ lockDelaySeconds: 5 });
    locks.ask();
    locks.force();
    expect(locks.view.state).to.equal("cooldown");
    locks.pass(5_001);
    expect([locks.view.state, locks.log.progress.lockTimers]).to.deep.equal(["free", 0]);
    expect(locks.ask()).to.match(/^token/);
  });

  it("does not follow a release", () => {
    const locks = new AppliedLock({ lockDelaySeconds: 5 });
    locks.ask();
    locks.releaseHold();
    expect(locks.view.state).to.equal("free");
  });
});

describe("waiting for a lock", () => {
  it("is first come, first served: a release grants it at once, at the next revision", () => {
    const locks = new AppliedLock();
    locks.ask();
    expect(locks.ask({ waitMs: 9_000 }, { principal: ANNA })).to.equal("queued-lock");
    locks.log.tickMs += 700;
    expect(locks.ask({ waitMs: 9_000, ttlSeconds: 7, owner: "o" }, { principal: BEN })).to.equal("queued-lock");
    expect(locks.ask({}, { principal: BEN }), "a caller that does not wait gets nothing").to.equal(
      "not acquired, held",
    );
    locks.log.tickMs += 300;
    const { revision } = locks.log.result<"release-lock">(releaseLock());
    const [first] = locks.log.settled;
    expect(first?.outcome.answer).to.deep.include({ waitedMs: 1_000, queueLength: 1, revision: revision + 1 });
    expect(locks.settled()).to.deep.equal([`2: token ${revision + 1}`]);
    locks.releaseHold({}, { principal: ANNA });
    const [second] = locks.log.settled;
    const { log } = locks;
    expect(second?.outcome.answer).to.deep.include({ waitedMs: 300, queueLength: 0 });
    expect(locks.view.holds[0]).to.include({ owner: "o", subject: BEN.subject, deadlineMs: log.tickMs + 7_000 });
  });

  it("ends without the lock when its time is up, which is no error", () => {
    const locks = new AppliedLock();
    locks.ask();
    locks.ask({ waitMs: 500 }, { principal: ANNA });
    locks.pass(500);
    expect(locks.settled()).to.deep.equal([]);
    locks.pass(1);
    const [{ outcome } = { outcome: undefined }] = locks.log.settled;
    expect(outcome?.answer).to.deep.include({ hold: null, waitedMs: 501, queueLength: 0, state: "held" });
    expect(locks.settled()).to.deep.equal(["2: not acquired, held"]);
    locks.releaseHold();
    expect(locks.view.state).to.equal("free");
  });

  it("S25: is cancelled by its newest attempt only", () => {
    const locks = new AppliedLock();
    locks.ask();
    locks.ask({ waitMs: 9_000 }, { request: requestOf(1), principal: ANNA, seq: 10 });
    locks.ask({ waitMs: 9_000 }, { request: requestOf(1), principal: ANNA, seq: 11 });
    locks.cancel(1, 10, ANNA);
    expect(locks.view.lock.waitingWriters, "an older one").to.equal(1);
    locks.cancel(1, 11, BEN);
    expect(locks.view.lock.waitingWriters, "another subject").to.equal(1);
    locks.cancel(1, 11, ANNA);
    expect(locks.view.lock.waitingWriters).to.equal(0);
    locks.cancel(1, 11, ANNA);
    locks.releaseHold();
    expect(locks.view.state).to.equal("free");
  });

  it("S25: a cancel after the grant releases the lock, without a delay", () => {
    const locks = new AppliedLock({ lockDelaySeconds: 5 });
    locks.ask();
    locks.ask({ waitMs: 9_000 }, { request: requestOf(1), principal: ANNA, seq: 10 });
    locks.ask({ waitMs: 9_000 }, { principal: BEN });
    locks.releaseHold();
    expect(locks.view.holds[0]?.subject).to.equal(ANNA.subject);
    const { revision } = locks.log;
    locks.cancel(1, 10, ANNA);
    expect(locks.view.holds[0]).to.include({ subject: BEN.subject, token: revision + 2 });
    locks.cancel(1, 10, ANNA);
    expect(locks.log.revision, "once").to.equal(revision + 2);
  });

  it("S25: releases a lock that was granted at once as well", () => {
    const locks = new AppliedLock();
    locks.ask({}, { request: requestOf(1), seq: 10 });
    locks.cancel(1, 10);
    expect(locks.view.state).to.equal("free");
  });

  it("drops a waiter that has lost its rights, with that refusal, and continues with the next", () => {
    const locks = new AppliedLock();
    locks.ask();
    locks.ask({ waitMs: 9_000 }, { request: requestOf(1), principal: ANNA });
    locks.ask({ waitMs: 9_000 }, { principal: BEN });
    addUser(locks.log, ANNA, { status: "disabled" });
    locks.releaseHold();
    expect(locks.settled()).to.deep.equal(["2: TOKEN_REVOKED", `3: token ${locks.tokens[0]}`].sort());
    addUser(locks.log, ANNA);
    expect(locks.ask({}, { request: requestOf(1), principal: ANNA }), "the refusal is not stored").to.equal(
      "not acquired, held",
    );
  });

  it("is refused when too many wait already", () => {
    const locks = new AppliedLock({}, { ...DEFAULT_STATE_LIMITS, lockWaitsMax: 2 });
    locks.ask();
    expect([1, 2, 3].map(() => locks.ask({ waitMs: 9_000 }))).to.deep.equal(["queued-lock", "queued-lock", "QUOTA"]);
  });

  it("refused for lack of space, leaves everything as it was; releases need no space", () => {
    const before = new AppliedLock();
    const { dataBytes } = before.log.progress;
    const locks = new AppliedLock({}, { ...DEFAULT_STATE_LIMITS, dataBytesMax: dataBytes + 1_100 });
    expect(locks.ask()).to.match(/^token/);
    expect(locks.ask({ waitMs: 9_000, owner: "o".repeat(250), name: "l" })).to.equal("queued-lock");
    for (let wait = 0; wait < 3; wait++) {
      locks.ask({ waitMs: 9_000, owner: "o".repeat(250) });
    }
    expect(locks.ask({ waitMs: 9_000, owner: "o".repeat(250) })).to.equal("QUOTA");
    expect(locks.log.refusal(createLock({ name: "other" })).reason).to.equal("QUOTA");
    expect(locks.releaseHold()).to.equal("release-lock");
  });
});

describe("a request for a lock that is sent again (S24)", () => {
  it("while it is queued keeps its place, and its newest attempt is answered", () => {
    const locks = new AppliedLock();
    locks.ask();
    locks.ask({ waitMs: 9_000 }, { request: requestOf(1), principal: ANNA, seq: 10 });
    locks.ask({ waitMs: 9_000 }, { principal: BEN });
    locks.log.tickMs += 5_000;
    expect(locks.ask({ waitMs: 9_000 }, { request: requestOf(1), principal: ANNA, seq: 11 })).to.equal("queued-lock");
    expect(locks.settled(), "the older one").to.deep.equal(["10: LEADER_CHANGED"]);
    expect(locks.view.lock.waitingWriters).to.equal(2);
    locks.pass(4_500);
    expect(locks.settled(), "Ben's time is up, Anna's started again").to.deep.equal(["3: not acquired, held"]);
    locks.releaseHold();
    const [{ outcome } = { outcome: undefined }] = locks.log.settled;
    expect(outcome?.answer).to.include({ waitedMs: 4_500 });
    expect(locks.settled()).to.deep.equal([`11: token ${locks.tokens[0]}`]);
  });

  it("while its hold is live gets the same token, with the remaining time; never a second hold", () => {
    const locks = new AppliedLock();
    const first = locks.result({}, { request: requestOf(1) });
    locks.log.tickMs += 10_000;
    const again = locks.log.execute(acquireLock(), { request: requestOf(1) });
    expect(again.replayed).to.equal("yes");
    const { revision } = locks.log;
    expect(again.answer).to.deep.equal({ ...first, tickMs: first.tickMs + 10_000, waitedMs: 0, revision });
    expect(locks.tokens).to.have.length(1);
  });

  it("after its hold ended gets LOCK_LOST, however it ended, and takes no other", () => {
    const losses: readonly ((locks: AppliedLock) => void)[] = [
      (locks) => locks.releaseHold(),
      (locks) => locks.force(),
      (locks) => locks.pass(30_001),
    ];
    for (const lose of losses) {
      const locks = new AppliedLock();
      locks.ask({}, { request: requestOf(1) });
      lose(locks);
      for (let round = 0; round < 2; round++) {
        const again = locks.log.execute(acquireLock(), { request: requestOf(1) });
        expect([answerText(again), again.replayed]).to.deep.equal(["LOCK_LOST", "yes"]);
      }
      expect(locks.view.state).to.equal("free");
    }
  });

  it("after it was cancelled is queued again at the tail, or granted", () => {
    const locks = new AppliedLock();
    locks.ask();
    locks.ask({ waitMs: 9_000 }, { request: requestOf(1), principal: ANNA, seq: 10 });
    locks.ask({ waitMs: 9_000 }, { principal: BEN });
    locks.cancel(1, 10, ANNA);
    expect(locks.ask({ waitMs: 9_000 }, { request: requestOf(1), principal: ANNA })).to.equal("queued-lock");
    locks.releaseHold();
    expect(locks.view.holds[0]?.subject).to.equal(BEN.subject);
    locks.cancel(1, locks.seq, ANNA);
    locks.releaseHold({}, { principal: BEN });
    expect(locks.ask({ waitMs: 9_000 }, { request: requestOf(1), principal: ANNA })).to.match(/^token/);
  });

  it("after it was answered without a hold gets that answer again, also if the lock is free by now", () => {
    const locks = new AppliedLock();
    locks.ask();
    expect(locks.ask({}, { request: requestOf(1) })).to.equal("not acquired, held");
    locks.ask({ waitMs: 500 }, { request: requestOf(2) });
    locks.pass(501);
    locks.releaseHold();
    for (const [id, waitMs] of [
      [1, 0],
      [2, 500],
    ] as const) {
      const again = locks.log.execute(acquireLock({ waitMs }), { request: requestOf(id) });
      expect([answerText(again), again.replayed]).to.deep.equal(["not acquired, free", "yes"]);
    }
  });

  it("with another payload is refused, whatever its state", () => {
    const locks = new AppliedLock();
    const reused = () => answerText(locks.log.execute(acquireLock(), { request: requestOf(1, 100) }));
    locks.ask({ waitMs: 9_000 }, { request: requestOf(1), seq: 10 });
    expect(reused(), "held").to.equal("REQUEST_ID_REUSED");
    locks.cancel(1, 10);
    expect(reused(), "cancelled").to.equal("REQUEST_ID_REUSED");
    expect(locks.releaseHold({}, { request: requestOf(1, 100) }), "of another kind").to.equal("REQUEST_ID_REUSED");
  });

  it("stores refusals, and a repeated renewal returns the remaining time, or that the hold is lost", () => {
    const locks = new AppliedLock();
    expect(locks.ask({ fencingToken: 9 }, { request: requestOf(1) })).to.equal("LOCK_LOST");
    const { token = 0 } = locks.result().hold ?? {};
    const renew = () =>
      locks.log.execute(acquireLock({ fencingToken: token, ttlSeconds: 20 }), { request: requestOf(2) });
    const first = renew().answer as AcquireLockResult;
    locks.log.tickMs += 5_000;
    const again = renew();
    expect([again.replayed, (again.answer as AcquireLockResult).hold]).to.deep.equal(["yes", first.hold]);
    locks.releaseHold();
    expect(answerText(renew())).to.equal("LOCK_LOST");
  });

  it("is known while it waits or its hold lives, and one window longer", () => {
    const locks = new AppliedLock({ ttlSeconds: 86_400 });
    const prune = () => locks.log.lead({ kind: "drop-replays" });
    locks.ask({}, { request: requestOf(1) });
    locks.ask({ waitMs: 10 * WINDOW_MS }, { request: requestOf(2) });
    locks.pass(3 * WINDOW_MS);
    prune();
    expect(locks.ask({}, { request: requestOf(1) })).to.equal(`token ${locks.tokens[0]}`);
    expect(locks.ask({ waitMs: 10 * WINDOW_MS }, { request: requestOf(2) })).to.equal("queued-lock");
    expect(locks.view.lock.waitingWriters).to.equal(1);
    locks.releaseHold();
    locks.releaseHold();
    locks.log.tickMs += WINDOW_MS;
    prune();
    expect(locks.ask({}, { request: requestOf(1) })).to.equal("LOCK_LOST");
    locks.log.tickMs++;
    prune();
    expect(locks.ask({}, { request: requestOf(1) })).to.match(/^token/);
  });

  it("leaves nothing behind after its end and its window", () => {
    const locks = new AppliedLock({ rw: true, lockDelaySeconds: 1 });
    const { dataBytes } = locks.log.progress;
    locks.log.tickMs += WINDOW_MS + generationMs(WINDOW_MS);
    locks.log.lead({ kind: "drop-replays" });
    const bare = locks.log.progress;
    for (let round = 0; round < 3; round++) {
      const { token = 0 } = locks.result({ mode: "read", owner: "o" }).hold ?? {};
      locks.ask({ fencingToken: token, mode: "write", ttlSeconds: 5 });
      locks.ask({ waitMs: 500 });
      locks.ask({ waitMs: 50_000, mode: "read" }, { request: requestOf(round), seq: 1_000 + round });
      locks.cancel(round, 1_000 + round);
      locks.ask({ waitMs: 50_000, mode: "read" });
      locks.pass(6_000);
      locks.pass(2_000);
      locks.force();
      locks.pass(2_000);
    }
    locks.log.tickMs += WINDOW_MS + generationMs(WINDOW_MS);
    locks.log.lead({ kind: "drop-replays" });
    const { progress } = locks.log;
    expect(bare.dataBytes).to.be.below(dataBytes);
    expect([progress.dataBytes, progress.lockTimers, progress.storedAnswers]).to.deep.equal([bare.dataBytes, 0, 0]);
    expect(locks.view.state).to.equal("free");
    const rows = locks.log.dump().filter((row) => /^[hij]/.test(row));
    expect(rows, "no hold, timer or wait").to.deep.equal([]);
  });
});
