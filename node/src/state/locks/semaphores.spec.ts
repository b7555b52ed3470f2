import { expect } from "chai";
import {
  ANNA,
  AppliedLock,
  acquireLock,
  answerText,
  BEN,
  createLock,
  createSemaphore,
  expectExactUsage,
  NAMED,
  requestOf,
} from "../../../test/index.ts";
import { type CoordinationError, DEFAULT_STATE_LIMITS, scanHistory } from "../core/index.ts";
import type { AcquireLockResult } from "./lock-commands.ts";
import { describeLock } from "./lock-view.ts";

const WAITING = { waitMs: 60_000 } as const;
const NAME = { namespace: "default", rw: false, name: "l" } as const;

/** The changes of the history: kind, reason, permits, value. */
function changesOf(locks: AppliedLock): string[] {
  const told: string[] = [];
  scanHistory(locks.log.store, 1, locks.log.revision, ({ changes }) => {
    for (const change of changes) {
      if (change.about === "lock") {
        const { kind, reason, permits = 0, value = Buffer.alloc(0) } = change;
        told.push(`${kind} ${reason} ${permits} ${Buffer.from(value)}`.trim());
      }
    }
    return true;
  });
  return told;
}

function update(locks: AppliedLock, permits: number): string {
  return answerText(locks.log.execute({ kind: "update-semaphore", ...NAMED, permits }));
}

