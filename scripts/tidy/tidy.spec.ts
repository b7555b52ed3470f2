/** Each tidiness rule refuses its bad example and accepts the good one beside it. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { findUntidiness } from "./index.ts";

/** A valid lockfile. */
const lockfile = JSON.stringify({ packages: { "": {} } });

describe("tidiness", () => {
  let root: string;

  beforeEach(() => {
    root = temporaryDirectory();
  });

  /** @returns the findings for a repository with these files, as `path: message` */
  function check(files: Readonly<Record<string, string | Uint8Array>>): string[] {
    for (const [name, content] of Object.entries({ "package-lock.json": lockfile, ...files })) {
      const file = path.join(root, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    return findUntidiness(root).map((finding) => `${finding.path}: ${finding.message}`);
  }

  describe("sentences", () => {
    const broken = (line: number) => `a.md: line ${line}: a list mark in the middle of a sentence`;

    for (const [what, text] of [
      ["+ 1", "continue from the position\n+ 1. Then pause.\n"],
      ["+ 1 in an item, as a formatter changes it", "1. continue from the position\n   - 1. Then pause.\n"],
      ["- 1", "the revision\n- 1 is the last one\n"],
      ["* 2", "it takes the number of members\n* 2 seconds\n"],
      ["> x", "it fails if a count\n> the limit exists\n"],
      ["# 1", "see the issue\n# 1 of that list\n"],
      ["a number and a full stop", "reaches the ports 7400 and\n7401. Others are closed.\n"],
    ] as const) {
      it(`are not broken by a line with ${what}`, () => {
        expect(check({ "a.md": text })).to.deep.equal([broken(2)]);
      });
    }

    it("are not broken by an operator that has become an item after a full stop", () => {
      expect(check({ "a.md": "First.\n\n- 1. Then pause.\n" })).to.deep.equal([broken(3)]);
    });

    it("may end at a list, and items need not be sentences", () => {
      const lists =
        "# Title\n- a\n- b (c):\n  - of b:\n    - d\n\nThese:\n1. one\n2. two\n\n> quoted\n> again\n\n* 7 of 9\n";
      const code = "```text\na\n+ 1\n```\n\n    b\n    - 1. c\n";
      expect(check({ "a.md": `${lists}\n${code}`, "b.ts": "// a\n" })).to.deep.equal([]);
    });
  });

  describe("texts", () => {
    it("refuse unfinished work, also in folders that begin with a dot", () => {
      const note = `${"TO"}${"DO"}: later`;
      expect(check({ "a.md": `one\n${note}\n`, ".ci/run": `# ${"FIX"}${"ME"}\n` })).to.deep.equal([
        ".ci/run: line 1: unfinished work",
        "a.md: line 2: unfinished work",
      ]);
    });

    it("accept the same letters inside a word, and anything in installed or binary files", () => {
      const note = `${"TO"}${"DO"}`;
      const files = { "a.md": `${note}S\n`, "node_modules/a/b.js": note, "proto/baseline.binpb": `\0${note}` };
      expect(check(files)).to.deep.equal([]);
    });

    for (const folder of ["home", "root", "work", "Users"]) {
      it(`refuse a path below /${folder}`, () => {
        expect(check({ "a.ts": `const a = "/${folder}/b";\n` })).to.deep.equal([
          "a.ts: line 1: absolute path of a machine",
        ]);
      });
    }

    it("accept the same words in the middle of a path or an address", () => {
      expect(check({ "a.md": `src/${"work"}/a ./${"home"}/b https://example.com/${"Users"}/c\n` })).to.deep.equal([]);
    });
  });

  describe("the lockfile", () => {
    function checkPackages(packages: object): string[] {
      return check({ "package-lock.json": JSON.stringify({ packages }) });
    }

    it("must be there", () => {
      expect(check({ "package-lock.json": `{ "packages": {} }` })).to.deep.equal([]);
      rmSync(path.join(root, "package-lock.json"));
      expect(findUntidiness(root)).to.deep.equal([{ path: "package-lock.json", message: "missing" }]);
    });

    it("names no registry, but may link to a folder", () => {
      const packages = {
        "node_modules/a": { resolved: "https://registry.example.com/a.tgz" },
        "node_modules/b": { resolved: "b", link: true },
      };
      expect(checkPackages(packages)).to.deep.equal([
        "package-lock.json: node_modules/a names its registry: https://registry.example.com/a.tgz",
      ]);
    });

    it("holds the optional packages of all platforms", () => {
      const packages = {
        "": { optionalDependencies: { "platform-a": "1.0.0" } },
        "node_modules/b": { optionalDependencies: { "@b/x": "1.0.0", "@b/y": "1.0.0", "@b/z": "1.0.0" } },
        "node_modules/@b/x": {},
        "node_modules/b/node_modules/@b/y": {},
      };
      expect(checkPackages(packages)).to.deep.equal([
        "package-lock.json: no entry for platform-a, an optional dependency of the root",
        "package-lock.json: no entry for @b/z, an optional dependency of node_modules/b",
      ]);
    });
  });

  describe("rooms", () => {
    it("have a door", () => {
      const files = {
        "node/src/main.ts": "",
        "node/src/raft/index.ts": "",
        "node/src/raft/tracker/progress.ts": "",
        "node/src/api/grpc/index.ts": "",
        "node/src/state/only.spec.ts": "",
        "node/test/a.ts": "",
      };
      expect(check(files)).to.deep.equal(["node/src/raft/tracker: no index.ts"]);
    });
  });

  describe("imports of a member", () => {
    const main = { "node/src/main.ts": `import { a } from "./x/index.ts";\n` };
    const door = { "node/src/x/index.ts": `export { a } from "./a.ts";\n` };

    it("have no circle, also if they are imports of types over several lines", () => {
      const files = {
        ...main,
        ...door,
        "node/src/x/a.ts": `import type { B } from "./b.ts";\nexport const a: B = 1;\n`,
        "node/src/x/b.ts": `import {\n  c,\n} from "./c.ts";\nexport type B = typeof c;\n`,
        "node/src/x/c.ts": `import { type a } from "./a.ts";\nexport const c = 1;\n`,
      };
      expect(check(files)).to.deep.equal([
        "node/src/x/a.ts: imports go in a circle: " +
          "node/src/x/a.ts -> node/src/x/b.ts -> node/src/x/c.ts -> node/src/x/a.ts",
      ]);
    });

    it("have no circle anywhere else either", () => {
      const files = {
        ...main,
        ...door,
        "node/src/x/a.ts": "export const a = 1;\n",
        "client/src/cli/x/index.ts": `export type { A } from "../y/index.ts";\n`,
        "client/src/cli/y/index.ts": `import type { A } from "../x/index.ts";\nexport type { A };\n`,
      };
      expect(check(files)).to.include(
        "client/src/cli/x/index.ts: imports go in a circle: " +
          "client/src/cli/x/index.ts -> client/src/cli/y/index.ts -> client/src/cli/x/index.ts",
      );
    });

    it("have no circle through the doors of folders", () => {
      const files = {
        ...main,
        ...door,
        "node/src/x/a.ts": `import { b } from "../y/index.ts";\nexport const a = b;\n`,
        "node/src/y/index.ts": `export { b } from "./b.ts";\n`,
        "node/src/y/b.ts": `import type { a } from "../x/index.ts";\nexport const b = 1;\n`,
      };
      expect(check(files)).to.deep.equal([
        "node/src/x/a.ts: imports go in a circle: node/src/x/a.ts -> node/src/y/index.ts -> node/src/y/b.ts" +
          " -> node/src/x/index.ts -> node/src/x/a.ts",
      ]);
    });

    it("may meet again below, and specs may import what they test", () => {
      const files = {
        ...main,
        ...door,
        "node/src/x/a.ts": `import { b } from "./b.ts";\nimport { c } from "./c.ts";\nexport const a = b + c;\n`,
        "node/src/x/b.ts": `import { c } from "./c.ts";\nexport const b = c;\n`,
        "node/src/x/c.ts": "export const c = 1;\n",
        "node/src/x/c.spec.ts": `import { a } from "./a.ts";\nimport { c } from "./c.ts";\n`,
      };
      expect(check(files)).to.deep.equal([]);
    });
  });

  describe("exports", () => {
    it("are imported by some file", () => {
      const files = {
        "node/src/main.ts": `import { a, type B } from "./x/index.ts";\n`,
        "node/src/x/index.ts":
          `export const a = 1;\nexport interface B {}\nexport function c() {}\nexport async function* d() {}\n` +
          `export abstract class E {}\nexport type F = 1;\nconst g = 1;\nconst h = 1;\nexport { g, h as i };\n`,
      };
      const dead = ["c", "d", "E", "F", "g", "i"].map((name) => `node/src/x/index.ts: no file imports ${name}`);
      expect(check(files)).to.deep.equal(dead);
    });

    it("are used through index files, renamed or not", () => {
      const files = {
        "node/src/main.ts": `import {\n  a,\n  d,\n} from "./x/index.ts";\n`,
        "node/src/x/index.ts": `export { a, b as d } from "./y.ts";\n`,
        "node/src/x/y.ts": `export const a = 1;\nexport const b = 1;\n`,
      };
      expect(check(files)).to.deep.equal([]);
    });

    it("are dead when an index file exports them and no file imports them", () => {
      const files = {
        "node/src/x/index.ts": `export { a } from "./y.ts";\nexport * from "./z.ts";\n`,
        "node/src/x/y.ts": `export const a = 1;\n`,
        "node/src/x/z.ts": `export const b = 1;\n`,
      };
      expect(check(files)).to.deep.equal([
        "node/src/x/index.ts: no file imports a",
        "node/src/x/y.ts: no file imports a",
        "node/src/x/z.ts: no file imports b",
      ]);
    });

    it("are dead in the index file when only its own folder uses them", () => {
      const files = {
        "node/src/x/index.ts": `export { a } from "./y.ts";\n`,
        "node/src/x/y.ts": `export const a = 1;\n`,
        "node/src/x/z.ts": `import { a } from "./y.ts";\n`,
      };
      expect(check(files)).to.deep.equal(["node/src/x/index.ts: no file imports a"]);
    });

    it("of types are used as soon as an index file exports them", () => {
      const files = {
        "node/src/x/index.ts": `export { type A, type B } from "./y.ts";\n`,
        "node/src/x/y.ts": `export interface A {}\nexport type B = 1;\nexport type C = 1;\n`,
      };
      expect(check(files)).to.deep.equal(["node/src/x/y.ts: no file imports C"]);
    });

    it("of types are used when their own file mentions them, other than in a comment", () => {
      const files = {
        "node/src/main.ts": `import { a } from "./x/index.ts";\n`,
        "node/src/x/index.ts": `export interface A {}\n/** A B */\nexport interface B {} // B\nexport const a = (): A => ({});\n`,
      };
      expect(check(files)).to.deep.equal(["node/src/x/index.ts: no file imports B"]);
    });

    it("are all used by a namespace, a star, a default or a dynamic import", () => {
      const files = {
        "node/src/main.ts":
          `import * as a from "./a/index.ts";\nimport { b } from "./b/index.ts";\n` +
          `import c from "./c/index.ts";\nawait import("./d/index.ts");\n`,
        "node/src/a/index.ts": `export const a = 1;\n`,
        "node/src/b/index.ts": `export * from "./b.ts";\n`,
        "node/src/b/b.ts": `export const b = 1;\n`,
        "node/src/c/index.ts": `export default class C {}\n`,
        "node/src/d/index.ts": `export const d = 1;\n`,
      };
      expect(check(files)).to.deep.equal([]);
    });

    it("of a package's entry point are used; of the rest of the package they need a user", () => {
      const files = {
        "client/package.json": `{ "name": "@quoin/client", "exports": { ".": "./src/index.ts", "./d": "./src/d/index.ts" } }`,
        "client/src/index.ts": `export { a } from "./a.ts";\n`,
        "client/src/d/index.ts": `export const d = 1;\n`,
        "client/src/a.ts": `export const a = 1;\nexport const b = 1;\nexport const c = 1;\n`,
        "client/src/a.spec.ts": `import { c } from "./a.ts";\n`,
      };
      expect(check(files)).to.deep.equal(["client/src/a.ts: no file imports b"]);
    });

    it("survive names that every object has", () => {
      const files = {
        "node/src/main.ts": `import { constructor, __proto__ } from "./x/index.ts";\n`,
        "node/src/x/index.ts": `export const constructor = 1;\nexport const __proto__ = 1;\nexport const toString = 1;\n`,
      };
      expect(check(files)).to.deep.equal(["node/src/x/index.ts: no file imports toString"]);
    });
  });

  describe("numbers of rules and pitfalls", () => {
    const RULES = "docs/design/interface-rules.md";
    const PITFALLS = "docs/design/pitfalls.md";
    // Put together, for this file is checked as well.
    const [FIRST, OTHER, PITFALL] = [`S${900}`, `S${901}`, `P${902}`];
    const row = (number: string, tests = "`a.spec.ts`"): string =>
      `| ${number} | what it says | \`a.ts\` | ${tests} |\n`;

    it("are defined where they are cited, and cited by a test where they are defined", () => {
      const files = {
        [RULES]: row(FIRST),
        [PITFALLS]: row(PITFALL),
        "a.ts": `// ${FIRST}\n`,
        "a.spec.ts": `${FIRST} ${PITFALL}\n`,
      };
      expect(check(files)).to.deep.equal([]);
    });

    it("are refused when they are cited and not defined", () => {
      const files = { [RULES]: row(FIRST), "a.spec.ts": `${FIRST} ${PITFALL}\n`, "b.md": `${OTHER}\n` };
      expect(check(files)).to.deep.equal([
        `a.spec.ts: cites ${PITFALL}, which ${PITFALLS} does not define`,
        `b.md: cites ${OTHER}, which ${RULES} does not define`,
      ]);
    });

    it("are refused when no test cites them", () => {
      expect(check({ [PITFALLS]: row(PITFALL), "a.spec.ts": "", "a.ts": `// ${PITFALL}\n` })).to.deep.equal([
        `${PITFALLS}: no test cites ${PITFALL}`,
      ]);
    });

    for (const test of [
      "node/verify/scenarios/a.txt",
      "node/verify/sim/mutants/a.ts",
      "node/verify/conformance/tables/a.ts",
    ]) {
      it(`count as cited by ${test}`, () => {
        expect(check({ [RULES]: row(FIRST, `\`${test}\``), [test]: `# ${FIRST}\n` })).to.deep.equal([]);
      });
    }

    it("are refused when the tests that their row names do not cite them", () => {
      const files = { [RULES]: row(FIRST, "`b.spec.ts`"), "a.spec.ts": FIRST, "b.spec.ts": "" };
      expect(check(files)).to.deep.equal([`${RULES}: ${FIRST}: b.spec.ts does not cite it`]);
      expect(check({ [RULES]: row(FIRST, "") })).to.deep.equal([`${RULES}: the last column of ${FIRST} names no test`]);
    });

    it("are refused when they are defined twice, or in the wrong document", () => {
      const files = { [RULES]: row(FIRST) + row(FIRST) + row(PITFALL), "a.spec.ts": `${FIRST} ${PITFALL}` };
      expect(check(files)).to.deep.equal([
        `${RULES}: defines ${FIRST} twice`,
        `${RULES}: defines ${PITFALL}, which belongs into ${PITFALLS}`,
      ]);
    });

    it("are not the object store, percentiles in lower case, checksums, or parts of words", () => {
      const files = { "a.md": "S3 p99 S3Store PS1\n", "go.sum": `h1:${FIRST}+x\n`, "a.json": `"${PITFALL}"\n` };
      expect(check(files)).to.deep.equal([]);
      expect(check({ [RULES]: row("S3") })).to.deep.equal([`${RULES}: S3 is the object store: the rule is S03`]);
    });
  });
});
