import { expect } from "chai";
import fc from "fast-check";
import { refused } from "../../test/index.ts";
import { CoordinationError } from "../state/index.ts";
import { RateLimiter, retryAfterMs } from "./rate-limiter.ts";
import type { RateLimit } from "./rate-limits.ts";

const TEN_A_SECOND: RateLimit = { requests: 600, windowSecs: 60, burst: 5 };

describe("rate limiter", () => {
  let limit: RateLimit;
  let nowMs: number;
  let limiter: RateLimiter;

  beforeEach(() => {
    limit = TEN_A_SECOND;
    nowMs = 1_000;
    limiter = new RateLimiter(
      () => limit,
      () => nowMs,
    );
  });

  /** Takes as many as are left, at most so many. */
  function takeAll(name: string, most = 100): number {
    for (let taken = 0; taken < most; taken++) {
      try {
        limiter.take(name);
      } catch (error) {
        expect(error).to.be.instanceOf(CoordinationError).with.property("reason", "RATE_LIMITED");
        return taken;
      }
    }
    return most;
  }

  async function waitOf(take: () => void): Promise<number> {
    return retryAfterMs(await refused(take));
  }

  it("allows the burst at once, and then one by one", () => {
    expect(takeAll("anna")).equal(5);
    nowMs += 99;
    expect(takeAll("anna")).equal(0);
    nowMs += 1;
    expect(takeAll("anna")).equal(1);
    nowMs += 250;
    expect(takeAll("anna")).equal(2);
    nowMs += 60_000;
    expect(takeAll("anna")).equal(5);
  });

  it("says exactly when to retry, never at once (S46)", async () => {
    takeAll("anna");
    expect(await waitOf(() => limiter.take("anna"))).equal(100);
    nowMs += 99.5;
    expect(await waitOf(() => limiter.take("anna"))).equal(1);
    nowMs += 0.5;
    limiter.take("anna");
  });

  it("takes nothing for a refused request", () => {
    takeAll("anna");
    for (let refusals = 0; refusals < 50; refusals++) {
      expect(takeAll("anna")).equal(0);
    }
    nowMs += 100;
    expect(takeAll("anna")).equal(1);
  });

  it("takes nothing from other buckets", () => {
    takeAll("anna");
    expect(takeAll("ben")).equal(5);
    expect(takeAll("__proto__")).equal(5);
  });

  it("returns what is left", () => {
    expect(limiter.allowance("anna")).deep.equal({ limit, remaining: 5, fullInMs: 0 });
    limiter.take("anna");
    limiter.take("anna");
    expect(limiter.allowance("anna")).deep.equal({ limit, remaining: 3, fullInMs: 200 });
    nowMs += 50;
    expect(limiter.allowance("anna")).deep.equal({ limit, remaining: 3, fullInMs: 150 });
    takeAll("anna");
    expect(limiter.allowance("anna")).to.include({ remaining: 0 });
  });

  it("charges for past events, with no debt above the burst", async () => {
    for (let charged = 0; charged < 50; charged++) {
      limiter.charge("anna");
    }
    expect(await waitOf(() => limiter.take("anna"))).equal(100);
    nowMs += 100;
    expect(takeAll("anna")).equal(1);
  });

  describe("charges for what a request turned out to cost", () => {
    it("also tokens that the bucket does not have", async () => {
      expect(takeAll("anna", 1)).equal(1);
      limiter.owe("anna", 7);
      expect(limiter.allowance("anna")).to.include({ remaining: 0, fullInMs: 800 });
      expect(await waitOf(() => limiter.take("anna"))).equal(400);
      nowMs += 400;
      expect(takeAll("anna")).equal(1);
      nowMs += 500;
      expect(takeAll("anna")).equal(5);
    });

    it("so that calls of eleven tokens each get a tenth of the rate", () => {
      limit = { ...TEN_A_SECOND, burst: 20 };
      let calls = 0;
      for (const endMs = nowMs + 60_000; nowMs < endMs; nowMs += 10) {
        if (takeAll("anna", 1) === 1) {
          calls++;
          limiter.owe("anna", 10);
        }
      }
      // 600 tokens, the burst, and at most as many owed at the end.
      expect(calls).within(56, 58);
    });

    it("up to as many tokens as the bucket holds, so that a long call does not shut its user out", async () => {
      limiter.owe("anna", 60_000);
      expect(await waitOf(() => limiter.take("anna"))).equal(600);
    });

    it("and forgets it when another limit comes into force", async () => {
      limiter.owe("anna", 60_000);
      limit = { ...TEN_A_SECOND, burst: 4 };
      expect(await waitOf(() => limiter.take("anna"))).equal(100);
      limit = { ...limit };
      limiter.owe("anna", 2);
      expect(await waitOf(() => limiter.take("anna"))).equal(300);
    });

    it("of nobody without a limit", () => {
      limit = { ...TEN_A_SECOND, requests: 0 };
      limiter.owe("anna", 60_000);
      expect(limiter.size).equal(0);
    });
  });

  it("gives back what was taken, and no more", () => {
    takeAll("anna", 3);
    limiter.refund("anna");
    expect(limiter.allowance("anna")).to.include({ remaining: 3 });
    for (let given = 0; given < 10; given++) {
      limiter.refund("anna");
    }
    expect(takeAll("anna")).equal(5);
  });

  it("limits nothing if the limit is 0", () => {
    limit = { requests: 0, windowSecs: 60, burst: 1 };
    expect(takeAll("anna", 10_000)).equal(10_000);
    limiter.charge("anna");
    expect(limiter.allowance("anna")).equal(null);
    expect(limiter.size).equal(0);
  });

  it("uses the limit that is in force", () => {
    expect(takeAll("anna")).equal(5);
    limit = { ...TEN_A_SECOND, burst: 8 };
    expect(takeAll("anna")).equal(3);
    limit = { ...TEN_A_SECOND, burst: 1 };
    expect(takeAll("anna")).equal(0);
  });

  it("refuses no longer than the limit in force requires, whatever limit was in force before", async () => {
    limit = { requests: 1, windowSecs: 86_400, burst: 1 };
    limiter.take("anna");
    limit = TEN_A_SECOND;
    expect(await waitOf(() => limiter.take("anna"))).equal(100);
    expect(limiter.allowance("anna")).deep.include({ remaining: 0, fullInMs: 500 });
    nowMs += 100;
    expect(takeAll("anna")).equal(1);
    nowMs += 500;
    expect(takeAll("anna")).equal(5);
  });

  it("keeps the rate for any sequence of requests", () => {
    const waits = fc.array(fc.double({ min: 0, max: 300, noNaN: true }), { maxLength: 300 });
    fc.assert(
      fc.property(waits, (gaps) => {
        const begunMs = nowMs;
        limiter = new RateLimiter(
          () => limit,
          () => nowMs,
        );
        let taken = 0;
        for (const gapMs of gaps) {
          nowMs += gapMs;
          taken += takeAll("anna", 3);
          expect(taken).at.most(5 + (nowMs - begunMs) / 100 + 1e-3);
        }
      }),
      { seed: 1, numRuns: 50 },
    );
  });

  describe("keeps a bounded number of buckets", () => {
    const MANY = 1_000;

    beforeEach(() => {
      limiter = new RateLimiter(
        () => limit,
        () => nowMs,
        MANY,
      );
    });

    it("and never replaces one that is not full", () => {
      takeAll("anna");
      for (let other = 0; other < 10 * MANY; other++) {
        takeAll(`other-${other}`, 1);
      }
      expect(limiter.size).at.most(MANY + 1);
      expect(takeAll("anna")).equal(0);
    });

    it("and lets new names share one when the limit is reached", () => {
      for (let other = 0; other < MANY; other++) {
        takeAll(`other-${other}`, 1);
      }
      expect(takeAll("ben")).equal(5);
      expect(takeAll("cleo")).equal(0);
      expect(takeAll("other-7")).equal(4);
    });

    it("and drops full ones", () => {
      for (let other = 0; other < 20 * MANY; other++) {
        nowMs += 1;
        limiter.take(`other-${other}`);
        expect(limiter.size).at.most(200);
      }
    });
  });
});
