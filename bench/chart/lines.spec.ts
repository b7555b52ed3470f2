import { expect } from "chai";
import { drawLines, type TimeChart } from "./lines.ts";

const CHART: TimeChart = {
  title: "Memory & time",
  note: "an example",
  seconds: 600,
  panels: [
    {
      title: "resident memory, MiB",
      isLogarithmic: false,
      lines: [
        { label: "q-0", points: [0, 300, 600].map((atSeconds) => ({ atSeconds, value: 100 + atSeconds / 6 })) },
        { label: "q-1", points: [100, null, 200, 200].map((value, at) => ({ atSeconds: at * 200, value })) },
      ],
    },
    {
      title: "p99, ms",
      isLogarithmic: true,
      lines: [{ label: "put", points: [3, 30, 300].map((value, at) => ({ atSeconds: at * 300, value })) }],
    },
  ],
  marks: [{ atSeconds: 300, label: "a leader is killed" }],
};

/** The points of each line, which are the paths of a width of their own. */
function pathsOf(svg: string): number[][][] {
  const paths = [...svg.matchAll(/<path d="([^"]+)" fill="none"/g)].map(([, path]) => path ?? "");
  return paths.map((path) => [...path.matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]));
}

describe("a chart of figures over time", () => {
  const svg = drawLines(CHART);

  it("has a line for each series, on one time axis", () => {
    const [first = [], second = [], third = []] = pathsOf(svg);
    const xs = first.map(([x = 0]) => x);
    expect(xs[1]).to.be.closeTo(((xs[0] ?? 0) + (xs[2] ?? 0)) / 2, 0.1);
    expect(third.map(([x]) => x)).to.deep.equal(xs);
    expect(second).to.have.lengthOf(3);
  });

  it("interrupts a line where nothing is known", () => {
    const path = [...svg.matchAll(/<path d="([^"]+)" fill="none"/g)][1]?.[1] ?? "";
    expect(path.match(/M/g)).to.have.lengthOf(2);
  });

  it("shows factors as equal distances on a logarithmic axis", () => {
    const [low = 0, middle = 0, high = 0] = (pathsOf(svg)[2] ?? []).map(([, y]) => y);
    expect(low - middle).to.be.closeTo(middle - high, 0.1);
    expect(low).to.be.above(high);
  });

  it("has round values at its axes, a legend, and a mark for each event", () => {
    for (const shown of [">50<", ">200<", ">0 min<", ">10 min<", "— q-1", "— put", "a leader is killed"]) {
      expect(svg).to.include(shown);
    }
    expect(svg).to.include("Memory &amp; time");
  });

  it("is drawn without any figures, too", () => {
    const lines = [{ label: "q-0", points: [] }];
    const empty = { ...CHART, panels: CHART.panels.map((panel) => ({ ...panel, lines })), marks: [] };
    expect(drawLines(empty)).not.to.match(/NaN|Infinity/);
  });
});
