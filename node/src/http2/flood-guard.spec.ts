import { expect } from "chai";
import { FloodGuard } from "./flood-guard.ts";
import { DEFAULT_HTTP2_LIMITS } from "./limits.ts";

const LIMITS = { ...DEFAULT_HTTP2_LIMITS.floods, pings: { burst: 3, perSecond: 2 } };

/** Returns how many of so many attempts are allowed at this time. */
function allowed(guard: FloodGuard, count: number, nowMs: number): number {
  return Array.from({ length: count }, () => guard.allows("pings", nowMs)).filter((each) => each).length;
}

describe("a guard against floods", () => {
  it("allows a burst, and then the rate", () => {
    const guard = new FloodGuard(LIMITS);
    expect(allowed(guard, 10, 1_000)).to.equal(3);
    expect(allowed(guard, 10, 1_499)).to.equal(0);
    expect(allowed(guard, 10, 1_500)).to.equal(1);
    expect(allowed(guard, 10, 2_500)).to.equal(2);
  });

  it("saves no more than a burst", () => {
    const guard = new FloodGuard(LIMITS);
    allowed(guard, 3, 0);
    expect(allowed(guard, 10, 1_000_000)).to.equal(3);
  });

  it("counts each kind separately", () => {
    const guard = new FloodGuard(LIMITS);
    allowed(guard, 10, 0);
    expect(guard.allows("settings", 0)).to.equal(true);
  });
});
