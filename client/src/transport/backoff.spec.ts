import { expect } from "chai";
import { QuoinError } from "../errors/index.ts";
import { ATTEMPTS_MAX, backoffMs, isUnreached, unreachedPauseMs } from "./backoff.ts";

describe("backoffMs", () => {
  it("doubles from 50 ms and ends at 1 s", () => {
    const most = [1, 2, 3, 4, 5, 6, 7, 60].map((attempt) => backoffMs(attempt, 1));
    expect(most).to.deep.equal([50, 100, 200, 400, 800, 1_000, 1_000, 1_000]);
  });

  it("has full jitter: from nothing to the whole pause", () => {
    expect(backoffMs(3, 0)).to.equal(0);
    expect(backoffMs(3, 0.25)).to.equal(50);
  });

  it("serves four attempts", () => {
    expect(ATTEMPTS_MAX).to.equal(4);
  });
});

describe("attempts that reach no member", () => {
  it("are those that were certainly not sent, and got no answer", () => {
    const unreached = (fields: object): boolean =>
      isUnreached(new QuoinError({ code: "UNAVAILABLE", message: "", ...fields }));
    expect(unreached({ outcome: "not-executed" })).to.equal(true);
    expect(unreached({ outcome: "not-executed", reason: "NO_LEADER" }), "a member has answered").to.equal(false);
    expect(unreached({ outcome: "unknown" })).to.equal(false);
    expect(unreached({ outcome: "not-executed", code: "DEADLINE_EXCEEDED" })).to.equal(false);
  });

  it("pause for at least half of the maximum, so that a client does not spin", () => {
    expect([unreachedPauseMs(1, 0), unreachedPauseMs(3, 0), unreachedPauseMs(60, 0)]).to.deep.equal([25, 100, 500]);
    expect(unreachedPauseMs(60, 0.5)).to.equal(750);
  });
});
