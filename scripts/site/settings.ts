/**
 * The settings of VitePress, which makes a site of the manual. Nothing of the site comes from another origin: fonts,
 * styles and the search index are files of the site.
 */

import { globSync } from "node:fs";
import path from "node:path";
import type { DefaultTheme, MarkdownOptions, UserConfig } from "vitepress";
import { anchorOf } from "../api/index.ts";
import { type Entry, Manual } from "./manual.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** The settings for the manual of this repository. */
export function siteSettings(): UserConfig<DefaultTheme.Config> {
  const manual = new Manual(ROOT);
  const pages = new Set(manual.pages());
  const others = globSync("**/*.md", { cwd: ROOT, exclude: ["**/node_modules"] }).filter((file) => !pages.has(file));
  return {
    title: "Quoin",
    description: "Manual of the coordination service Quoin",
    srcDir: ROOT,
    srcExclude: others,
    outDir: path.join(ROOT, "site"),
    cacheDir: path.join(ROOT, "node_modules/.cache/vitepress"),
    rewrites: (page) => page.replace(/README\.md$/, "index.md"),
    markdown: markdownOptions(manual),
    themeConfig: {
      search: { provider: "local" },
      outline: [2, 3],
      sidebar: manual.navigation().map(({ title, entries }) => ({ text: title, items: entries.map(sidebarItem) })),
    },
    vite: { server: { host: "127.0.0.1", watch: { ignored: ["**/.quoin/**"] } } },
  };
}

function sidebarItem({ title, page, entries }: Entry): DefaultTheme.SidebarItem {
  const link = `/${page.replace(/README\.md$/, "").replace(/\.md$/, "")}`;
  return { text: title, link, ...(entries.length > 0 ? { items: entries.map(sidebarItem), collapsed: true } : {}) };
}

/** Anchors as on GitHub, for which the links of the documents are written; and links between pages only. */
function markdownOptions(manual: Manual): MarkdownOptions {
  return {
    anchor: { slugify: anchorOf },
    // In our documents, braces are text.
    attrs: { disable: true },
    config: (md) => {
      md.core.ruler.push("tabs", (state) => {
        state.tokens = withTabs(state.tokens, (type, nesting) => new state.Token(type, "div", nesting));
      });
      md.core.ruler.push("links-of-the-repository", ({ tokens, env }) => {
        const from = path.relative(ROOT, env.path);
        for (const { children } of tokens) {
          replaceLinks(children ?? [], (link) => hrefOf(manual, link, from));
        }
      });
    },
  };
}

/** Blocks of code with a title in brackets, one after the other, become the tabs of one group. GitHub shows each of them. */
function withTabs<Block extends { readonly type: string; readonly info: string }>(
  tokens: readonly Block[],
  boundary: (type: string, nesting: 1 | -1) => Block,
): Block[] {
  const isTab = (at: number): boolean => tokens[at]?.type === "fence" && /\[.+\]$/.test(tokens[at].info.trim());
  return tokens.flatMap((token, at) => {
    if (!isTab(at)) {
      return [token];
    }
    return [
      ...(isTab(at - 1) ? [] : [boundary("container_code-group_open", 1)]),
      token,
      ...(isTab(at + 1) ? [] : [boundary("container_code-group_close", -1)]),
    ];
  });
}

/** The parts of a token of markdown-it that are used here. */
interface Token {
  type: string;
  tag: string;
  nesting: number;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

/** Replaces the targets of links. A link without a target becomes plain text. */
function replaceLinks(tokens: Token[], replaced: (link: string) => string | undefined): void {
  let isDropped = false;
  for (const token of tokens) {
    if (token.type === "link_open") {
      const href = replaced(token.attrGet("href") ?? "");
      isDropped = href === undefined;
      token.attrSet("href", href ?? "");
    }
    if (isDropped && (token.type === "link_open" || token.type === "link_close")) {
      token.type = "text";
      token.tag = "";
      token.nesting = 0;
    }
  }
}

/** The target in the site. Files of the repository that are no pages have none. */
function hrefOf(manual: Manual, link: string, from: string): string | undefined {
  if (/^([a-z]+:|#)/.test(link)) {
    return link;
  }
  const page = manual.pageAt(link, from);
  if (page === undefined) {
    return undefined;
  }
  const [anchor = ""] = /#.*$/.exec(link) ?? [];
  return `/${page.replace(/README\.md$/, "index.md")}${anchor}`;
}
