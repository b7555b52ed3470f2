import { expect } from "chai";
import type { KeptTrace } from "../peers/index.ts";
import type { RequestEnd, RequestTrace } from "./request-trace.ts";
import type { SamplerOptions } from "./sampler.ts";
import type { Span } from "./span.ts";
import { Tracer } from "./tracer.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const PUT: RequestEnd = {
  protocol: "grpc",
  name: "coordination.v1.KeyValueService/PutKey",
  code: 0,
  isError: false,
  reason: "",
  requestId: null,
};
const NEVER: SamplerOptions = { name: "parentbased_always_off", ratio: 0 };
const SLOW_MS = 100;

describe("tracer", () => {
  let nowMs: number;
  let spans: Span[];
  let sent: { readonly to: number | null; readonly kept: KeptTrace }[];
  let hasSpace: boolean;

  beforeEach(() => {
    nowMs = 1_000;
    spans = [];
    sent = [];
    hasSpace = true;
  });

  function tracerWith({
    sampler = NEVER,
    slowMs = SLOW_MS,
  }: {
    sampler?: SamplerOptions;
    slowMs?: number;
  } = {}): Tracer {
    const queue = {
      get hasSpace() {
        return hasSpace;
      },
      add: (added: readonly Span[]) => void spans.push(...added),
    };
    const tracer = new Tracer({ sampler, slowMs, queue, monotonicMs: () => nowMs });
    tracer.connect({ sendKeptTrace: (to, kept) => void sent.push({ to, kept }) });
    return tracer;
  }

  function begin(tracer: Tracer, flags: "00" | "01" | null): RequestTrace {
    const headers = new Map(
      flags === null
        ? []
        : [
            ["traceparent", [`00-${TRACE_ID}-${CALLER}-${flags}`]],
            ["tracestate", ["a=1"]],
          ],
    );
    const trace = tracer.begin({ values: (name) => headers.get(name) ?? [] }, nowMs);
    if (trace === null) {
      throw new Error("the tracer begins no trace");
    }
    return trace;
  }

  /** Makes all spans that are due in the next second. */
  function makeSpans(tracer: Tracer): void {
    nowMs += 1_000;
    tracer.makeSpans();
    tracer.makeSpans();
  }

  /** One line for each span: its name, its times since 1,000 ms, and what it is below. */
  const lines = (): string[] =>
    spans.map(({ name, fromMs, toMs, parentId }) => {
      const parent = spans.find(({ spanId }) => spanId === parentId)?.name ?? parentId;
      return `${name} ${fromMs - 1_000}-${toMs - 1_000} below ${parent}`;
    });

  describe("keeps", () => {
    it("nothing, and begins no trace, if no request is sampled and slow ones are not wanted", () => {
      expect(tracerWith({ slowMs: 0 }).begin({ values: () => [] }, 0)).to.equal(null);
    });

    it("a request that its caller has sampled, below the caller's span", () => {
      const tracer = tracerWith();
      expect(tracer.end(begin(tracer, "01"), nowMs + 1, false, () => PUT)).to.equal(true);
      makeSpans(tracer);
      expect(spans).to.have.length(1);
      expect(spans[0]).to.include({ traceId: TRACE_ID, parentId: CALLER, hasRemoteParent: true, state: "a=1" });
      expect(spans[0]).to.include({ name: PUT.name, kind: "server", error: "" });
      expect(tracer.kept).to.deep.equal({ sampled: 1, slow: 0 });
    });

    it("a slow request, sampled or not, in the caller's trace or in a new one", () => {
      const tracer = tracerWith();
      expect(tracer.end(begin(tracer, "00"), nowMs + SLOW_MS, false, () => PUT)).to.equal(true);
      expect(tracer.end(begin(tracer, null), nowMs + SLOW_MS, false, () => PUT)).to.equal(true);
      expect(tracer.end(begin(tracer, null), nowMs + SLOW_MS - 1, false, () => PUT)).to.equal(false);
      expect(tracer.end(begin(tracer, null), nowMs + SLOW_MS, true, () => PUT)).to.equal(false);
      makeSpans(tracer);
      expect(spans.map(({ traceId }) => traceId === TRACE_ID)).to.deep.equal([true, false]);
      expect(spans[1]).to.include({ parentId: "", hasRemoteParent: false });
      expect(tracer.kept).to.deep.equal({ sampled: 0, slow: 2 });
    });

    it("no request that only waited for a lock", () => {
      const tracer = tracerWith();
      const trace = begin(tracer, null);
      trace.lockQueuedMs = nowMs + 10;
      trace.decidedMs = nowMs + 9_000;
      expect(tracer.end(trace, nowMs + 9_010, false, () => PUT)).to.equal(false);
    });

    it("at most twenty slow requests a second, and counts the others", () => {
      const tracer = tracerWith();
      const kept = Array.from({ length: 25 }, () => tracer.end(begin(tracer, null), nowMs + SLOW_MS, false, () => PUT));
      expect(kept.filter(Boolean)).to.have.length(20);
      expect(tracer.dropped).to.equal(5);
      nowMs += 1_000;
      expect(tracer.end(begin(tracer, null), nowMs + SLOW_MS, false, () => PUT)).to.equal(true);
    });

    it("no more traces than the exporter takes, and counts the others", () => {
      const tracer = tracerWith();
      hasSpace = false;
      tracer.end(begin(tracer, "01"), nowMs, false, () => PUT);
      makeSpans(tracer);
      expect([spans, tracer.dropped]).to.deep.equal([[], 1]);
      for (let count = 0; count < 2_000; count++) {
        tracer.end(begin(tracer, "01"), nowMs, false, () => PUT);
      }
      expect(tracer.dropped).to.equal(1 + 2_000 - 1_024);
    });
  });

  it("marks a failed call with its reason, and shows only what is known of a call that was refused early", () => {
    const tracer = tracerWith();
    tracer.end(begin(tracer, "01"), nowMs, false, () => ({ ...PUT, code: 14, isError: true, reason: "NO_LEADER" }));
    makeSpans(tracer);
    expect(lines()).to.deep.equal([`${PUT.name} 0-0 below ${CALLER}`]);
    expect(spans[0]?.error).to.equal("NO_LEADER");
    expect(spans[0]?.attributes).to.deep.equal({
      "rpc.system": "grpc",
      "rpc.service": "coordination.v1.KeyValueService",
      "rpc.method": "PutKey",
      "rpc.grpc.status_code": 14,
      "quoin.reason": "NO_LEADER",
    });
  });

  it("shows the barrier of a read", () => {
    const tracer = tracerWith();
    const trace = begin(tracer, "01");
    Object.assign(trace, { barrierMs: 1_001, confirmedMs: 1_003, readableMs: 1_004 });
    tracer.end(trace, 1_005, false, () => PUT);
    makeSpans(tracer);
    expect(lines()).to.deep.equal([`${PUT.name} 0-5 below ${CALLER}`, `quoin.read 1-4 below ${PUT.name}`]);
    expect(spans[1]?.events.map(({ name, atMs }) => [name, atMs])).to.deep.equal([["quorum confirmed", 1_003]]);
  });

  it("shows a write of the leader's own call, and asks all others for their part", () => {
    const tracer = tracerWith();
    const { timeline } = tracer;
    timeline.onCommitted(9, 990);
    timeline.onApplicable(9, 990);
    timeline.onApplied(9, 991);
    timeline.onAcknowledged(3, 9, 992);
    const trace = begin(tracer, "01");
    trace.queuedMs = 1_001;
    trace.onHandedOut(1_002, 0, 7);
    trace.index = 12;
    timeline.onAppended(11, 3, 0, 7, 0, 1_002);
    timeline.onWriteBegun(10, 4, 1_003);
    timeline.onAcknowledged(3, 13, 1_005);
    timeline.onWritten(4, 1_006, 2.5);
    timeline.onCommitted(13, 1_007);
    timeline.onApplicable(13, 1_007);
    timeline.onApplied(13, 1_008);
    trace.decidedMs = 1_009;
    tracer.end(trace, 1_010, false, () => PUT);
    makeSpans(tracer);
    expect(lines()).to.deep.equal([
      `${PUT.name} 0-10 below ${CALLER}`,
      `quoin.propose 1-9 below ${PUT.name}`,
      "quoin.queue 1-2 below quoin.propose",
      "quoin.log.write 3-6 below quoin.propose",
      "quoin.replicate 2-7 below quoin.propose",
      "quoin.apply 7-8 below quoin.propose",
      "quoin.log.group_commit 3-6 below ",
    ]);
    const [write, replicate, group] = [spans[3], spans[4], spans[6]];
    expect(write?.links).to.deep.equal([{ traceId: group?.traceId, spanId: group?.spanId }]);
    expect(group?.links).to.deep.equal([{ traceId: TRACE_ID, spanId: write?.spanId }]);
    expect(group?.attributes).to.deep.equal({
      "quoin.log.entries": 4,
      "quoin.log.first_index": 10,
      "quoin.log.last_index": 13,
      "quoin.log.write_ms": 2.5,
    });
    expect(replicate?.events).to.deep.equal([
      { name: "acknowledged", atMs: 1_005, attributes: { "quoin.member_id": 3 } },
    ]);
    expect(sent).to.deep.equal([
      {
        to: null,
        kept: { part: "follow", index: 12, term: 7, traceId: TRACE_ID, spanId: replicate?.spanId, state: "a=1" },
      },
    ]);
  });

  it("shows a forwarded write, and asks the leader for its part", () => {
    const tracer = tracerWith();
    const trace = begin(tracer, "01");
    trace.queuedMs = 1_001;
    trace.onHandedOut(1_002, 5, 7);
    trace.onReported(1_003, 12);
    tracer.timeline.onCommitted(12, 1_006);
    trace.decidedMs = 1_009;
    tracer.end(trace, 1_010, false, () => PUT);
    makeSpans(tracer);
    expect(lines()).to.deep.equal([
      `${PUT.name} 0-10 below ${CALLER}`,
      `quoin.propose 1-9 below ${PUT.name}`,
      "quoin.queue 1-2 below quoin.propose",
      "quoin.forward 2-6 below quoin.propose",
    ]);
    const kept = { part: "lead", index: 12, term: 7, traceId: TRACE_ID, spanId: spans[3]?.spanId, state: "a=1" };
    expect(sent).to.deep.equal([{ to: 5, kept }]);
  });

  it("shows how long a request waited for its lock", () => {
    const tracer = tracerWith();
    const trace = begin(tracer, "01");
    Object.assign(trace, { queuedMs: 1_001, lockQueuedMs: 1_005, decidedMs: 1_050 });
    tracer.end(trace, 1_051, false, () => PUT);
    makeSpans(tracer);
    expect(lines()).to.include.members([
      `quoin.lock.wait 5-50 below ${PUT.name}`,
      `quoin.propose 1-5 below ${PUT.name}`,
    ]);
  });

  const asked = { index: 12, term: 7, traceId: TRACE_ID, spanId: CALLER, state: "" };

  it("adds the leader's part to the trace of another member, and asks the others", () => {
    const tracer = tracerWith();
    tracer.timeline.onAppended(12, 1, 3, 7, 1_001, 1_002);
    tracer.timeline.onCommitted(12, 1_006);
    tracer.onKeptTrace({ part: "lead", ...asked });
    makeSpans(tracer);
    expect(lines()).to.deep.equal([`quoin.lead 1-6 below ${CALLER}`, "quoin.replicate 2-6 below quoin.lead"]);
    expect(sent.map(({ to, kept }) => [to, kept.part, kept.spanId])).to.deep.equal([
      [null, "follow", spans[1]?.spanId],
    ]);
  });

  it("says that an entry was not committed", () => {
    const tracer = tracerWith();
    tracer.timeline.onAppended(12, 1, 3, 7, 1_001, 1_002);
    tracer.onKeptTrace({ part: "lead", ...asked });
    makeSpans(tracer);
    expect(spans.map(({ name, error }) => [name, error])).to.deep.equal([
      ["quoin.lead", ""],
      ["quoin.replicate", "not committed yet"],
    ]);
  });

  it("adds a follower's part to the trace of its leader", () => {
    const tracer = tracerWith();
    tracer.timeline.onReceived(11, 2, 1, 1_001);
    tracer.timeline.onWriteBegun(11, 2, 1_002);
    tracer.timeline.onWritten(2, 1_004, 1);
    tracer.onKeptTrace({ part: "follow", ...asked });
    makeSpans(tracer);
    expect(lines()).to.deep.equal([
      `quoin.follow 1-4 below ${CALLER}`,
      "quoin.log.write 2-4 below quoin.follow",
      "quoin.log.group_commit 2-4 below ",
    ]);
    expect(sent).to.deep.equal([]);
  });

  it("adds nothing about an entry of another term, or one that it does not know any more", () => {
    const tracer = tracerWith();
    tracer.timeline.onAppended(12, 1, 3, 6, 1_001, 1_002);
    tracer.onKeptTrace({ part: "lead", ...asked });
    tracer.onKeptTrace({ part: "follow", ...asked });
    makeSpans(tracer);
    expect(spans).to.deep.equal([]);
  });

  it("makes a bounded number of spans in one round, and the others in the next ones", () => {
    const tracer = tracerWith();
    for (let count = 0; count < 1_000; count++) {
      tracer.end(begin(tracer, "01"), nowMs, false, () => PUT);
    }
    nowMs += 1_000;
    const rounds = [1, 2, 3].map(() => {
      tracer.makeSpans();
      return spans.length;
    });
    expect(rounds).to.deep.equal([512, 1_000, 1_000]);
    expect(tracer.dropped).to.equal(0);
  });

  it("shows no acknowledgement of an entry that had the same index in an earlier term", () => {
    const tracer = tracerWith();
    tracer.timeline.onAcknowledged(2, 20, 990);
    tracer.timeline.onAppended(12, 1, 3, 7, 1_001, 1_002);
    tracer.timeline.onAcknowledged(4, 12, 1_003);
    tracer.onKeptTrace({ part: "lead", ...asked });
    makeSpans(tracer);
    expect(spans[1]?.events.map(({ attributes }) => attributes["quoin.member_id"])).to.deep.equal([4]);
  });

  it("remembers the acknowledgements of a few members, however many there have been", () => {
    const { timeline } = tracerWith();
    for (let member = 1; member <= 100; member++) {
      timeline.onAcknowledged(member, 12, 1_000 + member);
    }
    timeline.onAcknowledged(100, 13, 1_200);
    const known = timeline.acknowledgedMs(12).map(([member]) => member);
    expect(known).to.deep.equal(Array.from({ length: 16 }, (_, at) => 85 + at));
  });

  it("makes the last spans at once when the member stops", () => {
    const tracer = tracerWith();
    tracer.end(begin(tracer, "01"), nowMs, false, () => PUT);
    tracer.makeSpans();
    expect(spans).to.deep.equal([]);
    tracer.makeSpans(true);
    expect(spans).to.have.length(1);
  });
});
