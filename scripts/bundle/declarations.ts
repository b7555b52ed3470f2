/**
 * Writes the declarations of a published package: those of its entries, and of every source that they refer to. Their
 * imports name JavaScript files, as compilers of consumers expect, and packages of this repository become files of the
 * package.
 *
 * The sources are compiled with the types of the oldest supported Node, so a function that it lacks is an error.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { repositoryRoot } from "./repository.ts";

export interface DeclarationOptions {
  /** The sources whose declarations consumers import, as paths in the repository. */
  readonly entries: readonly string[];
  /** Further sources to check, whose declarations are not written. */
  readonly checked?: readonly string[];
  /** The folder to write to; the files have the same paths in it as in the repository. */
  readonly directory: string;
  /** The entry of each package of this repository that the sources import, by its name. */
  readonly packages: Readonly<Record<string, string>>;
  /** Extension of the declarations: `.d.ts`, or `.d.mts` for ESM in a package of CommonJS. */
  readonly extension: ".d.mts" | ".d.ts";
}

/** The functions that ECMAScript had when the oldest supported Node appeared. */
const LIBRARIES = ["es2023", "es2024.string", "esnext.disposable"];

/**
 * Writes the declarations.
 *
 * @throws Error if a source does not compile; the compiler has written the reasons to standard error.
 */
export function writeDeclarations(options: DeclarationOptions): void {
  const temporary = mkdtempSync(path.join(tmpdir(), "quoin-declarations-"));
  try {
    compile(temporary, options);
    copyReachable(path.join(temporary, "compiled"), options);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function compile(temporary: string, { entries, checked = [], packages }: DeclarationOptions): void {
  const types = path.join(temporary, "types");
  mkdirSync(types);
  symlinkSync(path.join(repositoryRoot, "node_modules/types-node-20"), path.join(types, "node"));
  const configuration = path.join(temporary, "tsconfig.json");
  const inRepository = (file: string) => path.join(repositoryRoot, file);
  writeFileSync(
    configuration,
    JSON.stringify({
      extends: inRepository("tsconfig.json"),
      compilerOptions: {
        lib: LIBRARIES,
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        rootDir: repositoryRoot,
        outDir: path.join(temporary, "compiled"),
        // By path: TypeScript treats modules below node_modules as external, and writes no declarations of them.
        paths: Object.fromEntries(Object.entries(packages).map(([name, entry]) => [name, [inRepository(entry)]])),
        types: ["node"],
        typeRoots: [types],
      },
      include: [...entries, ...checked].map(inRepository),
      exclude: [],
    }),
  );
  const { status, stdout, error } = spawnSync("tsc", ["--project", configuration], {
    cwd: repositoryRoot,
    encoding: "utf8",
  });
  if (status !== 0) {
    throw new Error(`the sources do not compile for the oldest supported Node\n${stdout}`, { cause: error });
  }
}

/** Copies the declarations of the entries, and those that they import, directly or not. */
function copyReachable(compiled: string, { entries, directory, packages, extension }: DeclarationOptions): void {
  const pending = [...entries];
  const seen = new Set(pending);
  for (let source = pending.pop(); source !== undefined; source = pending.pop()) {
    const folder = path.dirname(source);
    const declaration = readFileSync(path.join(compiled, withExtension(source, ".d.ts")), "utf8");
    const rewritten = declaration.replace(SPECIFIERS, (_whole, before: string, specifier: string, after: string) => {
      const imported = specifier.startsWith(".") ? path.join(folder, specifier) : packages[specifier];
      if (imported === undefined) {
        return before + specifier + after;
      }
      if (!seen.has(imported)) {
        seen.add(imported);
        pending.push(imported);
      }
      const relative = path.relative(
        folder,
        withExtension(imported, extension.replace(".d.", ".").replace("ts", "js")),
      );
      return before + (relative.startsWith(".") ? relative : `./${relative}`) + after;
    });
    const target = path.join(directory, withExtension(source, extension));
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, rewritten);
  }
}

/** Module specifiers in declarations as the compiler writes them: `from "…"`, `import("…")` and `import "…"`. */
const SPECIFIERS = /(\bfrom "|\bimport\("|^import ")([^"]+)(")/gm;

function withExtension(source: string, extension: string): string {
  return source.replace(/\.ts$/, extension);
}