describe("a semaphore", () => {
  const semaphore = (permits: number, limits = DEFAULT_STATE_LIMITS) => new AppliedLock({ permits }, limits);
  const heldOf = (locks: AppliedLock) => locks.view.lock.heldPermits;

  it("gives out permits until none are left, each hold with a token of its own", () => {
    const locks = semaphore(3);
    expect([locks.view.state, locks.view.lock.permits, heldOf(locks)]).to.deep.equal(["free", 3, 0]);
    const one = locks.result({ permits: 1 });
    const two = locks.result({ permits: 2 });
    expect([one.permits, one.heldPermits, two.heldPermits, two.state]).to.deep.equal([3, 1, 3, "held"]);
    expect(two.hold).to.include({ permits: 2, mode: "permits" });
    expect(two.hold?.token).to.be.greaterThan(one.hold?.token ?? 0);
    expect(locks.ask({ permits: 1 })).to.equal("not acquired, held");
    expect(locks.releaseHold({ fencingToken: one.hold?.token ?? 0, mode: "permits" })).to.equal("release-lock");
    expect([heldOf(locks), locks.tokens]).to.deep.equal([2, [two.hold?.token]]);
    expect(locks.ask({ permits: 1 })).to.match(/^token/);
    expect(changesOf(locks)).to.deep.equal([
      "acquired normal 1",
      "acquired normal 2",
      "released normal 1",
      "acquired normal 1",
    ]);
    expectExactUsage(locks.log.store);
  });

  it("S29: a large request at the head is not overtaken by small ones; then all that fit are granted together", () => {
    const locks = semaphore(5);
    const first = locks.result({ permits: 3 }).hold?.token ?? 0;
    const second = locks.result({ permits: 1 }).hold?.token ?? 0;
    expect(locks.ask({ permits: 4, ...WAITING }, { principal: ANNA })).to.equal("queued-lock");
    expect(locks.ask({ permits: 1 }, { principal: BEN }), "one is free").to.equal("not acquired, held");
    expect(locks.ask({ permits: 1, ...WAITING }, { principal: BEN })).to.equal("queued-lock");
    expect(locks.ask({ permits: 1, ...WAITING }, { principal: BEN })).to.equal("queued-lock");
    locks.releaseHold({ fencingToken: second });
    expect([locks.settled(), heldOf(locks)]).to.deep.equal([[], 3]);
    locks.releaseHold({ fencingToken: first });
    expect(locks.settled().map((text) => text.slice(0, 8))).to.deep.equal(["1: token", "3: token"]);
    expect([heldOf(locks), locks.view.lock.waitingWriters]).to.deep.equal([5, 1]);
  });

  it("refuses more permits than there are, and waits for what is held", () => {
    const locks = semaphore(3);
    const refusal = locks.log.execute(acquireLock({ mode: "permits", permits: 4, ...WAITING })).answer;
    expect(refusal).to.include({ reason: "BAD_FIELD" });
    expect((refusal as CoordinationError).details.get("field")).to.equal("permits");
    expect((refusal as CoordinationError).message).to.equal(
      'permits must be 1 to 3, which semaphore "default/l" has, not 4',
    );
  });

  it("shares its names with exclusive locks, and neither is the other", () => {
    const locks = semaphore(3);
    expect(answerText(locks.log.execute(createLock()))).to.equal("LOCK_EXISTS");
    expect(answerText(locks.log.execute(createLock({ rw: true })))).to.equal("create-lock");
    expect(answerText(locks.log.execute(createSemaphore()))).to.equal("LOCK_EXISTS");
    expect(locks.ask({ mode: "exclusive" })).to.equal("LOCK_NOT_FOUND");
    expect(() => describeLock(locks.log.store, NAME, false)).to.throw('"default/l" is a semaphore, not a lock');
    const asked = { ...NAMED, fencingToken: 1, owner: "", value: Buffer.from("v") };
    expect(answerText(locks.log.execute({ kind: "set-lock-value", ...asked }))).to.equal("LOCK_NOT_FOUND");
    expect(answerText(locks.log.execute({ kind: "delete-lock", ...NAME, force: false }))).to.equal("LOCK_NOT_FOUND");
    const exclusive = new AppliedLock();
    expect(exclusive.ask({ mode: "permits", permits: 1 })).to.equal("LOCK_NOT_FOUND");
    expect(update(exclusive, 2)).to.equal("LOCK_NOT_FOUND");
    const gone = { kind: "delete-lock", ...NAME, force: false, semaphore: true } as const;
    expect(answerText(exclusive.log.execute(gone))).to.equal("LOCK_NOT_FOUND");
    expect(answerText(locks.log.execute(gone))).to.equal("delete-lock");
  });

  it("renews a hold, which keeps its permits; its end by time gives them to the next", () => {
    const locks = semaphore(2);
    const { token: fencingToken = 0 } = locks.result({ permits: 2, ttlSeconds: 2 }).hold ?? {};
    locks.pass(1_000);
    expect(locks.result({ fencingToken, ttlSeconds: 2 }).hold).to.include({ token: fencingToken, permits: 2 });
    expect(locks.ask({ fencingToken, ttlSeconds: 2 }, { principal: ANNA })).to.equal("NOT_LOCK_HOLDER");
    expect(locks.ask({ fencingToken, permits: 1 })).to.equal("BAD_FIELD");
    expect(locks.ask({ fencingToken, permits: 2, ttlSeconds: 2 })).to.equal(`token ${fencingToken}`);
    locks.ask({ permits: 1, ...WAITING });
    locks.pass(2_000);
    expect(locks.settled()).to.deep.equal([]);
    locks.pass(1);
    expect([locks.settled().length, heldOf(locks)]).to.deep.equal([1, 1]);
    expect(locks.ask({ fencingToken })).to.equal("LOCK_LOST");
  });

  it("gives one hold to all attempts of a request, and undoes it when its caller has left", () => {
    const locks = semaphore(2);
    const first = locks.ask({ permits: 1 }, { request: requestOf(7) });
    expect(locks.ask({ permits: 1 }, { request: requestOf(7) })).to.equal(first);
    expect(heldOf(locks)).to.equal(1);
    locks.cancel(7, 2);
    expect([heldOf(locks), locks.tokens]).to.deep.equal([0, []]);
  });

  it("may have fewer permits than are held: then nothing is granted until enough holds have ended", () => {
    const locks = semaphore(4);
    const tokens = [1, 2, 1].map((permits) => locks.result({ permits }).hold?.token ?? 0);
    locks.ask({ permits: 1, ...WAITING });
    expect(update(locks, 2)).to.equal("update-semaphore");
    expect([locks.view.lock.permits, heldOf(locks)]).to.deep.equal([2, 4]);
    locks.releaseHold({ fencingToken: tokens[0] ?? 0 });
    locks.releaseHold({ fencingToken: tokens[2] ?? 0 });
    expect([locks.settled(), heldOf(locks)]).to.deep.equal([[], 2]);
    expect(update(locks, 3)).to.equal("update-semaphore");
    expect([locks.settled().length, heldOf(locks)]).to.deep.equal([1, 3]);
  });

  it("answers the requests that wait for more permits than there are after a change, and lets in those behind", () => {
    const locks = semaphore(4);
    locks.ask({ permits: 1 });
    locks.ask({ permits: 4, ...WAITING }, { request: requestOf(5) });
    locks.ask({ permits: 1, ...WAITING });
    update(locks, 2);
    expect(locks.settled().map((text) => text.slice(0, 12))).to.deep.equal(["2: BAD_FIELD", "3: token 5"]);
    expect([heldOf(locks), locks.view.lock.waitingWriters]).to.deep.equal([2, 0]);
    update(locks, 6);
    expect(locks.ask({ permits: 4 }, { request: requestOf(5) }), "sent again").to.match(/^token/);
  });

  it("guards writes by each of its live holds", () => {
    const locks = semaphore(2);
    const [one = 0, two = 0] = [1, 2].map(() => locks.result({ permits: 1 }).hold?.token);
    expect([one, two, 0, two + 1].map((token) => locks.isGuarding(token))).to.deep.equal([true, true, false, false]);
    locks.releaseHold({ fencingToken: one });
    expect([one, two].map((token) => locks.isGuarding(token))).to.deep.equal([false, true]);
  });

  it("has no more holds than one answer can list, and shows the first 10", () => {
    const locks = semaphore(50, { ...DEFAULT_STATE_LIMITS, lockReadersMax: 12 });
    const answers = Array.from({ length: 12 }, () => locks.result({ permits: 1 }));
    expect(answers.at(-1)?.holds.length).to.equal(11);
    expect(locks.ask({ permits: 1 })).to.equal("not acquired, held");
    locks.ask({ permits: 1, ...WAITING });
    locks.releaseHold({ fencingToken: locks.tokens[0] ?? 0 });
    expect([locks.settled().length, locks.tokens.length]).to.deep.equal([1, 12]);
  });

  it("is forced from all its holders or from one, and is deleted with them; tokens are never repeated", () => {
    const locks = semaphore(3);
    const tokens = [1, 2, 3].map(() => locks.result({ permits: 1 }).hold?.token ?? 0);
    expect([locks.force(tokens[1]), heldOf(locks)]).to.deep.equal([true, 2]);
    expect([locks.force(), heldOf(locks), locks.view.state]).to.deep.equal([true, 0, "free"]);
    const last = locks.result({ permits: 3 }).hold?.token ?? 0;
    locks.ask({ permits: 1, ...WAITING });
    const command = { kind: "delete-lock", ...NAME, semaphore: true } as const;
    const refusal = locks.log.execute({ ...command, force: false }).answer as CoordinationError;
    expect(refusal.message).to.equal('semaphore "default/l" cannot be deleted, because it has 1 holds and 1 waits');
    expect(answerText(locks.log.execute({ ...command, force: true }))).to.equal("delete-lock");
    expect(locks.settled().map((text) => text.slice(3))).to.deep.equal(["LOCK_NOT_FOUND"]);
    locks.log.result(createSemaphore());
    expect(locks.result({ permits: 1 }).hold?.token).to.be.greaterThan(last);
    expectExactUsage(locks.log.store);
  });

  it("needs a token to be released if more than one hold matches", () => {
    const locks = semaphore(3);
    locks.ask({ permits: 1, owner: "o" });
    locks.ask({ permits: 1, owner: "o" });
    expect(locks.releaseHold({ owner: "o", mode: "permits" })).to.equal("AMBIGUOUS_HOLD");
    expect(locks.releaseHold({ owner: "p", mode: "permits" })).to.equal("NOT_LOCK_HOLDER");
    expect(locks.releaseHold({ fencingToken: locks.tokens[1] ?? 0, mode: "permits" })).to.equal("release-lock");
    expect(locks.releaseHold({ owner: "o", mode: "permits" })).to.equal("release-lock");
  });
});

