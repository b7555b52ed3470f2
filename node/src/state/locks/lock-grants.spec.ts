import { expect } from "chai";
import { ANNA, AppliedLock, BEN, OWNER, requestOf } from "../../../test/index.ts";
import { type LockChange, scanHistory } from "../core/index.ts";

/** The holds in the history, one line for each revision. */
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

describe("changes of holds", () => {
  it("are each beginning and each end, at their revisions, and nothing else", () => {
    const locks = new AppliedLock();
    const request = requestOf(1);
    const token = locks.result({ owner: "o" }, { request }).hold?.token ?? 0;
    const first = token;
    // A retry, a refusal, a renewal and a wait begin no hold. The renewal has a revision, but no change for watchers.
    locks.ask({ owner: "o" }, { request });
    locks.ask({ owner: "p" });
    locks.ask({ owner: "o", fencingToken: token });
    expect(locks.ask({ owner: "w", waitMs: 60_000 }, { principal: ANNA })).to.equal("queued-lock");
    expect(locks.releaseHold({ owner: "x" })).to.equal("NOT_LOCK_HOLDER");
    expect(eventsOf(locks)).to.deep.equal([`${first}: acquired ${first} exclusive o normal`]);
    locks.releaseHold({ owner: "o" });
    expect(eventsOf(locks).slice(1)).to.deep.equal([
      `${first + 2}: released ${first} exclusive o normal`,
      `${first + 3}: acquired ${first + 3} exclusive w normal`,
    ]);
  });

  it("show that a hold expired, and that no caller has the lock while its delay runs", () => {
    const locks = new AppliedLock({ ttlSeconds: 5, lockDelaySeconds: 2 });
    const token = locks.result({ owner: "o" }).hold?.token ?? 0;
    locks.ask({ owner: "w", waitMs: 60_000 });
    locks.pass(5_001);
    expect(eventsOf(locks).slice(1)).to.deep.equal([`${token + 1}: released ${token} exclusive o expired`]);
    locks.pass(2_001);
    expect(eventsOf(locks).slice(2)).to.deep.equal([`${token + 2}: acquired ${token + 2} exclusive w normal`]);
  });

  it("show all readers that one force ended, at one revision and in the order of their grants", () => {
    const locks = new AppliedLock({ rw: true });
    const tokens = ["a", "b", "c"].map((owner) => locks.result({ owner, mode: "read" }).hold?.token ?? 0);
    expect(locks.force(tokens[1])).to.equal(true);
    expect(locks.force()).to.equal(true);
    expect(locks.force(), "there is no hold to end").to.equal(false);
    const [a = 0, b = 0, c = 0] = tokens;
    expect(eventsOf(locks).slice(3)).to.deep.equal([
      `${c + 1}: released ${b} read b forced`,
      `${c + 2}: released ${a} read a forced, released ${c} read c forced`,
    ]);
  });

  it("are one beginning as a reader, with the same token, for a downgrade, and then the waiting readers", () => {
    const locks = new AppliedLock({ rw: true });
    const token = locks.result({ owner: "o" }).hold?.token ?? 0;
    locks.ask({ owner: "r", mode: "read", waitMs: 60_000 }, { principal: BEN });
    locks.ask({ owner: "o", mode: "read", fencingToken: token });
    expect(eventsOf(locks).slice(1)).to.deep.equal([
      `${token + 1}: acquired ${token} read o downgraded`,
      `${token + 2}: acquired ${token + 2} read r normal`,
    ]);
  });

  it("are an end and a beginning, in this order and at one revision, for an upgrade", () => {
    const locks = new AppliedLock({ rw: true });
    const token = locks.result({ owner: "o", mode: "read" }).hold?.token ?? 0;
    locks.ask({ owner: "o", mode: "write", fencingToken: token });
    expect(eventsOf(locks).slice(1)).to.deep.equal([
      `${token + 1}: released ${token} read o upgraded, acquired ${token + 1} write o upgraded`,
    ]);
  });

  it("S25: include a grant whose caller was gone, and its end", () => {
    const locks = new AppliedLock();
    const token = locks.result({ owner: "o" }).hold?.token ?? 0;
    locks.ask({ owner: "w", waitMs: 60_000 }, { request: requestOf(7) });
    const { seq } = locks;
    locks.releaseHold({ owner: "o" });
    locks.cancel(7, seq);
    locks.cancel(7, seq);
    expect(eventsOf(locks).slice(2)).to.deep.equal([
      `${token + 2}: acquired ${token + 2} exclusive w normal`,
      `${token + 3}: released ${token + 2} exclusive w normal`,
    ]);
  });

  it("name the subject as the owner of a hold without another owner", () => {
    const locks = new AppliedLock();
    const token = locks.result().hold?.token ?? 0;
    expect(eventsOf(locks)).to.deep.equal([`${token}: acquired ${token} exclusive ${OWNER.subject} normal`]);
  });
});
