import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "./command.ts";
import { findLayers } from "./test-layers.ts";
import { buildTestTools, TEST_TOOLS } from "./test-tools.ts";

describe("tools of the tests", () => {
  it("name specs that exist", () => {
    const known = new Set(findLayers().flatMap(({ files }) => files));
    expect(TEST_TOOLS.flatMap(({ specs }) => specs).filter((spec) => !known.has(spec))).to.deep.equal([]);
  });

  it("include everything that a spec makes once on a machine", () => {
    const makes = /\b(pythonEnvironment|startVersitygw|startMoto|goClient|javaClient|rustClient|installRuntimes)\b/;
    const named = new Set(TEST_TOOLS.flatMap(({ specs }) => specs));
    const users = findLayers()
      .flatMap(({ files }) => files)
      .filter((file) => makes.test(readFileSync(path.join(repositoryRoot, file), "utf8")));
    expect(users).to.include("node/test/client/package.spec.ts");
    expect(users.filter((file) => !named.has(file) && file !== "scripts/test-tools.spec.ts")).to.deep.equal([]);
  });

  it("are built before a run that uses them, whatever becomes of the others", async () => {
    const built: string[] = [];
    const tool = (name: string, specs: string[], fails = false) => ({
      name,
      specs,
      make: async () => {
        built.push(name);
        if (fails) {
          throw new Error("this machine has no such tool");
        }
      },
    });
    const tools = [tool("one", ["a"], true), tool("two", ["b"]), tool("three", ["c", "a"])];
    await buildTestTools(new Set(["a", "d"]), () => expect.fail("it took no time"), tools);
    expect(built).to.deep.equal(["one", "three"]);
  });
});
