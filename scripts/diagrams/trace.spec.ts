import { expect } from "chai";
import { DiagramError } from "./sequence.ts";
import { drawTrace, type RecordedSpans, traceTextOf } from "./trace.ts";

const TEXT = "title A put\nspan 0 4000 client | put <1>\n  span 1000 3000 q-0 | server\n";

/** Where the bars of a drawing begin, and how wide they are. */
function barsOf(svg: string): { x: number; width: number }[] {
  return [...svg.matchAll(/<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)].map(([, x, width]) => {
    return { x: Number(x), width: Number(width) };
  });
}

describe("a picture of a trace", () => {
  it("has a bar for each span, at its time, and escapes what SVG would read as markup", () => {
    const svg = drawTrace(TEXT);
    const [whole, part] = barsOf(svg);
    expect((part?.x ?? 0) - (whole?.x ?? 0)).to.be.closeTo((whole?.width ?? 0) / 4, 0.1);
    expect(part?.width).to.be.closeTo((whole?.width ?? 0) / 2, 0.1);
    expect(svg).to.include("put &lt;1&gt;").and.to.include("<title>A put</title>");
    expect(svg).to.include(">0 ms<").and.to.include(">4 ms<");
  });

  it("names the line of a mistake", () => {
    const wrong = [
      ["span 1 q-0 | x", /line 2: not a statement/],
      ["span 2 1 q-0 | x", /line 2: a span ends before it begins/],
      ["  span 1 2 q-0 | x", /line 2: .*deeper/],
    ] as const;
    for (const [line, message] of wrong) {
      expect(() => drawTrace(`title T\n${line}\n`), line).to.throw(DiagramError, message);
    }
    expect(() => drawTrace("title T\n")).to.throw(DiagramError, "spans that take time");
  });

  it("is made from the spans of one trace, whatever the order in which they arrived", () => {
    const member = (name: string) => ({ attributes: [{ key: "quoin.member", value: { stringValue: name } }] });
    const span = (spanId: string, parentSpanId: string, from: number, to: number, traceId = "t") => ({
      traceId,
      spanId,
      parentSpanId,
      name: `span ${spanId}`,
      startTimeUnixNano: `175000000000000${from}000`,
      endTimeUnixNano: `175000000000000${to}000`,
    });
    const recorded: RecordedSpans[] = [
      {
        resourceSpans: [
          { resource: member("q-1"), scopeSpans: [{ spans: [span("c", "b", 3, 4), span("x", "a", 1, 9, "other")] }] },
        ],
      },
      {
        resourceSpans: [
          { resource: member("q-0"), scopeSpans: [{ spans: [span("b", "a", 2, 5), span("d", "a", 1, 2)] }] },
        ],
      },
      { resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ spans: [span("a", "gone", 1, 9)] }] }] },
    ];
    expect(traceTextOf("A put", "t", recorded).split("\n")).to.deep.equal([
      "title A put",
      "span 0 8 client | span a",
      "  span 0 1 q-0 | span d",
      "  span 1 4 q-0 | span b",
      "    span 2 3 q-1 | span c",
      "",
    ]);
  });
});
