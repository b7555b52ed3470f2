import { expect } from "chai";
import { leaderlessSpans, type Span } from "./leaderless.ts";

/** How long clients wait. */
const TIMEOUT_MS = 200;
const BEFORE = { fromMs: Number.NEGATIVE_INFINITY, toMs: 1_000 };

/** Times 50 ms apart, both ends included. */
function steadily(fromMs: number, toMs: number): number[] {
  return Array.from({ length: (toMs - fromMs) / 50 + 1 }, (_, at) => fromMs + at * 50);
}

function spansOf(writesMs: readonly number[], timeoutMs = TIMEOUT_MS): readonly Span[] {
  return leaderlessSpans(writesMs, timeoutMs);
}

describe("the time without a leader", () => {
  it("is nothing while writes are acknowledged", () => {
    expect(spansOf(steadily(1_000, 9_000))).to.deep.equal([BEFORE, { fromMs: 8_700, toMs: Number.POSITIVE_INFINITY }]);
  });

  it("begins some time before the last acknowledgement, and ends with the next one", () => {
    const spans = spansOf([...steadily(1_000, 3_000), ...steadily(3_200, 5_000), ...steadily(6_000, 9_000)]);
    expect(spans.slice(1, -1)).to.deep.equal([
      { fromMs: 2_700, toMs: 3_200 },
      { fromMs: 4_700, toMs: 6_000 },
    ]);
  });

  it("begins the earlier the longer clients wait", () => {
    const writesMs = [...steadily(1_000, 5_000), ...steadily(6_000, 9_000)];
    expect(spansOf(writesMs, 1_000).slice(1, -1)).to.deep.equal([{ fromMs: 3_900, toMs: 6_000 }]);
  });

  it("is one span where two would overlap", () => {
    const spans = spansOf([...steadily(1_000, 3_000), ...steadily(4_000, 4_300), ...steadily(5_000, 9_000)]);
    expect(spans.slice(1, -1)).to.deep.equal([{ fromMs: 2_700, toMs: 5_000 }]);
  });

  it("is all the time if nothing was ever acknowledged", () => {
    expect(spansOf([])).to.deep.equal([{ fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY }]);
  });
});
