import { expect } from "chai";
import { newSpanId, newTraceId, traceContextOf } from "./trace-context.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN_ID = "00f067aa0ba902b7";
const HEADER = `00-${TRACE_ID}-${SPAN_ID}-01`;

describe("trace context", () => {
  const contextOf = (header: string, ...states: string[]) => traceContextOf([header], () => states);

  it("has the ids, the decision and the state of the caller", () => {
    expect(contextOf(HEADER, "a=1", "b=2")).to.deep.equal({
      traceId: TRACE_ID,
      spanId: SPAN_ID,
      isSampled: true,
      state: "a=1,b=2",
    });
    expect(contextOf(`00-${TRACE_ID}-${SPAN_ID}-00`)?.isSampled).to.equal(false);
    // Flag 02 says that the trace id is random.
    expect(contextOf(`00-${TRACE_ID}-${SPAN_ID}-02`)?.isSampled).to.equal(false);
    expect(contextOf(`00-${TRACE_ID}-${SPAN_ID}-03`)?.isSampled).to.equal(true);
  });

  it("of a later version may have more fields", () => {
    expect(contextOf(`cc-${TRACE_ID}-${SPAN_ID}-01`)?.traceId).to.equal(TRACE_ID);
    expect(contextOf(`cc-${TRACE_ID}-${SPAN_ID}-01-more`)?.traceId).to.equal(TRACE_ID);
  });

  const invalid = [
    ["is empty", ""],
    ["is too long for its version", `${HEADER}-more`],
    ["has a forbidden version", `ff-${TRACE_ID}-${SPAN_ID}-01`],
    ["has upper-case digits", HEADER.toUpperCase()],
    ["has no trace id", `00-${"0".repeat(32)}-${SPAN_ID}-01`],
    ["has no span id", `00-${TRACE_ID}-${"0".repeat(16)}-01`],
    ["is cut off", HEADER.slice(0, -1)],
    ["continues without a separator", `cc-${TRACE_ID}-${SPAN_ID}-01more`],
    ["has other characters", `00-${TRACE_ID.replace("4", "g")}-${SPAN_ID}-01`],
  ] as const;
  for (const [why, header] of invalid) {
    it(`counts as absent if the header ${why}`, () => {
      expect(contextOf(header)).to.equal(null);
    });
  }

  it("counts as absent without a header, and if the header is repeated", () => {
    expect(traceContextOf([])).to.equal(null);
    expect(traceContextOf([HEADER, HEADER])).to.equal(null);
  });

  it("goes on without a state that is too long or not printable", () => {
    expect(contextOf(HEADER, "x".repeat(512))?.state).to.have.length(512);
    expect(contextOf(HEADER, "x".repeat(513))?.state).to.equal("");
    expect(contextOf(HEADER, "a=\u00e9")?.state).to.equal("");
  });

  it("gets new ids that are valid and differ", () => {
    expect(contextOf(`00-${newTraceId()}-${newSpanId()}-01`)).to.not.equal(null);
    expect(newTraceId()).to.not.equal(newTraceId());
    expect(newSpanId()).to.not.equal(newSpanId());
  });
});
