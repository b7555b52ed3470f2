import { expect } from "chai";
import { AppliedLog } from "../../test/index.ts";
import { DEFAULT_RATE_LIMITS } from "./rate-limits.ts";
import { ReplicatedRateLimits } from "./replicated-rate-limits.ts";

describe("replicated rate limits", () => {
  const unset = { ...DEFAULT_RATE_LIMITS, http: { requests: 600, windowSecs: 60, burst: 20 } };
  let log: AppliedLog;
  let holder: { replica: { readonly state: AppliedLog["store"] } | null };
  let nowMs: number;
  let limits: ReplicatedRateLimits;

  beforeEach(() => {
    log = new AppliedLog();
    holder = { replica: { state: log.store } };
    nowMs = 5_000;
    limits = new ReplicatedRateLimits(unset, holder, () => nowMs);
  });

  function put(values: Readonly<Record<string, string>>): void {
    const pairs = Object.entries(values).map(([name, value]) => ({ name, value }));
    log.lead({ kind: "put-settings", values: pairs, ifRevision: 0, subject: "admin", request: null });
  }

  it("are the member's own if nothing is set", () => {
    expect({ ...limits, http: limits.http, grpc: limits.grpc }).to.deep.equal(unset);
  });

  it("are the settings, and the member's own for the rest", () => {
    put({ "ratelimit.http.requests": "0", "ratelimit.grpc.window_secs": "10", "ratelimit.grpc.burst": "7" });
    expect(limits.http).to.deep.equal({ requests: 0, windowSecs: 60, burst: 20 });
    expect(limits.grpc).to.deep.equal({ requests: 1_200_000, windowSecs: 10, burst: 7 });
  });

  it("follow the settings within a second", () => {
    expect(limits.http.burst).to.equal(20);
    put({ "ratelimit.http.burst": "3" });
    nowMs += 999;
    expect(limits.http.burst).to.equal(20);
    nowMs += 1;
    expect(limits.http.burst).to.equal(3);
    put({ "ratelimit.http.burst": "" });
    nowMs += 1_000;
    expect(limits.http.burst).to.equal(20);
  });

  it("stay as they were while the member serves no state", () => {
    put({ "ratelimit.grpc.requests": "9" });
    expect(limits.grpc.requests).to.equal(9);
    holder.replica = null;
    nowMs += 60_000;
    expect(limits.grpc.requests).to.equal(9);
  });
});
