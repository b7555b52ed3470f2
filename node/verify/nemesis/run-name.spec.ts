import { expect } from "chai";
import { bridgeOf, cableOf, directoryOf, groupsOf, namespaceOf, runnerOf } from "./run-name.ts";

const RUNNER = 4_194_304;

describe("names of a nemesis run", () => {
  it("show which run they belong to", () => {
    const names = [
      namespaceOf(RUNNER, "q-0"),
      bridgeOf(RUNNER),
      cableOf(RUNNER, 12),
      directoryOf(RUNNER),
      groupsOf(RUNNER),
    ];
    for (const name of [...names, `${directoryOf(RUNNER)}/disk-q-1`]) {
      expect(runnerOf(name), name).to.equal(RUNNER);
    }
  });

  it("are short enough for links, with the greatest process id that Linux gives", () => {
    for (const link of [bridgeOf(RUNNER), cableOf(RUNNER, 9_999)]) {
      expect(link.length, link).to.be.at.most(15);
    }
  });

  it("are distinguished from names that belong to no run", () => {
    for (const name of ["", "lo", "eth0", "qn", "qnbr", "qn12x", "docker0", "/tmp/quoin-nemesis-x", "/tmp/other-12"]) {
      expect(runnerOf(name), name).to.equal(null);
    }
  });
});
