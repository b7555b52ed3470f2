import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { drawChart } from "./draw.ts";
import { ChartError, type MeasureName, readChart } from "./figures.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The pictures of docs/benchmarks.md, with their figures. */
const PICTURES: readonly (readonly [picture: string, figures: string, measure: MeasureName])[] = [
  ["benchmark-etcd-throughput", "etcd-2026-11-30", "per-second"],
  ["benchmark-etcd-p99", "etcd-2026-11-30", "p99"],
  ["benchmark-nats-throughput", "nats-2026-11-30", "per-second"],
];

describe("a chart of a comparison", () => {
  let directory: string;
  let file: string;

  beforeEach(() => {
    directory = temporaryDirectory();
    file = join(directory, "figures.json");
  });

  const point = (perSecond: number, p50Ms: number, p99Ms: number, cpu: number | null = null) => {
    return { concurrency: 8, perSecond, timings: [{ p50Ms, p99Ms }], memberCpuSecondsPer1000: cpu };
  };

  const write = (content: object): void => writeFileSync(file, JSON.stringify(content));

  const report = (rows: readonly object[]) => {
    return { format: 1, setup: { startedAt: "2030-01-02T03:04:05Z", systems: ["a", "b<c"], cpus: 4 }, rows };
  };

  const row = { scenario: "put", concurrencyName: "in flight", ours: point(300, 2, 9, 1), theirs: point(200, 4, 6, 2) };

  it("has a bar for each point, as long as the ratio, with both figures", () => {
    write(report([row, { ...row, scenario: "get", ours: point(1_200, 2, 9), theirs: point(400, 1, 1) }]));
    const chart = readChart(file, "per-second");
    expect(chart.bars).to.deep.equal([
      { label: "put, 8 in flight", ours: 300, theirs: 200 },
      { label: "get, 8 in flight", ours: 1_200, theirs: 400 },
    ]);
    const svg = drawChart(chart);
    const widths = [...svg.matchAll(/<rect x=.* width="([\d.]+)"/g)].map(([, width]) => Number(width));
    expect(widths).to.have.lengthOf(2);
    expect((widths[1] ?? 0) / (widths[0] ?? 1)).to.be.closeTo(2, 0.01);
    expect(svg).to.include("1.50× (300 / 200)").and.to.include("3.00× (1,200 / 400)");
    expect(svg).to.include("a / b&lt;c: operations per second").and.to.include("2030-01-02, 4 CPUs");
  });

  it("has the chosen figure, and leaves out points without it", () => {
    write(report([row, { ...row, scenario: "get", ours: point(1, 1, 1) }]));
    expect(readChart(file, "p50").bars[0]).to.include({ ours: 2, theirs: 4 });
    expect(readChart(file, "p99").bars[0]).to.include({ ours: 9, theirs: 6 });
    expect(readChart(file, "cpu").bars).to.deep.equal([{ label: "put, 8 in flight", ours: 1_000, theirs: 2_000 }]);
  });

  it("is refused for other files, with their name", () => {
    const refusal = (): string => {
      try {
        readChart(file, "cpu");
      } catch (error) {
        expect(error).to.be.instanceOf(ChartError);
        return (error as Error).message;
      }
      return "";
    };
    expect(refusal()).to.include(file).and.to.include("cannot be read");
    write({ format: 2 });
    expect(refusal()).to.include(file).and.to.include("in format 1");
    write(report([]));
    expect(refusal()).to.include("does not contain");
    write(report([{ ...row, ours: point(1, 1, 1) }]));
    expect(refusal()).to.include("no figures of cpu");
  });

  for (const [picture, figures, measure] of PICTURES) {
    it(`docs/diagrams/${picture}.svg shows the figures of docs/benchmarks.md`, () => {
      const recorded = readChart(join(ROOT, `bench/figures/${figures}.json`), measure);
      expect(readFileSync(join(ROOT, `docs/diagrams/${picture}.svg`), "utf8")).to.equal(drawChart(recorded));
      const rows = readFileSync(join(ROOT, "docs/benchmarks.md"), "utf8")
        .replaceAll(/(?<=\d),(?=\d{3})/g, "")
        .split("\n");
      for (const { label, ours, theirs } of recorded.bars) {
        const plain = label.replaceAll(/(?<=\d),(?=\d{3})/g, "");
        const pairs = rows
          .filter((row) => row.startsWith(`| ${plain} `))
          .flatMap((row) => [...row.matchAll(/([\d.]+) \/ ([\d.]+),/g)])
          .map(([, left, right]) => [Number(left), Number(right)]);
        expect(pairs, label).to.deep.include([ours, theirs]);
      }
    });
  }
});
