/**
 * Finds exports that no file imports, by reading import and export statements as text. The formatter guarantees the
 * form that this relies on: statements at the top level start at the beginning of a line.
 *
 * An export counts as used if any file of the repository imports it, directly or through any number of index files;
 * specs count too. A type counts as used if an index file exports it, or if its own file mentions it again, because
 * callers can use it without its name. Everything that a package publishes counts as used. The rule does not follow
 * names that are destructured from a dynamic import: it counts such a module as used completely.
 */
import path from "node:path/posix";
import { type Finding, isGenerated, isSpec, type SourceFile } from "./source-tree.ts";

/** The folders whose exports are checked; other code counts only as a user. */
const CHECKED = ["backup/src/", "node/src/", "client/src/", "console/src/", "operator/src/"];

type Kind = "value" | "type";

/** A name that a module re-exports from another module. */
interface Reexport {
  readonly from: string;
  readonly name: string;
}

/** The exports and imports of a module. Paths name modules. */
interface Module {
  readonly declared: ReadonlyMap<string, Kind>;
  readonly reexported: ReadonlyMap<string, Reexport>;
  /** Modules whose names are all re-exported. */
  readonly stars: readonly string[];
  readonly imports: readonly Reexport[];
}

/** Means all names of a module. */
const EVERYTHING = "*";

/** @returns each export of the checked folders that nothing uses */
export function checkExports(files: readonly SourceFile[]): Finding[] {
  const published = findPublished(files);
  const modules = new Map(
    files
      .filter((file) => /\.(?:tsx?|js|mjs)$/.test(file.path))
      .map((file) => [file.path, parseModule(file, published)] as const),
  );
  const used = findUsed(modules, [...published.values()]);
  const findings: Finding[] = [];
  for (const file of files) {
    const module = modules.get(file.path);
    const isChecked = CHECKED.some((folder) => file.path.startsWith(folder)) && !isSpec(file) && !isGenerated(file);
    if (module === undefined || !isChecked) {
      continue;
    }
    for (const [name, kind] of module.declared) {
      if (!used.has(keyOf(file.path, name)) && !(kind === "type" && isMentionedAgain(file, name))) {
        findings.push({ path: file.path, message: `no file imports ${name}` });
      }
    }
    for (const [name, source] of module.reexported) {
      if (!used.has(keyOf(file.path, name)) && kindOf(modules, source) !== "type") {
        findings.push({ path: file.path, message: `no file imports ${name}` });
      }
    }
  }
  return findings;
}

/** @returns whether a name occurs in the code of the file that declares it, besides the declaration */
function isMentionedAgain(file: SourceFile, name: string): boolean {
  const code = file.text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
  return code.split(/[^\w$]+/).filter((word) => word === name).length > 1;
}

function keyOf(module: string, name: string): string {
  return `${module} ${name}`;
}

/** @returns the index files of the repository's packages, by the names under which other code imports them */
function findPublished(files: readonly SourceFile[]): Map<string, string> {
  const doors = new Map<string, string>();
  for (const file of files) {
    if (path.basename(file.path) === "package.json") {
      const manifest = JSON.parse(file.text);
      for (const [subpath, door] of Object.entries<string>(manifest.exports ?? {})) {
        doors.set(path.join(manifest.name, subpath), path.join(path.dirname(file.path), door));
      }
    }
  }
  return doors;
}

