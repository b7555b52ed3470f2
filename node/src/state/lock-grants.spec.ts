import { expect } from "chai";
import { ANNA, AppliedLock, BEN, OWNER, requestOf } from "../../test/index.ts";
import type { LockChange } from "./changes.ts";
import { scanHistory } from "./history.ts";

/** What the history says of holds, one line for each revision. */
function eventsOf({ log }: AppliedLock): string[] {
  const lines: string[] = [];
  scanHistory(log.store, 1, log.revision, ({ revision, changes }) => {
    const told = changes.filter((change): change is LockChange => change.about === "lock");
    const texts = told.map(({ kind, owner, mode, token, reason }) => `${kind} ${token} ${mode} ${owner} ${reason}`);
    lines.push([revision, texts.join(", ")].join(": "));
    return true;
  });
  return lines;
}

describe("what is told of holds", () => {
  it("is each beginning and each end, at the revision that it takes, and nothing of what changed none", () => {
    const locks = new AppliedLock();
    const request = requestOf(1);
    const token = locks.result({ owner: "o" }, { request }).hold?.token ?? 0;
    const first = token;
    // A retry, a refusal, a renewal and a wait begin no hold. The renewal has a revision, of which nothing is told.
    locks.ask({ owner: "o" }, { request });
    locks.ask({ owner: "p" });
    locks.ask({ owner: "o", fencingToken: token });
    expect(locks.ask({ owner: "w", waitMs: 60_000 }, { principal: ANNA })).to.equal("queued-lock");
    expect(locks.giveBack({ owner: "x" })).to.equal("NOT_LOCK_HOLDER");
    expect(eventsOf(locks)).to.deep.equal([`${first}: acquired ${first} exclusive o normal`]);
    locks.giveBack({ owner: "o" });
    expect(eventsOf(locks).slice(1)).to.deep.equal([
      `${first + 2}: released ${first} exclusive o normal`,
      `${first + 3}: acquired ${first + 3} exclusive w normal`,
    ]);
  });

  it("says that a hold expired, and that nobody has the lock while its delay runs", () => {
    const locks = new AppliedLock({ ttlSeconds: 5, lockDelaySeconds: 2 });
    const token = locks.result({ owner: "o" }).hold?.token ?? 0;
    locks.ask({ owner: "w", waitMs: 60_000 });
    locks.pass(5_001);
    expect(eventsOf(locks).slice(1)).to.deep.equal([`${token + 1}: released ${token} exclusive o expired`]);
    locks.pass(2_001);
    expect(eventsOf(locks).slice(2)).to.deep.equal([`${token + 2}: acquired ${token + 2} exclusive w normal`]);
  });

  it("says of all readers that a force took away at once, at one revision and in the order of their grants", () => {
    const locks = new AppliedLock({ rw: true });
    const tokens = ["a", "b", "c"].map((owner) => locks.result({ owner, mode: "read" }).hold?.token ?? 0);
    expect(locks.force(tokens[1])).to.equal(true);
    expect(locks.force()).to.equal(true);
    expect(locks.force(), "nothing is there to end").to.equal(false);
    const [a = 0, b = 0, c = 0] = tokens;
    expect(eventsOf(locks).slice(3)).to.deep.equal([
      `${c + 1}: released ${b} read b forced`,
      `${c + 2}: released ${a} read a forced, released ${c} read c forced`,
    ]);
  });

  it("is one beginning as a reader, with the same token, when a writer steps down, and then the readers' turn", () => {
    const locks = new AppliedLock({ rw: true });
    const token = locks.result({ owner: "o" }).hold?.token ?? 0;
    locks.ask({ owner: "r", mode: "read", waitMs: 60_000 }, { principal: BEN });
    locks.ask({ owner: "o", mode: "read", fencingToken: token });
    expect(eventsOf(locks).slice(1)).to.deep.equal([
      `${token + 1}: acquired ${token} read o downgraded`,
      `${token + 2}: acquired ${token + 2} read r normal`,
    ]);
  });

  it("is an end and a beginning, in this order and at one revision, when a reader becomes a writer", () => {
    const locks = new AppliedLock({ rw: true });
    const token = locks.result({ owner: "o", mode: "read" }).hold?.token ?? 0;
    locks.ask({ owner: "o", mode: "write", fencingToken: token });
    expect(eventsOf(locks).slice(1)).to.deep.equal([
      `${token + 1}: released ${token} read o upgraded, acquired ${token + 1} write o upgraded`,
    ]);
  });

  it("S25: includes a grant whose caller was gone, and its end", () => {
    const locks = new AppliedLock();
    const token = locks.result({ owner: "o" }).hold?.token ?? 0;
    locks.ask({ owner: "w", waitMs: 60_000 }, { request: requestOf(7) });
    const { seq } = locks;
    locks.giveBack({ owner: "o" });
    locks.cancel(7, seq);
    locks.cancel(7, seq);
    expect(eventsOf(locks).slice(2)).to.deep.equal([
      `${token + 2}: acquired ${token + 2} exclusive w normal`,
      `${token + 3}: released ${token + 2} exclusive w normal`,
    ]);
  });

  it("names the subject as the owner of a hold that has no other", () => {
    const locks = new AppliedLock();
    const token = locks.result().hold?.token ?? 0;
    expect(eventsOf(locks)).to.deep.equal([`${token}: acquired ${token} exclusive ${OWNER.subject} normal`]);
  });
});
