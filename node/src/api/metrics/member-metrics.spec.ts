import { expect } from "chai";
import { METRIC_LISTS } from "./member-metrics.ts";

const ALL = [...METRIC_LISTS.values()].flat();

describe("the metrics of a member", () => {
  it("have unique names, in the conventions of Prometheus, and a sentence each", () => {
    expect(new Set(ALL.map(({ name }) => name)).size).to.equal(ALL.length);
    for (const { name, type, help, labels } of ALL) {
      expect(name).to.match(/^quoin_[a-z][a-z0-9_]*[a-z0-9]$/);
      expect(name.endsWith("_total"), name).to.equal(type === "counter");
      expect(name, "base units").to.not.match(/_(ms|milliseconds|kib|mib|kilobytes|percent|count|sum|bucket)(_|$)/);
      expect(type === "histogram" ? name : "_seconds").to.match(/_seconds$/);
      expect(help, name).to.match(/^[A-Z0-9].+[.]$/s);
      for (const label of labels) {
        expect(label, name).to.match(/^[a-z][a-z_]*$/);
      }
    }
  });

  it("have no label for anything that clients choose", () => {
    const chosen = ["namespace", "key", "lock", "subject", "user", "email", "address", "path", "url", "log", "region"];
    for (const { name, labels } of ALL) {
      expect(
        labels.filter((label) => chosen.includes(label)),
        name,
      ).to.deep.equal([]);
    }
  });
});