function parseModule(file: SourceFile, published: ReadonlyMap<string, string>): Module {
  const declared = new Map<string, Kind>();
  const reexported = new Map<string, Reexport>();
  const stars: string[] = [];
  const imports: Reexport[] = [];
  const resolve = (specifier: string): string =>
    specifier.startsWith(".") ? path.join(path.dirname(file.path), specifier) : (published.get(specifier) ?? specifier);

  const declaration =
    /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(function|class|const|let|interface|type)\*? ([\w$]+)/gm;
  for (const [, keyword, name] of file.text.matchAll(declaration)) {
    declared.set(text(name), keyword === "interface" || keyword === "type" ? "type" : "value");
  }
  for (const [, typeOnly, list] of file.text.matchAll(/^export( type)? \{([^}]*)\};/gm)) {
    for (const { exported } of parseNames(text(list))) {
      declared.set(exported, typeOnly === undefined ? "value" : "type");
    }
  }
  for (const [, list, specifier] of file.text.matchAll(/^export (?:type )?\{([^}]*)\} from "([^"]+)";/gm)) {
    for (const { local, exported } of parseNames(text(list))) {
      reexported.set(exported, { from: resolve(text(specifier)), name: local });
    }
  }
  for (const [, alias, specifier] of file.text.matchAll(/^export \*(?: as ([\w$]+))? from "([^"]+)";/gm)) {
    const from = resolve(text(specifier));
    if (alias === undefined) {
      stars.push(from);
    } else {
      reexported.set(alias, { from, name: EVERYTHING });
    }
  }
  const importing = /^import (?:type )?([\w$]+)?(?:, )?(?:\{([^}]*)\}|(\* as [\w$]+))? from "([^"]+)";/gm;
  for (const [, whole, list, namespace, specifier] of file.text.matchAll(importing)) {
    const from = resolve(text(specifier));
    if (whole !== undefined || namespace !== undefined) {
      imports.push({ from, name: EVERYTHING });
    }
    imports.push(...parseNames(list ?? "").map(({ local }) => ({ from, name: local })));
  }
  for (const [, specifier] of file.text.matchAll(/\bimport\("([^"]+)"\)/g)) {
    imports.push({ from: resolve(text(specifier)), name: EVERYTHING });
  }
  return { declared, reexported, stars, imports };
}

/** For groups that take part in every match of their pattern. */
function text(group: string | undefined): string {
  return group ?? "";
}

/** @returns the names of a list such as `a, type b, c as d`; `local` is the name in the imported module */
function parseNames(list: string): { local: string; exported: string }[] {
  return list
    .split(",")
    .map((item) => item.trim().replace(/^type /, ""))
    .filter((item) => item !== "")
    .map((item) => {
      const [local = item, exported = local] = item.split(" as ");
      return { local, exported };
    });
}

/** @returns the keys of all exports that something uses */
function findUsed(modules: ReadonlyMap<string, Module>, doors: readonly string[]): Set<string> {
  const used = new Set<string>();
  const use = (modulePath: string, name: string): void => {
    const module = modules.get(modulePath);
    const key = keyOf(modulePath, name);
    if (module === undefined || used.has(key)) {
      return;
    }
    used.add(key);
    if (name === EVERYTHING) {
      for (const each of [...module.declared.keys(), ...module.reexported.keys()]) {
        use(modulePath, each);
      }
    }
    const source = module.reexported.get(name);
    if (source !== undefined) {
      use(source.from, source.name);
    } else if (!module.declared.has(name)) {
      for (const star of module.stars) {
        use(star, name);
      }
    }
  };
  for (const door of doors) {
    use(door, EVERYTHING);
  }
  for (const module of modules.values()) {
    for (const { from, name } of module.imports) {
      use(from, name);
    }
    for (const { from, name } of module.reexported.values()) {
      if (kindOf(modules, { from, name }) === "type") {
        use(from, name);
      }
    }
  }
  return used;
}

/** @returns the kind of a name, followed through index files; undefined if it is unknown */
function kindOf(modules: ReadonlyMap<string, Module>, { from, name }: Reexport): Kind | undefined {
  const visited = new Set<string>();
  let [modulePath, sought] = [from, name];
  while (!visited.has(modulePath)) {
    visited.add(modulePath);
    const module = modules.get(modulePath);
    const next = module?.reexported.get(sought);
    if (next === undefined) {
      return module?.declared.get(sought);
    }
    [modulePath, sought] = [next.from, next.name];
  }
  return undefined;
}
