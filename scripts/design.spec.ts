/**
 * The documents in docs/design name files, names of the code and diagrams that exist, and define each number of the
 * simulator and each word once. `documents.spec.ts` checks their links and commands.
 */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "./command.ts";

const DOCUMENTS = globSync("docs/design/*.md", { cwd: repositoryRoot }).sort();
/** Folders at the root: a span that begins with one of them is a path. */
const PATH = /^(?:backup|bench|charts|client|crds|docs|e2e|image|node|operator|proto|scripts|testing|tilt)\//;
/** Names of other projects. */
const NAMES_OF_OTHERS = ["UNAVAILABLE", "DEADLINE_EXCEEDED", "KUBECONFIG", "LINEARIZABLE", "SERIALIZABLE"];

const read = (path: string): string => readFileSync(join(repositoryRoot, path), "utf8");
const allOf = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1] ?? "");
const spansOf = (path: string): string[] => allOf(read(path), /`([^`\n]+)`/g);

describe("the design documents", () => {
  it("are all in their index", () => {
    const listed = allOf(read("docs/design/README.md"), /^\| \[[^\]]+\]\(([\w-]+\.md)\)/gm);
    const others = DOCUMENTS.map((path) => basename(path)).filter((name) => name !== "README.md");
    expect(others).to.have.lengthOf.at.least(10);
    expect(listed.sort()).to.deep.equal(others.sort());
  });

  it("are led to from the places where readers begin", () => {
    for (const [path, link] of [
      ["README.md", "docs/design/README.md"],
      ["docs/README.md", "design/README.md"],
      ["CONTRIBUTING.md", "docs/design/README.md"],
    ] as const) {
      expect(read(path), path).to.include(`](${link})`);
    }
  });

  for (const path of DOCUMENTS) {
    describe(path, () => {
      it("names files and folders that exist", () => {
        for (const span of spansOf(path).filter((each) => PATH.test(each))) {
          expect(globSync(span, { cwd: repositoryRoot }), span).not.to.deep.equal([]);
        }
      });

      it("names constants and types that exist", () => {
        for (const span of spansOf(path)) {
          if (/^[A-Z][A-Za-z]+$|^[A-Z]+(?:_[A-Z]+)+$/.test(span) && !NAMES_OF_OTHERS.includes(span)) {
            expect(sources().has(span), span).to.equal(true);
          }
        }
      });
    });
  }

  it("show every diagram, and diagrams have a source", () => {
    const shown = new Set(DOCUMENTS.flatMap((path) => allOf(read(path), /\]\(\.\.\/diagrams\/([\w-]+\.svg)\)/g)));
    // The specs of the benchmarks compare the charts with the figures.
    const drawn = globSync("docs/diagrams/*.svg", { cwd: repositoryRoot })
      .map((path) => basename(path))
      .filter((name) => !name.startsWith("benchmark-"));
    const sourced = globSync("docs/diagrams/*.{dot,sequence,trace}", { cwd: repositoryRoot }).map((path) =>
      basename(path).replace(/\.\w+$/, ".svg"),
    );
    expect([...shown].sort()).to.deep.equal(drawn.sort());
    expect(sourced.sort()).to.deep.equal(drawn);
  });

  it("define the rules of the simulator that have numbers, where they are", () => {
    const rows = [...read("docs/design/testing.md").matchAll(/^\| (I\d+) +\|[^|]*\|([^|]*)\|$/gm)];
    const defined = new Map(rows.map(([, number = "", files = ""]) => [number, allOf(files, /`([^`]+)`/g)]));
    const source = globSync("node/verify/sim/*.ts", { cwd: repositoryRoot }).map(read).join("\n");
    const raised = new Set(allOf(source, /"(I\d+) [^"]+"/g));
    expect([...defined.keys()].sort()).to.deep.equal([...raised].sort());
    for (const [number, files] of defined) {
      for (const file of files) {
        expect(read(file), `${number} in ${file}`).to.match(new RegExp(`"${number} `));
      }
    }
  });

  it("define each word once", () => {
    const terms = allOf(
      read("docs/design/words.md").split("## Words that we do not use")[0] ?? "",
      /^\| ([^|]+?) +\|/gm,
    );
    const words = terms.flatMap((term) => term.split(", ")).filter((term) => term !== "Term" && !/^-+$/.test(term));
    expect(words).to.have.lengthOf.at.least(50);
    expect(words.filter((word, at) => words.indexOf(word) !== at)).to.deep.equal([]);
  });
});

let known: ReadonlySet<string> | null = null;

/** @returns every word of the code, read once */
function sources(): ReadonlySet<string> {
  if (known === null) {
    const files = globSync(["{node,operator,client,backup}/src/**/*.ts", "proto/coordination/v1/*.proto"], {
      cwd: repositoryRoot,
    });
    known = new Set(files.flatMap((file) => read(file).match(/\b[A-Z]\w+\b/g) ?? []));
  }
  return known;
}
