import { expect } from "chai";
import { DurationHistogram } from "./duration-histogram.ts";
import { BEAT_INTERVAL_MS, EventLoopDelay } from "./event-loop-delay.ts";
import { counter, gauge, histogram } from "./metric.ts";
import { Metrics } from "./metrics.ts";
import { PROCESS_METRICS } from "./process-metrics.ts";

const FRESH_MS = 101;

describe("metrics of a member", () => {
  let nowMs: number;
  let metrics: Metrics;

  beforeEach(() => {
    nowMs = 0;
    metrics = new Metrics(() => nowMs);
  });

  /** The lines of a metric, without its description. */
  async function linesOf(name: string): Promise<string[]> {
    nowMs += FRESH_MS;
    const text = await metrics.metrics();
    return text.split("\n").filter((line) => line.startsWith(name));
  }

  it("are read at each collection, with their help and their type", async () => {
    const source = { sent: 3 };
    const read = ({ sent }: typeof source) => sent;
    metrics.add([counter({ name: "quoin_sent_total", help: "What was sent.", read })], source);
    expect(await metrics.metrics()).to.equal(
      "# HELP quoin_sent_total What was sent.\n# TYPE quoin_sent_total counter\nquoin_sent_total 3\n",
    );
    expect(metrics.contentType).to.include("text/plain; version=0.0.4");
    source.sent = 5;
    expect(await linesOf("quoin_sent_total")).to.deep.equal(["quoin_sent_total 5"]);
  });

  it("have a line for each combination of labels, and none without a value", async () => {
    const pairs: [string[], number][] = [
      [["a", "x"], 1],
      [['"\\', "y"], 2],
    ];
    metrics.add(
      [
        gauge({ name: "quoin_pairs", help: "Pairs.", labels: ["first", "second"], read: () => pairs }),
        gauge({ name: "quoin_nothing", help: "Nothing.", read: () => null }),
      ],
      {},
    );
    expect(await linesOf("quoin_pairs")).to.deep.equal([
      'quoin_pairs{first="a",second="x"} 1',
      'quoin_pairs{first="\\"\\\\",second="y"} 2',
    ]);
    expect(await linesOf("quoin_nothing")).to.deep.equal([]);
    pairs.splice(0);
    expect(await linesOf("quoin_pairs")).to.deep.equal([]);
  });

  it("report durations by buckets, each with all below it", async () => {
    const bounds = [0.01, 1];
    const durations = new DurationHistogram(bounds);
    for (const ms of [5, 6, 500, 5_000]) {
      durations.addMs(ms);
    }
    const read = () => [[["put"], durations] as const];
    metrics.add([histogram({ name: "quoin_took_seconds", help: "Took.", labels: ["what"], bounds, read })], {});
    expect(await linesOf("quoin_took_seconds")).to.deep.equal([
      'quoin_took_seconds_bucket{what="put",le="0.01"} 2',
      'quoin_took_seconds_bucket{what="put",le="1"} 3',
      'quoin_took_seconds_bucket{what="put",le="+Inf"} 4',
      'quoin_took_seconds_sum{what="put"} 5.511',
      'quoin_took_seconds_count{what="put"} 4',
    ]);
  });

  it("are collected once for all simultaneous readers, and again a moment later", async () => {
    let reads = 0;
    metrics.add([gauge({ name: "quoin_reads", help: "Reads.", read: () => ++reads })], {});
    expect(await Promise.all([metrics.metrics(), metrics.metrics()])).to.have.property("length", 2);
    expect(reads).to.equal(1);
    expect(await linesOf("quoin_reads")).to.deep.equal(["quoin_reads 2"]);
  });

  it("refuse a name that is taken", () => {
    const taken = [gauge({ name: "quoin_twice", help: "Twice.", read: () => 1 })];
    metrics.add(taken, {});
    expect(() => metrics.add(taken, {})).to.throw("quoin_twice");
  });

  it("report the largest delay of the event loop in seconds, and start again", async () => {
    let monotonicMs = 0;
    const eventLoopDelay = new EventLoopDelay(() => monotonicMs);
    metrics.add(PROCESS_METRICS, { version: "1.2.3", wallMs: () => 1_700_000_000_250, eventLoopDelay });
    monotonicMs += BEAT_INTERVAL_MS + 250;
    expect(await linesOf("quoin_event_loop_delay_max_seconds")).to.deep.equal([
      "quoin_event_loop_delay_max_seconds 0.25",
    ]);
    expect(await linesOf("quoin_event_loop_delay_max_seconds")).to.deep.equal(["quoin_event_loop_delay_max_seconds 0"]);
    expect(await linesOf("quoin_clock_seconds")).to.deep.equal(["quoin_clock_seconds 1700000000.25"]);
    expect(await linesOf("quoin_build_info")).to.deep.equal([
      `quoin_build_info{version="1.2.3",node_version="${process.versions.node}"} 1`,
    ]);
  });

  it("describe the process, and only counters have names of counters", async () => {
    metrics.addProcess();
    const text = await metrics.metrics();
    expect(text).to.match(/^process_cpu_seconds_total [0-9.e-]+$/m);
    expect(text).to.match(/^process_resident_memory_bytes \d+$/m);
    for (const [, name, type] of text.matchAll(/^# TYPE (\S+_total) (\S+)$/gm)) {
      expect(type, name).to.equal("counter");
    }
  });

  it("report nothing that needs a timer which wakes an idle process up", async () => {
    metrics.addProcess();
    const text = await metrics.metrics();
    const lags = [...text.matchAll(/^# TYPE (nodejs_eventloop_lag_\S+) /gm)].map(([, name]) => name);
    expect(lags).to.deep.equal(["nodejs_eventloop_lag_seconds"]);
  });
});
