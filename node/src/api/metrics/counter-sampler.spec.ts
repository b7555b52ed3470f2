import { status } from "@grpc/grpc-js";
import { MemberRole, RequestCounts_Kind } from "@quoin/proto";
import { expect } from "chai";
import { MethodCalls } from "../calls/index.ts";
import { CounterSampler, SAMPLE_INTERVAL_MS, type SampledParts } from "./counter-sampler.ts";

describe("CounterSampler", () => {
  let nowMs: number;
  let delayMs: number;
  let processorUs: number;
  let getKey: MethodCalls;
  let parts: { -readonly [Name in keyof SampledParts]: SampledParts[Name] };

  beforeEach(() => {
    [nowMs, delayMs, processorUs] = [1_000, 0, 5_000];
    getKey = new MethodCalls({
      path: "/coordination.v1.KeyValueService/GetKey",
      responseStream: false,
      mayWait: false,
    });
    getKey.codes[status.OK] = 10;
    parts = {
      calls: { methods: [getKey] },
      requests: { routes: [] },
      member: {
        replica: { status: () => ({ role: "follower", isLearner: true, lagMs: 12.6 }) },
        fileSystemSpace: { freeBytes: 700 },
        stateProperty: () => 4,
        logBytes: 30,
      },
      eventLoopDelay: { takeLargestMs: () => delayMs },
      process: { cpuUsage: () => ({ user: processorUs, system: 100 }), memoryUsage: { rss: () => 9_000 } },
      streams: () => 2,
      connections: () => 3,
      clock: { monotonicMs: () => nowMs, wallMs: () => 1_750_000_000_000 + nowMs },
    };
  });

  function sampleAfter(sampler: CounterSampler, passedMs: number): void {
    nowMs += passedMs;
    sampler.sample();
  }

  it("takes the counts of an interval, and the values at its end", () => {
    const sampler = new CounterSampler(parts);
    expect(sampler.samplesOf(900_000)).to.deep.equal([]);
    getKey.codes[status.OK] = 17;
    [delayMs, processorUs] = [1.25, 8_000];
    sampleAfter(sampler, SAMPLE_INTERVAL_MS);
    const [sample] = sampler.samplesOf(900_000);
    expect(sample).to.deep.equal({
      atMs: 1_750_000_006_000n,
      intervalMs: 5_000,
      lagMs: 13n,
      role: MemberRole.LEARNER,
      loopDelayUs: 1_250n,
      requests: [{ kind: RequestCounts_Kind.KEY_READ, ok: 7, refused: 0, failed: 0, p50Us: 0n, p99Us: 0n }],
      processorUs: 3_000n,
      memoryBytes: 9_000n,
      dbSizeBytes: 34n,
      diskFreeBytes: 700n,
      streams: 2,
      connections: 3,
    });
    sampleAfter(sampler, 7_000);
    expect(sampler.samplesOf(900_000)[1]).to.deep.include({ intervalMs: 7_000, requests: [], processorUs: 0n });
  });

  it("keeps the samples of 15 minutes and gives those of a window, the oldest first", () => {
    const sampler = new CounterSampler(parts);
    for (let count = 0; count < 400; count++) {
      sampleAfter(sampler, SAMPLE_INTERVAL_MS);
    }
    const all = sampler.samplesOf(Number.POSITIVE_INFINITY).map(({ atMs }) => Number(atMs));
    expect(all).to.have.length(181);
    expect([...all].sort((one, other) => one - other)).to.deep.equal(all);
    expect(sampler.samplesOf(900_000)).to.have.length(180);
    const last = sampler.samplesOf(10_000).map(({ atMs }) => Number(atMs) - 1_750_000_000_000);
    expect(last).to.deep.equal([nowMs - SAMPLE_INTERVAL_MS, nowMs]);
  });

  it("samples a member that serves nothing yet", () => {
    parts.member = { replica: null, fileSystemSpace: null, stateProperty: () => null, logBytes: null };
    const sampler = new CounterSampler(parts);
    sampleAfter(sampler, SAMPLE_INTERVAL_MS);
    expect(sampler.samplesOf(900_000)[0]).to.deep.include({
      lagMs: 0n,
      role: MemberRole.MEMBER_ROLE_UNSPECIFIED,
      dbSizeBytes: 0n,
      diskFreeBytes: 0n,
    });
  });
});
