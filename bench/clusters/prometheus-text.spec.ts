import { expect } from "chai";
import { readMetric, sumOfMetric } from "./prometheus-text.ts";

describe("a text for Prometheus", () => {
  const text = [
    "# HELP quoin_delay_max_seconds Largest delay.",
    "# TYPE quoin_delay_max_seconds gauge",
    "quoin_delay_max_seconds_total 7",
    'quoin_delay_max_seconds{loop="main"} 8',
    "quoin_delay_max_seconds 0.0125",
    "quoin_tiny_seconds 1.5e-7",
    "quoin_late 3 1700000000000",
    "quoin_nothing NaN",
    "quoin_cut",
    "quoin_empty ",
  ].join("\n");

  it("returns the value of a metric by its whole name, and not from a comment", () => {
    expect(readMetric(text, "quoin_delay_max_seconds")).to.equal(0.0125);
    expect(readMetric(text, "quoin_tiny_seconds")).to.equal(1.5e-7);
    expect(readMetric(text, "quoin_late")).to.equal(3);
  });

  for (const name of ["quoin_delay", "quoin_nothing", "quoin_cut", "quoin_empty", "HELP"]) {
    it(`does not contain ${name}`, () => {
      expect(() => readMetric(text, name)).to.throw(`do not contain ${name}`);
    });
  }

  it("adds a metric up over all labels, or over the requested ones", () => {
    const labelled = [
      "# TYPE quoin_sent_total counter",
      'quoin_sent_total{to="a b",result="done"} 2',
      'quoin_sent_total{to="c",result="failed"} 3',
      'quoin_sent_total_more{to="c"} 5',
      "# TYPE quoin_ready gauge",
      "quoin_ready 1",
      "# TYPE quoin_seen_total counter",
      "# TYPE quoin_odd gauge",
      "quoin_odd NaN",
      "# TYPE quoin_took_seconds histogram",
      'quoin_took_seconds_bucket{to="c",le="1"} 3',
      'quoin_took_seconds_sum{to="c"} 1.5',
      'quoin_took_seconds_count{to="c"} 4',
    ].join("\n");
    expect(sumOfMetric(labelled, "quoin_sent_total")).to.equal(5);
    expect(sumOfMetric(labelled, "quoin_sent_total", /to="a b"/)).to.equal(2);
    expect(sumOfMetric(labelled, "quoin_ready")).to.equal(1);
    expect(sumOfMetric(labelled, "quoin_seen_total")).to.equal(0);
    expect(sumOfMetric(labelled, "quoin_took_seconds_sum")).to.equal(1.5);
    expect(sumOfMetric(labelled, "quoin_took_seconds_count")).to.equal(4);
    expect(() => sumOfMetric(labelled, "quoin_sent")).to.throw("do not contain quoin_sent");
    expect(() => sumOfMetric(labelled, "quoin_odd")).to.throw("do not contain quoin_odd");
  });
});
