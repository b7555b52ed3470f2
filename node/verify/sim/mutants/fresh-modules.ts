/**
 * Loads the modules of the repository once for each run of tests in this process, with a mutant in one of them or
 * without. Runs share what is outside of the repository's sources, and the types of a source are stripped once.
 *
 * Each run has a number, which is the query of its modules' addresses. A module that imports another one by a relative
 * path, or by the name of a package of the repository, gets that of its own run.
 */

import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Mutant, mutated, pathOf, repositoryRoot } from "./mutant.ts";

const ROOT = `${pathToFileURL(repositoryRoot).href}/`;
const RUN = "?run=";

const stripped = new Map<string, string>();
/** The mutants of the runs; null = none. */
const mutants: (Mutant | null)[] = [];

/** Begins a run: returns the address of a module in it. */
export function beginRun(mutant: Mutant | null): (file: string) => string {
  const run = mutants.push(mutant) - 1;
  return (file) => `${pathToFileURL(file).href}${RUN}${run}`;
}

function runOf(url: string | undefined): string {
  const at = url?.lastIndexOf(RUN) ?? -1;
  return url === undefined || at < 0 ? "" : url.slice(at);
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const { url } = resolved;
    const isOwn = url.startsWith(ROOT) && !url.includes("/node_modules/") && runOf(url) === "";
    return isOwn ? { ...resolved, url: `${url}${runOf(context.parentURL)}` } : resolved;
  },
  load(url, context, nextLoad) {
    const run = runOf(url);
    if (run === "" || !url.endsWith(`.ts${run}`)) {
      return nextLoad(url, context);
    }
    const file = fileURLToPath(url);
    const mutant = mutants[Number(run.slice(RUN.length))] ?? null;
    const source =
      mutant !== null && pathOf(mutant) === file
        ? stripTypeScriptTypes(mutated(readFileSync(file, "utf8"), mutant))
        : strippedSource(file);
    return { format: "module", source, shortCircuit: true };
  },
});

function strippedSource(file: string): string {
  const source = stripped.get(file) ?? stripTypeScriptTypes(readFileSync(file, "utf8"));
  stripped.set(file, source);
  return source;
}
