import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { Manual } from "./manual.ts";

const repositoryRoot = resolve(import.meta.dirname, "../..");
/** It takes ten seconds on an idle machine. */
const BUILD_LIMIT_MS = 180_000;
const PROGRAM = "scripts/site/main.ts";

function runSite(...parameters: readonly string[]) {
  return spawnSync(process.execPath, [PROGRAM, ...parameters], { cwd: repositoryRoot, encoding: "utf8" });
}

describe("the program of the site", () => {
  it("builds all pages, with search and all files that they need", function () {
    this.timeout(BUILD_LIMIT_MS);
    const directory = temporaryDirectory();
    const { status, stderr } = runSite("build", directory);
    expect(status, stderr).to.equal(0);
    const pages = globSync("**/*.html", { cwd: directory }).filter((page) => page !== "404.html");
    const expected = new Manual(repositoryRoot)
      .pages()
      .map((page) => page.replace(/README\.md$/, "index.md").replace(/\.md$/, ".html"));
    expect(pages.sort()).to.deep.equal(expected.sort());
    expect(globSync("assets/chunks/*localSearchIndex*.js", { cwd: directory })).to.have.lengthOf(1);
    for (const page of pages) {
      const html = readFileSync(join(directory, page), "utf8");
      const loaded = [
        ...allOf(html, /<(?:script|img|iframe|source)[^>]* src="([^"]+)"/g),
        ...allOf(html, /<link[^>]* href="([^"]+)"/g),
      ];
      expect(loaded, page).to.have.lengthOf.at.least(3);
      for (const file of loaded.filter((name) => !name.startsWith("data:"))) {
        expect(file, page).to.match(/^\/[^/]/);
        expect(existsSync(join(directory, file)), `${page}: ${file}`).to.equal(true);
      }
    }
    const styles = globSync("assets/*.css", { cwd: directory });
    expect(styles).to.have.lengthOf.at.least(1);
    for (const file of styles) {
      expect(readFileSync(join(directory, file), "utf8"), file).not.to.match(/url\(["']?(?:https?:)?\/\//);
    }
  });

  it("refuses other arguments", () => {
    for (const parameters of [["serve"], ["build", "directory", "more"]]) {
      const { status, stderr } = runSite(...parameters);
      expect([status, stderr.split("\n")[0]]).to.deep.equal([2, "usage: npm run docs [-- build [DIRECTORY]]"]);
    }
  });
});

function allOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = ""]) => found);
}
