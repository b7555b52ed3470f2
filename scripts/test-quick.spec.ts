import { expect } from "chai";
import { findLayers, type TestLayer } from "./test-layers.ts";
import { chooseQuick } from "./test-quick.ts";

/** Layers with these files. */
function layersOf(files: Readonly<Record<string, readonly string[]>>): TestLayer[] {
  return Object.entries(files).map(([name, own]) => ({ name, files: own, timeoutMs: 1_000, startsMembers: false }));
}

describe("the choice of npm test -- --quick", () => {
  const whole = findLayers();
  const quick = chooseQuick(whole);

  function chosen(name: string): TestLayer {
    return quick.layers.find((layer) => layer.name === name) ?? expect.fail(`nothing of the layer ${name}`);
  }

  it("has most specs, some seeds, and a file on real members for each layer", () => {
    const specs = whole.find(({ name }) => name === "specs")?.files ?? [];
    expect(quick.layers.map(({ name }) => name)).to.have.members([
      ...["specs", "simulator", "conformance", "cluster", "process"],
    ]);
    expect(chosen("specs").files.length)
      .to.be.above(specs.length * 0.8)
      .and.below(specs.length);
    expect(specs).to.include.members([...chosen("specs").files]);
    for (const name of ["simulator", "conformance", "cluster", "process"]) {
      expect(chosen(name).files, name).to.have.length(1);
    }
  });

  it("has six of three hundred consecutive seeds, with any first one", () => {
    const pattern = new RegExp(chosen("simulator").grep ?? expect.fail("all tests run"));
    for (const first of [1, 49, 50, 4_294_966_996]) {
      const seeds = Array.from(
        { length: 300 },
        (_, at) => `a simulated cluster keeps every rule with seed ${first + at}`,
      );
      expect(seeds.filter((title) => pattern.test(title))).to.have.length(6);
    }
    expect(pattern.test("a simulated cluster covers the faults and changes that it should")).to.equal(false);
  });

  it("reports for every layer what it leaves out", () => {
    expect(quick.leftOut.map((line) => line.split(":")[0])).to.deep.equal(whole.map(({ name }) => name));
  });

  it("is refused when a file or a layer that it names does not exist", () => {
    const without = (file: string): TestLayer[] =>
      whole.map((layer) => ({ ...layer, files: layer.files.filter((each) => each !== file) }));
    expect(() => chooseQuick(without("node/verify/sim/sim.spec.ts"))).to.throw(
      "node/verify/sim/sim.spec.ts, which is not a spec file",
    );
    expect(() => chooseQuick(without("scripts/ci.spec.ts"))).to.throw("scripts/ci.spec.ts, which is not a spec file");
    expect(() => chooseQuick(layersOf({ specs: ["a.spec.ts"] }))).to.throw("a layer simulator, which does not exist");
  });
});
