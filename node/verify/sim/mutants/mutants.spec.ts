import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import path from "node:path";
import { expect } from "chai";
import { MUTANTS } from "./catalogue.ts";
import { choose } from "./choice.ts";
import { mutated, sourceOf } from "./mutant.ts";
import { staleness } from "./mutant-checker.ts";
import { MARKED_PITFALLS } from "./pitfalls.ts";
import { readRecord } from "./record.ts";

const BY_NAME = new Map(MUTANTS.map((mutant) => [mutant.name, mutant]));
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

const ROOT = path.resolve(import.meta.dirname, "../../../..");
/** String literals and templates on one line of a source, without their quotes. */
const LITERAL = /(["`])((?:\\.|(?!\1)[^\\\n])+)\1/g;
const RELATIVE_IMPORT = / from "(\.[^"]+)";/g;
/** A template with less fixed text than this could be any title. */
const FIXED_LENGTH_MIN = 5;

/** The sources that a source imports, and what they export again. */
function importsOf(file: string): string[] {
  const imports = [...readFileSync(file, "utf8").matchAll(RELATIVE_IMPORT)].map(([, name = ""]) => {
    return path.join(path.dirname(file), name);
  });
  return imports.flatMap((name) => (path.basename(name) === "index.ts" ? importsOf(name) : [name]));
}

/** Whether a test of a spec has this full title, as far as its source, and the sources that it imports, show it. */
function hasTitle(spec: string, fullTitle: string): boolean {
  const file = path.join(ROOT, spec);
  return existsSync(file) && isJoined(fullTitle, titlesOf(file));
}

/** Titles of suites and tests: fixed ones, and patterns for those with inserted values. */
interface Titles {
  readonly fixed: ReadonlySet<string>;
  readonly patterns: readonly RegExp[];
}

const titles = new Map<string, Titles>();

function titlesOf(file: string): Titles {
  const known = titles.get(file);
  if (known !== undefined) {
    return known;
  }
  const literals = [file, ...importsOf(file)].flatMap((name) =>
    [...readFileSync(name, "utf8").matchAll(LITERAL)].map(([, , text = ""]) => text.replaceAll('\\"', '"')),
  );
  const parts = literals.map((text) => text.split(/\$\{[^}]*\}/)).filter((one) => one.length > 1);
  const found = {
    fixed: new Set(literals),
    patterns: parts
      .filter((one) => one.join("").length >= FIXED_LENGTH_MIN)
      .map((one) => new RegExp(`^${one.map((part) => RegExp.escape(part)).join(".*")}$`)),
  };
  titles.set(file, found);
  return found;
}

/** Whether the text is the titles of suites and a test, one after the other. */
function isJoined(text: string, { fixed, patterns }: Titles): boolean {
  const starts = [...text.matchAll(/(?<=^| )\S/g)].map(({ index }) => index);
  return starts.some((start) => {
    const last = text.slice(start);
    const isTitle = fixed.has(last) || patterns.some((pattern) => pattern.test(last));
    return isTitle && (start === 0 || isJoined(text.slice(0, start - 1), { fixed, patterns }));
  });
}

describe("mutants", () => {
  it("have names of their own", () => {
    expect(BY_NAME.size).to.equal(MUTANTS.length);
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
    expect([...record.keys()]).to.have.members([...BY_NAME.keys()]);
    expect([...record].filter(([, { killer }]) => killer === null).map(([name]) => name)).to.deep.equal([]);
  });

  it("have killers that exist: a test whose title is changed has to be renamed in the record, too", () => {
    const missing = [...record].flatMap(([name, { killer }]) =>
      killer !== null && "spec" in killer && killer.grep !== undefined && !hasTitle(killer.spec, killer.grep)
        ? [`${name}: ${killer.spec}: ${killer.grep}`]
        : [],
    );
    expect(missing).to.deep.equal([]);
    expect(hasTitle("node/verify/sim/commit.spec.ts", "mutants have names of their own")).to.equal(false);
    expect(hasTitle("node/verify/sim/mutants/missing.spec.ts", "mutants have names of their own")).to.equal(false);
  });

  it("are chosen by a text, another dozen with each", () => {
    const names = (by: string): string[] => choose(MUTANTS, 12, by).map(({ name }) => name);
    expect(names("one")).to.have.length(12).and.to.deep.equal(names("one"));
    expect(names("one")).not.to.deep.equal(names("two"));
  });
});
