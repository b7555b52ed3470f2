import { expect } from "chai";
import { divide } from "./test-fast.ts";
import { findLayers, type TestLayer } from "./test-layers.ts";

describe("the division of the suite", () => {
  const suite = findLayers().filter(({ isOfTools }) => isOfTools !== true);
  const { fast, computed, rest } = divide(suite);

  function filesOf(layers: readonly TestLayer[], name: string): readonly string[] {
    return layers.find((layer) => layer.name === name)?.files ?? [];
  }

  it("has each file of the suite in one part, and only there", () => {
    for (const { name, files } of suite) {
      const inParts = [fast, computed, rest].flatMap((part) => filesOf(part, name));
      expect(inParts, name).to.have.members([...files]);
    }
  });

  it("has most specs, and a file of each layer with real processes, in npm test", () => {
    expect(filesOf(fast, "specs").length).to.be.above(filesOf(suite, "specs").length * 0.9);
    for (const name of ["simulator", "conformance", "crash", "cluster", "process"]) {
      expect(filesOf(fast, name), name).not.to.deep.equal([]);
    }
    expect(filesOf(fast, "simulator")).to.include("node/verify/sim/corpus.spec.ts");
  });

  it("has nothing that starts members in the part that may run beside anything", () => {
    expect(computed.map(({ name, startsMembers }) => [name, startsMembers])).to.deep.equal([
      ["mutants", false],
      ["simulator", false],
    ]);
  });

  it("has no layer without a file", () => {
    expect([...fast, ...computed, ...rest].filter(({ files }) => files.length === 0)).to.deep.equal([]);
  });

  it("is refused when a file or a layer that it names does not exist", () => {
    const without = (file: string): TestLayer[] =>
      suite.map((layer) => ({ ...layer, files: layer.files.filter((each) => each !== file) }));
    expect(() => divide(without("node/verify/sim/sim.spec.ts"))).to.throw(
      "node/verify/sim/sim.spec.ts, which is not a spec file of the layer simulator",
    );
    expect(() => divide(suite.filter(({ name }) => name !== "cluster"))).to.throw(
      "a layer cluster, which does not exist",
    );
  });
});
