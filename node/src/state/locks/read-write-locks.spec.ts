import { expect } from "chai";
import { ANNA, AppliedLock, acquireLock, answerText, BEN, NAMED, requestOf } from "../../../test/index.ts";
import { DEFAULT_STATE_LIMITS } from "../core/index.ts";
import type { AcquireLockResult, CreateLock } from "./lock-commands.ts";

describe("a read-write lock", () => {
  const rw = (lock: Partial<CreateLock> = {}, limits = DEFAULT_STATE_LIMITS) =>
    new AppliedLock({ rw: true, ...lock }, limits);
  const READ = { mode: "read" } as const;
  const WAITING = { waitMs: 60_000 } as const;

  it("is held by many readers, each with its own token, or by one writer", () => {
    const locks = rw();
    const tokens = [1, 2, 3].map(() => locks.result(READ).hold?.token);
    expect([locks.tokens, locks.view.state]).to.deep.equal([tokens, "read-held"]);
    expect(new Set(tokens).size).to.equal(3);
    expect(locks.ask()).to.equal("not acquired, read-held");
    for (const fencingToken of tokens) {
      expect(locks.releaseHold({ fencingToken: fencingToken ?? 0 })).to.equal("release-lock");
    }
    const { token = 0 } = locks.result().hold ?? {};
    expect([locks.ask(), locks.ask(READ)]).to.deep.equal(Array(2).fill("not acquired, write-held"));
    expect(locks.isGuarding(token)).to.equal(true);
  });

  it("shows the first 10 holds and that of the caller in an answer, so many readers make it no longer", () => {
    const locks = rw();
    const shown = (answer: AcquireLockResult) => answer.holds.map(({ token }) => token);
    const answers = Array.from({ length: 12 }, () => locks.result(READ));
    const { tokens } = locks;
    expect(tokens, "the description has all").to.have.length(12);
    expect(shown(answers[9] as AcquireLockResult)).to.deep.equal(tokens.slice(0, 10));
    expect(shown(answers[11] as AcquireLockResult)).to.deep.equal([...tokens.slice(0, 10), tokens[11]]);
    expect(shown(locks.result())).to.deep.equal(tokens.slice(0, 10));
  });

  it("is not a guard for the token of a reader", () => {
    const locks = rw();
    expect(locks.isGuarding(locks.result(READ).hold?.token ?? 0)).to.equal(false);
    expect(locks.isGuarding(0)).to.equal(false);
  });

  it("S29: no reader overtakes a waiting writer; a run of readers at the head is granted together", () => {
    const locks = rw();
    locks.ask(READ);
    expect(locks.ask(WAITING, { principal: ANNA })).to.equal("queued-lock");
    expect(locks.ask(READ, { principal: BEN })).to.equal("not acquired, read-held");
    expect(locks.ask({ ...READ, ...WAITING })).to.equal("queued-lock");
    expect(locks.ask({ ...READ, ...WAITING })).to.equal("queued-lock");
    expect(locks.ask({ ...WAITING }, { principal: BEN })).to.equal("queued-lock");
    expect(locks.view.lock).to.include({ waitingReaders: 2, waitingWriters: 2 });
    locks.releaseHold();
    expect(locks.settled()).to.deep.equal([`2: token ${locks.tokens[0]}`]);
    locks.releaseHold({}, { principal: ANNA });
    const [one, other] = locks.tokens;
    expect(locks.log.settled.map(({ outcome }) => (outcome.answer as AcquireLockResult).holds.length)).to.deep.equal([
      2, 2,
    ]);
    expect(locks.settled()).to.deep.equal([`4: token ${one}`, `5: token ${other}`]);
    expect([locks.view.state, locks.view.lock.waitingWriters]).to.deep.equal(["read-held", 1]);
  });

  it("S29: a writer at the head that is cancelled, or whose time is up, wakes the readers behind it", () => {
    for (const end of [(locks: AppliedLock) => locks.cancel(7, 2), (locks: AppliedLock) => locks.pass(501)]) {
      const locks = rw();
      locks.ask(READ);
      locks.ask({ waitMs: 500 }, { request: requestOf(7) });
      locks.ask({ ...READ, ...WAITING });
      end(locks);
      expect(locks.tokens).to.have.length(2);
      expect(locks.settled().at(-1)).to.equal(`3: token ${locks.tokens[1]}`);
    }
  });

  it("S29: the death of a reader frees its own hold only", () => {
    const locks = rw();
    locks.ask({ ...READ, ttlSeconds: 2 });
    const { token } = locks.result({ ...READ, ttlSeconds: 50 }).hold ?? {};
    locks.ask(WAITING);
    locks.pass(2_001);
    expect([locks.tokens, locks.settled()]).to.deep.equal([[token], []]);
    expect(locks.releaseHold()).to.equal("release-lock");
    expect(locks.settled()).to.have.length(1);
  });

  it("is downgraded at once: the token stays, and the readers at the head are granted", () => {
    const locks = rw();
    const { token = 0 } = locks.result().hold ?? {};
    locks.ask({ ...READ, ...WAITING }, { principal: ANNA });
    locks.ask(WAITING, { principal: BEN });
    const { revision } = locks.log;
    const answer = locks.result({ ...READ, fencingToken: token });
    expect(answer.hold).to.include({ token, mode: "read" });
    // As it was at its own revision, before that of the grant.
    expect(answer).to.include({ state: "read-held", queueLength: 2, revision: revision + 1 });
    expect(answer.holds.map((hold) => hold.token)).to.deep.equal([token]);
    expect(locks.tokens).to.deep.equal([token, revision + 2]);
    expect(locks.view.lock.waitingReaders + locks.view.lock.waitingWriters).to.equal(1);
    expect(locks.isGuarding(token)).to.equal(false);
  });

  it("is upgraded by its only reader if there is no waiter, with a new token; else its hold stays as it is", () => {
    const locks = rw();
    const { token = 0 } = locks.result(READ, { request: requestOf(1) }).hold ?? {};
    const other = locks.result(READ, { principal: ANNA }).hold?.token ?? 0;
    const before = locks.view;
    expect(locks.ask({ fencingToken: token })).to.equal("UPGRADE_WOULD_DEADLOCK");
    expect(locks.ask({ fencingToken: other }, { principal: ANNA })).to.equal("UPGRADE_WOULD_DEADLOCK");
    expect(locks.view).to.deep.equal(before);
    locks.releaseHold({}, { principal: ANNA });
    locks.ask({ waitMs: 500 }, { principal: ANNA });
    expect(locks.ask({ fencingToken: token }), "there is a waiter").to.equal("UPGRADE_WOULD_DEADLOCK");
    locks.pass(501);
    const { revision } = locks.log;
    const upgrade = () =>
      locks.log.execute(acquireLock({ mode: "write", fencingToken: token }), { request: requestOf(2) });
    const first = upgrade();
    expect(answerText(first)).to.equal(`token ${revision + 1}`);
    expect(locks.view.holds).to.deep.equal([(first.answer as AcquireLockResult).hold]);
    expect([locks.isGuarding(revision + 1), locks.isGuarding(token)]).to.deep.equal([true, false]);
    expect(answerText(upgrade()), "sent again").to.equal(`token ${revision + 1}`);
    expect(locks.ask(READ, { request: requestOf(1) }), "the reading hold is gone").to.equal("LOCK_LOST");
  });

  it("grants only reads beside live readers during its delay, and nothing without live readers", () => {
    const locks = rw({ lockDelaySeconds: 5 });
    const { token = 0 } = locks.result({ ...READ, ttlSeconds: 80 }).hold ?? {};
    locks.ask({ ...READ, ttlSeconds: 2 });
    locks.pass(2_001);
    expect(locks.view.state).to.equal("read-held");
    expect(locks.ask(READ)).to.match(/^token/);
    expect(locks.ask({ fencingToken: token })).to.equal("UPGRADE_WOULD_DEADLOCK");
    for (const fencingToken of locks.tokens) {
      locks.releaseHold({ fencingToken });
    }
    expect([locks.ask(), locks.ask(READ)]).to.deep.equal(Array(2).fill("not acquired, cooldown"));
    expect([locks.ask(WAITING), locks.ask({ ...READ, ...WAITING })]).to.deep.equal(Array(2).fill("queued-lock"));
    locks.pass(3_000);
    expect(locks.settled()).to.deep.equal([]);
    locks.pass(2_001);
    expect(locks.view).to.deep.include({ state: "write-held" });
  });

  it("needs a token to be released if more than one hold matches", () => {
    const locks = rw();
    locks.ask({ ...READ, owner: "o" });
    const { token = 0 } = locks.result({ ...READ, owner: "o" }).hold ?? {};
    locks.ask({ ...READ, owner: "p" });
    expect(locks.releaseHold({ owner: "o" })).to.equal("AMBIGUOUS_HOLD");
    expect(locks.releaseHold({ owner: "o", mode: "write" })).to.equal("NOT_LOCK_HOLDER");
    expect(locks.releaseHold({ fencingToken: token, mode: "write" })).to.equal("NOT_LOCK_HOLDER");
    expect(locks.releaseHold({ fencingToken: token, mode: "read" })).to.equal("release-lock");
    expect(locks.releaseHold({ owner: "o", mode: "read" })).to.equal("release-lock");
    expect(locks.releaseHold({ owner: "p" })).to.equal("release-lock");
  });

  it("is forced from all its readers, and returns the one that was granted first; or from the one with the token", () => {
    const locks = rw();
    const [first = 0, second = 0, third = 0] = [1, 2, 3].map(() => locks.result(READ).hold?.token);
    expect([locks.force(second), locks.tokens]).to.deep.equal([true, [first, third]]);
    const command = { kind: "force-release-lock", ...NAMED, rw: true, fencingToken: 0, reason: "spec" } as const;
    const { revision } = locks.log;
    const forced = locks.log.result<"force-release-lock">(command, { request: requestOf(1) });
    expect([forced.previous?.token, forced.revision, locks.tokens]).to.deep.equal([first, revision + 1, []]);
    expect(locks.log.execute(command, { request: requestOf(1) })).to.deep.equal({ answer: forced, replayed: "yes" });
  });

  it("has no more readers than one answer can list", () => {
    const locks = rw({}, { ...DEFAULT_STATE_LIMITS, lockReadersMax: 2 });
    locks.ask(READ);
    locks.ask(READ);
    expect(locks.ask(READ)).to.equal("not acquired, read-held");
    expect(locks.ask({ ...READ, ...WAITING })).to.equal("queued-lock");
    locks.releaseHold({ fencingToken: locks.tokens[0] ?? 0 });
    expect(locks.settled()).to.have.length(1);
    expect(locks.tokens).to.have.length(2);
  });
});
