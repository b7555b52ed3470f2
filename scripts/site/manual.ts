/**
 * The pages of the manual and their order. docs/README.md alone determines the order: its headings are the groups, and
 * its links are the pages of each group. A page of a subfolder comes below the README.md of that subfolder.
 */

import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path/posix";

const CONTENTS = "docs/README.md";
/** The first pages, before the groups of docs/README.md. */
const FIRST = ["README.md", CONTENTS];
/** The group of links before the first heading. */
const FIRST_GROUP = "Manual";

/** A page in the navigation, with the pages of its folder. */
export interface Entry {
  readonly title: string;
  /** Path of the Markdown file from the root of the repository. */
  readonly page: string;
  readonly entries: readonly Entry[];
}

export interface Group {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The documents of a repository. */
export class Manual {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** All pages: those in docs/, README.md, and the Markdown files that pages link to. Sorted. */
  pages(): readonly string[] {
    const found = new Set(["README.md", ...globSync("docs/**/*.md", { cwd: this.#root })]);
    for (const page of found) {
      for (const target of this.#linksOf(page)) {
        found.add(target);
      }
    }
    return [...found].sort();
  }

  /** The navigation. Each page occurs at most once. */
  navigation(): readonly Group[] {
    const seen = new Set(FIRST);
    const groups: Group[] = [{ title: "Quoin", entries: FIRST.map((page) => this.#entry(page, [])) }];
    for (const { title, text } of sectionsOf(this.#read(CONTENTS))) {
      // One after the other: a link to a folder takes the pages of the folder, which may have links of their own here.
      const entries = this.#linksIn(text, CONTENTS).flatMap((page) =>
        seen.has(page) ? [] : [this.#withFolder(page, seen.add(page))],
      );
      if (entries.length > 0) {
        groups.push({ title, entries });
      }
    }
    return groups;
  }

  /** The page that a link leads to: a Markdown file, or the README.md of a folder; undefined = neither. */
  pageAt(link: string, from: string): string | undefined {
    if (/^([a-z]+:|#|\/)/.test(link)) {
      return undefined;
    }
    const target = path.join(path.dirname(from), link.replace(/#.*$/, ""));
    const page = target.endsWith(".md") ? target : path.join(target, "README.md");
    return existsSync(path.join(this.#root, page)) ? page : undefined;
  }

  #withFolder(page: string, seen: Set<string>): Entry {
    const folder = path.dirname(page);
    const isFolder = path.basename(page) === "README.md" && folder.startsWith("docs/");
    const inner = isFolder ? this.#linksOf(page).filter((other) => path.dirname(other) === folder) : [];
    const entries = inner.filter((other) => !seen.has(other) && seen.add(other)).map((other) => this.#entry(other, []));
    return this.#entry(page, entries);
  }

  #entry(page: string, entries: readonly Entry[]): Entry {
    return { title: this.#titleOf(page), page, entries };
  }

  #titleOf(page: string): string {
    const [, title] = /^# (.+)$/m.exec(this.#read(page)) ?? [];
    return title?.replaceAll("`", "") ?? page;
  }

  #linksOf(page: string): readonly string[] {
    return this.#linksIn(this.#read(page), page);
  }

  /** The pages that a text links to, in order and without repetition. */
  #linksIn(text: string, from: string): readonly string[] {
    const prose = text.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`]*`/g, "");
    const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => this.pageAt(link, from));
    return [...new Set(targets.filter((target) => target !== undefined))];
  }

  #read(page: string): string {
    return readFileSync(path.join(this.#root, page), "utf8");
  }
}

function sectionsOf(text: string): readonly { title: string; text: string }[] {
  const [first = "", ...rest] = text.split(/^## /m);
  return [
    { title: FIRST_GROUP, text: first },
    ...rest.map((section) => {
      const end = section.indexOf("\n");
      return { title: section.slice(0, end), text: section.slice(end) };
    }),
  ];
}