describe("the value of a hold", () => {
  const value = (text: string) => Buffer.from(text);
  const shownBy = (locks: AppliedLock) => Buffer.from(locks.view.holds[0]?.value ?? []).toString();
  const set = (locks: AppliedLock, fencingToken: number, text: string, owner = "", principal = {}) =>
    answerText(
      locks.log.execute({ kind: "set-lock-value", ...NAMED, fencingToken, owner, value: value(text) }, principal),
    );

  it("is given with the request, also if it waits, and ends with the hold", () => {
    const locks = new AppliedLock();
    const { hold } = locks.result({ value: value("a") });
    expect([Buffer.from(hold?.value ?? []).toString(), shownBy(locks)]).to.deep.equal(["a", "a"]);
    locks.ask({ value: value("b"), ...WAITING }, { principal: ANNA });
    locks.releaseHold();
    expect(shownBy(locks)).to.equal("b");
    locks.releaseHold({}, { principal: ANNA });
    expect(locks.result().hold).to.not.have.property("value");
    expect(changesOf(locks)).to.deep.equal([
      "acquired normal 0 a",
      "released normal 0 a",
      "acquired normal 0 b",
      "released normal 0 b",
      "acquired normal 0",
    ]);
    expectExactUsage(locks.log.store);
  });

  it("is changed by its holder alone, at a revision of its own, and stays through renewals", () => {
    const locks = new AppliedLock();
    const { token = 0 } = locks.result({ owner: "o", value: value("a") }).hold ?? {};
    const { revision } = locks.log;
    expect(set(locks, token, "longer")).to.equal("set-lock-value");
    expect([shownBy(locks), locks.log.revision]).to.deep.equal(["longer", revision + 1]);
    expectExactUsage(locks.log.store);
    expect(set(locks, token, "b", "p")).to.equal("NOT_LOCK_HOLDER");
    expect(set(locks, token, "b", "", { principal: BEN })).to.equal("NOT_LOCK_HOLDER");
    expect(set(locks, token + 1, "b")).to.equal("LOCK_LOST");
    const renewed = locks.log.execute(acquireLock({ fencingToken: token, ttlSeconds: 9 })).answer as AcquireLockResult;
    expect(Buffer.from(renewed.hold?.value ?? []).toString()).to.equal("longer");
    expect(locks.ask({ fencingToken: token, value: value("x") })).to.equal("BAD_FIELD");
    expect(set(locks, token, "", "o")).to.equal("set-lock-value");
    expect(locks.view.holds[0]).to.not.have.property("value");
    expectExactUsage(locks.log.store);
    locks.releaseHold({ owner: "o" });
    expect(changesOf(locks)).to.deep.equal([
      "acquired normal 0 a",
      "acquired updated 0 longer",
      "acquired updated 0",
      "released normal 0",
    ]);
    expectExactUsage(locks.log.store);
  });
});
