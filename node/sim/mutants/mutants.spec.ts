import { spawnSync } from "node:child_process";
import { stripTypeScriptTypes } from "node:module";
import { expect } from "chai";
import { commitText } from "../index.ts";
import { MUTANTS } from "./catalogue.ts";
import { choose } from "./choice.ts";
import { Judge, staleness } from "./judgement.ts";
import { mutated, sourceOf } from "./mutant.ts";
import { MARKED_PITFALLS } from "./pitfalls.ts";
import { readRecord } from "./record.ts";

/** Each commit tries another share, so that each mutant gets its turn; `npm run mutants` runs all of them. */
const SHARE = 12;
const mutants = new Map(MUTANTS.map((mutant) => [mutant.name, mutant]));
const record = readRecord();

/** Reads named modules as JSON, parses each, and prints the engine's errors. */
const PARSER = `
  import { readFileSync } from "node:fs";
  import { SourceTextModule } from "node:vm";
  for (const [name, source] of JSON.parse(readFileSync(0, "utf8"))) {
    try {
      new SourceTextModule(source);
    } catch (error) {
      console.log(name + ": " + error);
    }
  }
`;

/** Errors of the modules that do not parse, such as one that declares a name twice. */
function unparsable(sources: readonly (readonly [name: string, source: string])[]): string[] {
  const args = ["--no-warnings", "--experimental-vm-modules", "--input-type=module", "--eval", PARSER];
  const child = spawnSync(process.execPath, args, { input: JSON.stringify(sources), encoding: "utf8" });
  expect(child.status, child.stderr).to.equal(0);
  return child.stdout.split("\n").filter((line) => line !== "");
}

describe("mutants", () => {
  it("have names of their own", () => {
    expect(mutants.size).to.equal(MUTANTS.length);
  });

  it("are not stale: what they replace stands once in its file, and what they make of it is TypeScript", () => {
    const modules = MUTANTS.map((mutant): [string, string] => {
      expect(staleness(mutant), mutant.name).to.equal(null);
      return [mutant.name, stripTypeScriptTypes(mutated(sourceOf(mutant), mutant))];
    });
    expect(unparsable(modules)).to.deep.equal([]);
    const twice = unparsable([["twice", "const a = 1; const a = 2;"]]);
    expect(twice).to.deep.equal(["twice: SyntaxError: Identifier 'a' has already been declared"]);
  });

  it("are stale when what they replace is gone, or is there twice", () => {
    const mutant = { name: "one", pitfall: "P1", file: "raft/votes.ts", find: "a", replace: "b" };
    expect(mutated("-a-", mutant)).to.equal("-b-");
    expect(() => mutated("--", mutant)).to.throw("stale mutant one: what it replaces stands 0 times in raft/votes.ts");
    expect(() => mutated("-a-a-", mutant)).to.throw("stands 2 times");
  });

  it("exist for every pitfall that the simulator must catch", () => {
    const covered = new Set(MUTANTS.map(({ pitfall }) => pitfall));
    expect(MARKED_PITFALLS.filter((pitfall) => !covered.has(pitfall))).to.deep.equal([]);
  });

  it("have a killer in the record, which knows of no others", () => {
    expect([...record.keys()]).to.have.members([...mutants.keys()]);
    expect([...record].filter(([, { killer }]) => killer === null).map(([name]) => name)).to.deep.equal([]);
  });

  it("are chosen by the commit, another dozen with each", () => {
    const names = (by: string): string[] => choose(MUTANTS, SHARE, by).map(({ name }) => name);
    expect(names("one")).to.have.length(SHARE).and.to.deep.equal(names("one"));
    expect(names("one")).not.to.deep.equal(names("two"));
  });

  describe("of this commit's share", () => {
    const judge = new Judge(record);
    for (const mutant of choose(MUTANTS, SHARE, commitText())) {
      it(`${mutant.pitfall}: ${mutant.name} is caught`, async () => {
        const { isKilled, killer, line } = await judge.judge(mutant);
        expect(isKilled, `${killer}: ${line}`).to.equal(true);
      });
    }
  });
});
