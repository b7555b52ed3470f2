import { expect } from "chai";
import { describeSeeds } from "./seed-specs.ts";

describe("a simulated cluster, further", () => {
  // The last four erase regions, which few seeds do.
  const counts = [describeSeeds(25, 60), describeSeeds(71, 74)];

  it("covers the faults and changes that it should", () => {
    const sum = (name: string): number => counts.flat().reduce((total, one) => total + (one[name] ?? 0), 0);
    for (const name of [
      ...["answered", "reads", "faults", "changes", "snapshots", "leaders", "wiped", "expired"],
      ...["grants", "lapsed", "fenced", "regions", "erasures", "streams", "told", "compacted"],
      ...["appends", "duplicates", "conflicts", "removed", "revocations", "refused"],
      ...["archived", "archive snapshots", "pruned", "breaks", "forks", "archive failures"],
    ]) {
      expect(sum(name), name).to.be.above(2);
    }
  });
});
