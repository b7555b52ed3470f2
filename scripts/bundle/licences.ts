/** The notice of the licences of packages of others that are part of a bundle. Each of these licences demands it. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { BundledPackage } from "./javascript.ts";

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
/** Packages whose licence is only in their description for people, which is named Readme. */
const IN_README: ReadonlyMap<string, string> = new Map([["pause 0.0.1", "MIT"]]);
const ruler = "-".repeat(80);

/**
 * Writes the notice: name, version and licence of each package, with the texts that it comes with.
 *
 * @throws Error if a package names no licence, or has no text of it.
 */
export function writeLicences(file: string, packages: readonly BundledPackage[]): void {
  const introduction = "This program contains the packages below, each under its own licence.\n";
  /** The packages of each text: many have the same one. */
  const titles = new Map<string, string[]>();
  for (const bundled of packages) {
    const { title, text } = noticeOf(bundled);
    titles.set(text, [...(titles.get(text) ?? []), title]);
  }
  const notices = [...titles].map(([text, named]) => `${named.join("\n")}\n\n${text}\n`);
  writeFileSync(file, [introduction, ...notices].join(`\n${ruler}\n`));
}

function noticeOf({ name, version, folder }: BundledPackage): { readonly title: string; readonly text: string } {
  const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const license = licenceOf(manifest) ?? IN_README.get(`${name} ${version}`);
  if (license === undefined) {
    throw new Error(`${folder} names no licence`);
  }
  const files = readdirSync(folder).filter((entry) => LICENCE_FILE.test(entry));
  const texts = files.map((entry) => readFileSync(path.join(folder, entry), "utf8").trim());
  // The licence is known by its name then, and the author holds the rights.
  if (texts.length === 0) {
    texts.push(`Author: ${authorOf(manifest.author) ?? `the authors of ${name}`}`);
  }
  return { title: `${name} ${version}: ${license}`, text: texts.join("\n\n") };
}

/** Old packages have a list of objects instead. */
function licenceOf({ license, licenses }: { license?: unknown; licenses?: unknown }): string | undefined {
  if (typeof license === "string") {
    return license;
  }
  const types = Array.isArray(licenses) ? licenses.map((entry) => entry?.type) : [];
  return types.length > 0 && types.every((type) => typeof type === "string") ? types.join(" OR ") : undefined;
}

function authorOf(author: unknown): string | undefined {
  if (typeof author === "string") {
    return author;
  }
  const isNamed = typeof author === "object" && author !== null && "name" in author;
  return isNamed && typeof author.name === "string" ? author.name : undefined;
}
