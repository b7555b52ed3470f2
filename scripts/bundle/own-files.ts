/**
 * Packages of others that read files of their own when they run, by `__dirname`. A bundle of them contains these files,
 * in its folder `own/PACKAGE`, and `__dirname` is the same place there as in the package.
 */

import { cpSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "esbuild";
import { repositoryRoot } from "./repository.ts";

export interface OwnFiles {
  /** The name of the package. */
  readonly name: string;
  /** The modules of the package that use `__dirname`, relative to its folder. */
  readonly modules: readonly string[];
  /** The folder that they read. */
  readonly folder: string;
}

/** A variable that ESM gives to the CommonJS modules in it, whose own `import.meta` is empty. */
const FOLDER_OF_BUNDLE = "folderOfBundle";

/** The text that declares the variable, for the beginning of each written file. */
export const FOLDER_DECLARATION = `const ${FOLDER_OF_BUNDLE} = import.meta.dirname;`;

/** Copies the files into the directory of the bundle, and lets the modules find them there. */
export function withOwnFiles(packages: readonly OwnFiles[], directory: string): Plugin {
  const modules = new Map(
    packages.flatMap(({ name, modules: names }) =>
      names.map((module) => [path.join(repositoryRoot, "node_modules", name, module), { name, module }] as const),
    ),
  );
  return {
    name: "own-files",
    setup({ onEnd, onLoad }) {
      if (modules.size === 0) {
        return;
      }
      const filter = new RegExp(`^(?:${[...modules.keys()].map(RegExp.escape).join("|")})$`);
      onLoad({ filter }, ({ path: file }) => {
        const { name, module } = modules.get(file)!;
        const place = JSON.stringify(`/own/${path.posix.join(name, path.posix.dirname(module))}`);
        const source = readFileSync(file, "utf8").replace(/^"use strict";/, "");
        return { contents: `"use strict"; const __dirname = ${FOLDER_OF_BUNDLE} + ${place};\n${source}`, loader: "js" };
      });
      onEnd(() => {
        for (const { name, folder } of packages) {
          const from = path.join(repositoryRoot, "node_modules", name, folder);
          cpSync(from, path.join(directory, "own", name, folder), { recursive: true });
        }
      });
    },
  };
}
