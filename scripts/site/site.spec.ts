import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { createMarkdownRenderer, type MarkdownRenderer } from "vitepress";
import { temporaryDirectory } from "../../testing/index.ts";
import { type Entry, Manual } from "./manual.ts";
import { siteSettings } from "./settings.ts";

const repositoryRoot = resolve(import.meta.dirname, "../..");

const namesOf = (entries: readonly Entry[]): string[] =>
  entries.flatMap(({ page, entries }) => [page, ...namesOf(entries)]);

describe("the site of the manual", () => {
  const manual = new Manual(repositoryRoot);
  let renderer: MarkdownRenderer;

  before(async () => {
    // Without colors for code, which take most of the time.
    const markdown = { ...siteSettings().markdown, highlight: (code: string) => `<pre>${code}</pre>` };
    renderer = await createMarkdownRenderer(repositoryRoot, markdown);
  });

  it("has every document in its navigation once, and each page of the navigation exists", () => {
    const pages = manual.pages();
    const named = manual.navigation().flatMap(({ entries }) => namesOf(entries));
    expect(pages.filter((page) => page.startsWith("docs/"))).to.have.lengthOf.at.least(30);
    expect(named).to.include.members(pages.filter((page) => page.startsWith("docs/")));
    expect(pages).to.include.members(named);
    expect(new Set(named)).to.have.lengthOf(named.length);
  });

  it("leads from page to page, to headings that exist", () => {
    const rendered = new Map(
      manual.pages().map((page) => [page, renderer.render(read(page), { path: join(repositoryRoot, page) })]),
    );
    const links = [...rendered].flatMap(([page, html]) =>
      allOf(html, /<a href="([^"]*)"/g).map((link) => ({ page, link })),
    );
    expect(links).to.have.lengthOf.at.least(300);
    for (const { page, link } of links.filter(({ link }) => !/^https?:/.test(link))) {
      const [target = "", anchor] = decodeURI(link).split("#");
      const name = target === "" ? page : target.slice(1).replace(/(^|\/)$/, "$1index.html");
      const file = name.replace(/index\.html$/, "README.md").replace(/\.html$/, ".md");
      const html = rendered.get(file);
      expect(html, `${page}: ${link}`).not.to.equal(undefined);
      if (anchor !== undefined) {
        expect(allOf(html ?? "", /<h\d id="([^"]+)"/g), `${page}: ${link}`).to.include(anchor);
      }
    }
  });

  it("shows blocks of code with titles, one after the other, as the tabs of one group", () => {
    const tabs = ["A", "B"].map((title) => `\`\`\`sh [${title}]\necho ${title}\n\`\`\`\n`);
    const html = renderer.render([...tabs, "Text.\n", ...tabs, "```sh\nother\n```\n"].join("\n"), {
      path: join(repositoryRoot, "docs/tabs.md"),
    });
    expect(allOf(html, /(vp-code-group) /g)).to.have.lengthOf(2);
    expect(allOf(html, /<label [^>]*>([AB])<\/label>/g)).to.deep.equal(["A", "B", "A", "B"]);
  });

  it("needs documents without HTML and without braces of templates", () => {
    for (const page of manual.pages()) {
      const tokens = renderer.parse(read(page), { path: join(repositoryRoot, page) });
      for (const { type, content } of tokens.flatMap((token) => [token, ...(token.children ?? [])])) {
        // VitePress adds this character to each heading, for the link to it.
        if (type.startsWith("html_") && content !== "&ZeroWidthSpace;") {
          expect(content, page).to.match(/^\s*<!--[\s\S]*-->\s*$/);
        }
        if (type === "text") {
          expect(content, page).not.to.include("{{");
        }
      }
    }
  });

  it("takes nothing from another origin", () => {
    const settings = siteSettings();
    expect(settings.themeConfig?.search).to.deep.equal({ provider: "local" });
    // VitePress would fetch the icons of these links.
    expect(settings.themeConfig).not.to.have.property("socialLinks");
    expect(settings).not.to.have.property("head");
  });
});

describe("the manual", () => {
  let root: string;

  beforeEach(() => {
    root = temporaryDirectory();
  });

  function write(files: Readonly<Record<string, string>>): Manual {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(join(root, file, ".."), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    return new Manual(root);
  }

  it("has the groups of docs/README.md, and the pages of a folder below its first page", () => {
    const manual = write({
      "README.md": "# Product\n\n[all](docs/README.md) [code](code/main.ts)",
      "docs/README.md":
        "# Documents\n\n[begin](begin.md#now)\n\n## Run\n\n| [part](part/README.md): [one](part/one.md) |\n\n## More\n\n[the client](../client) [begin](begin.md)",
      "docs/begin.md": "# The `first` steps\n\n```sh\n[no link](part/other.md)\n```",
      "docs/part/README.md": "# Part\n\n[one](one.md) [up](../begin.md)",
      "docs/part/one.md": "# One",
      "client/README.md": "# Client\n\n[more](more.md)",
      "client/more.md": "# More of it",
      "other/README.md": "# No link leads here",
      "code/main.ts": "",
    });
    expect(manual.navigation()).to.deep.equal([
      {
        title: "Quoin",
        entries: [
          { title: "Product", page: "README.md", entries: [] },
          { title: "Documents", page: "docs/README.md", entries: [] },
        ],
      },
      { title: "Manual", entries: [{ title: "The first steps", page: "docs/begin.md", entries: [] }] },
      {
        title: "Run",
        entries: [
          {
            title: "Part",
            page: "docs/part/README.md",
            entries: [{ title: "One", page: "docs/part/one.md", entries: [] }],
          },
        ],
      },
      { title: "More", entries: [{ title: "Client", page: "client/README.md", entries: [] }] },
    ]);
    expect(manual.pages()).to.deep.equal([
      ...["README.md", "client/README.md", "client/more.md", "docs/README.md", "docs/begin.md"],
      ...["docs/part/README.md", "docs/part/one.md"],
    ]);
  });

  it("knows which links lead to pages", () => {
    const manual = write({ "README.md": "# A", "docs/README.md": "# B", "code/main.ts": "" });
    expect(manual.pageAt("../README.md#part", "docs/README.md")).to.equal("README.md");
    expect(manual.pageAt("..", "docs/README.md")).to.equal("README.md");
    for (const link of ["../code/main.ts", "../code/", "https://example.com/README.md", "#part", "missing.md"]) {
      expect(manual.pageAt(link, "docs/README.md"), link).to.equal(undefined);
    }
  });
});

function read(page: string): string {
  return readFileSync(join(repositoryRoot, page), "utf8");
}

function allOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = ""]) => found);
}
