/**
 * Modules import each other without circles, types included: a reader can read them from the bottom up. The linter's rule
 * about circles does not follow imports of types.
 *
 * Specs are left out: no module imports them.
 */
import path from "node:path/posix";
import { type Finding, isGenerated, isSpec, type SourceFile } from "./source-tree.ts";

const MODULE = /\.tsx?$/;
const IMPORT = /^(?:import|export) [^"';]*?"(\.[^"]+)";$/gm;

/** @returns one finding for each circle, at the first of its files */
export function checkImportCircles(files: readonly SourceFile[]): Finding[] {
  const modules = files.filter((file) => MODULE.test(file.path) && !isSpec(file) && !isGenerated(file));
  const imports = new Map(modules.map((file) => [file.path, importsOf(file)] as const));
  const findings: Finding[] = [];
  const covered = new Set<string>();
  for (const start of [...imports.keys()].sort()) {
    const circle = covered.has(start) ? null : shortestCircle(imports, start);
    if (circle !== null) {
      findings.push({ path: start, message: `imports go in a circle: ${circle.join(" -> ")}` });
      for (const file of circle) {
        covered.add(file);
      }
    }
  }
  return findings;
}

/** The files that this one imports, types included, or exports again. */
function importsOf({ path: file, text }: SourceFile): string[] {
  return [...text.matchAll(IMPORT)].map(([, specifier = ""]) => path.join(path.dirname(file), specifier));
}

/** A breadth-first search from the file back to itself; null if it never returns. */
function shortestCircle(imports: ReadonlyMap<string, readonly string[]>, start: string): string[] | null {
  const importers = new Map<string, string>();
  const queue = [start];
  for (const file of queue) {
    for (const imported of imports.get(file) ?? []) {
      if (imported === start) {
        return [...pathTo(importers, file), start];
      }
      if (!importers.has(imported)) {
        importers.set(imported, file);
        queue.push(imported);
      }
    }
  }
  return null;
}

/** The files of the search from its start to this one. */
function pathTo(importers: ReadonlyMap<string, string>, last: string): string[] {
  const importer = importers.get(last);
  return importer === undefined ? [last] : [...pathTo(importers, importer), last];
}
