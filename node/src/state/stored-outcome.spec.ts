import { expect } from "chai";
import { AppliedLock, answerText, OWNER, requestOf } from "../../test/index.ts";
import { DEFAULT_STATE_LIMITS } from "./core/index.ts";
import type { AcquireLockResult } from "./locks/index.ts";
import { acquisitionOutcome, type ReadContext, storedOutcome } from "./stored-outcome.ts";

const WINDOW_MS = DEFAULT_STATE_LIMITS.replayWindowMs;

describe("the stored state of an acquisition, read outside of apply", () => {
  function atNow({ log: { tickMs, revision } }: AppliedLock): ReadContext {
    return { tickMs, sinceMs: tickMs - WINDOW_MS, revision };
  }

  function look(locks: AppliedLock, id: number, seq: number): string {
    const asked = { principal: OWNER, request: requestOf(id), attempt: locks.originOf(seq) };
    const outcome = acquisitionOutcome(locks.log.store, asked, atNow(locks));
    return outcome === null ? "not known" : answerText(outcome);
  }

  function stored(locks: AppliedLock, id: number): string {
    const outcome = storedOutcome(locks.log.store, OWNER.subject, requestOf(id), atNow(locks));
    return outcome === null ? "not known" : answerText(outcome);
  }

  it("is its outcome so far, for its newest attempt", () => {
    const locks = new AppliedLock();
    expect(look(locks, 1, 1)).to.equal("not known");
    locks.ask({}, { request: requestOf(1) });
    locks.ask({ waitMs: 500 }, { request: requestOf(2) });
    locks.ask({}, { request: requestOf(3) });
    locks.ask({ fencingToken: 1 }, { request: requestOf(4) });
    expect([1, 2, 3, 4].map((id) => look(locks, id, id))).to.deep.equal([
      ...[`token ${locks.tokens[0]}`, "queued-lock", "not acquired, held", "LOCK_LOST"],
    ]);
    expect(look(locks, 2, 1), "another attempt is newer").to.equal("LEADER_CHANGED");
    locks.releaseHold();
    expect([look(locks, 1, 1), look(locks, 2, 2)]).to.deep.equal(["LOCK_LOST", `token ${locks.tokens[0]}`]);
    locks.cancel(2, 2);
    expect(look(locks, 2, 2)).to.equal("LEADER_CHANGED");
  });

  it("shows as many holds as the answer did: the first 10 and its own", () => {
    const locks = new AppliedLock({ rw: true });
    for (let id = 1; id <= 12; id++) {
      locks.ask({ mode: "read" }, { request: requestOf(id) });
    }
    const { tokens } = locks;
    const shown = [3, 12].map((id) => {
      const answer = storedOutcome(locks.log.store, OWNER.subject, requestOf(id), atNow(locks))?.answer;
      return (answer as AcquireLockResult).holds.map(({ token }) => token);
    });
    expect(shown).to.deep.equal([tokens.slice(0, 10), [...tokens.slice(0, 10), tokens[11]]]);
  });

  it("S24: for a change of a hold equals the answer to a retry, whichever attempt ran", () => {
    const locks = new AppliedLock({ rw: true });
    const { token: reading = 0 } = locks.result({ mode: "read" }).hold ?? {};
    locks.ask({ mode: "read", fencingToken: reading }, { request: requestOf(1) });
    expect(stored(locks, 1)).to.equal(`token ${reading}`);
    const { token: writing = 0 } =
      locks.result({ mode: "write", fencingToken: reading }, { request: requestOf(2) }).hold ?? {};
    expect([stored(locks, 1), stored(locks, 2)], "the upgraded hold is gone").to.deep.equal([
      ...["LOCK_LOST", `token ${writing}`],
    ]);
    locks.ask({ mode: "read", fencingToken: writing }, { request: requestOf(3) });
    expect(stored(locks, 3)).to.equal(`token ${writing}`);
    locks.force();
    expect([2, 3, 4].map((id) => stored(locks, id))).to.deep.equal(["LOCK_LOST", "LOCK_LOST", "not known"]);
  });
});
