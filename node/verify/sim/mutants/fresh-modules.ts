/**
 * Loads the modules of the repository that a mutant can change once for each run of tests in this process: the mutant's
 * own file, what imports it, directly or not, and the spec itself. Runs share all other modules. The types of a source
 * are stripped once.
 *
 * Each run has a number, which is the query of the addresses of its own modules. If one of these imports another one,
 * by a relative path or by the name of a package of the repository, it gets that of its own run.
 */

import { readFileSync } from "node:fs";
import { type ResolveFnOutput, type ResolveHookContext, registerHooks, stripTypeScriptTypes } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Mutant, mutated, pathOf, repositoryRoot } from "./mutant.ts";

type Resolve = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;

const ROOT = `${pathToFileURL(repositoryRoot).href}/`;
const RUN = "?run=";
/** Text that only looks like an import adds a module that a run does not share, or that does not exist. */
const IMPORT = /\b(?:import|export)\b(?:[\w$*{},\s]*\bfrom)?[\s(]*["']([^"'\n]+)["']/g;

interface Run {
  readonly mutant: Mutant | null;
  /** The address of the spec. */
  readonly entry: string;
  /** Addresses of the modules that the run shares with others; null before its first import. */
  shared: ReadonlySet<string> | null;
}

const stripped = new Map<string, string>();
/** What each module of the repository imports from it. */
const imports = new Map<string, readonly string[]>();
const runs: Run[] = [];

/** Begins a run of a spec: returns the address to import. */
export function beginRun(mutant: Mutant | null, spec: string): string {
  const entry = pathToFileURL(spec).href;
  return `${entry}${RUN}${runs.push({ mutant, entry, shared: null }) - 1}`;
}

/** The query of an address, or "". */
function queryOf(url: string | undefined): string {
  const at = url?.lastIndexOf(RUN) ?? -1;
  return url === undefined || at < 0 ? "" : url.slice(at);
}

function runOf(query: string): Run | undefined {
  return query === "" ? undefined : runs[Number(query.slice(RUN.length))];
}

function isOwn(url: string): boolean {
  return url.startsWith(ROOT) && !url.includes("/node_modules/");
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const { url } = resolved;
    const query = queryOf(context.parentURL);
    const run = runOf(query);
    if (run === undefined || !isOwn(url) || queryOf(url) !== "") {
      return resolved;
    }
    run.shared ??= sharedBy(run, nextResolve);
    return run.shared.has(url) ? resolved : { ...resolved, url: `${url}${query}` };
  },
  load(url, context, nextLoad) {
    const query = queryOf(url);
    if (query === "" || !url.endsWith(`.ts${query}`)) {
      return nextLoad(url, context);
    }
    const file = fileURLToPath(url);
    const mutant = runOf(query)?.mutant ?? null;
    const source =
      mutant !== null && pathOf(mutant) === file
        ? stripTypeScriptTypes(mutated(readFileSync(file, "utf8"), mutant))
        : strippedSource(file);
    return { format: "module", source, shortCircuit: true };
  },
});

/** All modules that the spec imports, directly or not, without those that a mutant can change. */
function sharedBy({ mutant, entry }: Run, resolve: Resolve): Set<string> {
  const importers = new Map<string, string[]>([[entry, []]]);
  for (const importer of importers.keys()) {
    for (const imported of importsOf(importer, resolve)) {
      const known = importers.get(imported);
      if (known === undefined) {
        // The loop reaches it later.
        importers.set(imported, [importer]);
      } else {
        known.push(importer);
      }
    }
  }
  const changed = new Set([entry]);
  if (mutant !== null) {
    changed.add(pathToFileURL(pathOf(mutant)).href);
  }
  for (const url of changed) {
    for (const importer of importers.get(url) ?? []) {
      changed.add(importer);
    }
  }
  return new Set([...importers.keys()].filter((url) => !changed.has(url)));
}

function importsOf(url: string, resolve: Resolve): readonly string[] {
  const known = imports.get(url);
  if (known !== undefined) {
    return known;
  }
  const found = url.endsWith(".ts") ? findImports(url, resolve) : [];
  imports.set(url, found);
  return found;
}

function findImports(url: string, resolve: Resolve): string[] {
  const source = strippedSource(fileURLToPath(url));
  return [...source.matchAll(IMPORT)].flatMap(([, specifier = ""]) => {
    try {
      const imported = resolve(specifier, { parentURL: url }).url;
      return isOwn(imported) ? [imported] : [];
    } catch {
      // It only looks like an import.
      return [];
    }
  });
}

function strippedSource(file: string): string {
  const source = stripped.get(file) ?? stripTypeScriptTypes(readFileSync(file, "utf8"));
  stripped.set(file, source);
  return source;
}
