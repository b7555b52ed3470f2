/** The notice of the licences of packages of others that are part of a bundle. Each of these licences demands it. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { BundledPackage } from "./javascript.ts";

const licenceFile = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
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
  const { license, author } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  if (typeof license !== "string") throw new Error(`${folder} names no licence`);
  const files = readdirSync(folder).filter((entry) => licenceFile.test(entry));
  const texts = files.map((entry) => readFileSync(path.join(folder, entry), "utf8").trim());
  // The licence is known by its name then, and the author holds the rights.
  if (texts.length === 0) texts.push(`Author: ${authorOf(author) ?? `the authors of ${name}`}`);
  return { title: `${name} ${version}: ${license}`, text: texts.join("\n\n") };
}

function authorOf(author: unknown): string | undefined {
  if (typeof author === "string") return author;
  const isNamed = typeof author === "object" && author !== null && "name" in author;
  return isNamed && typeof author.name === "string" ? author.name : undefined;
}
