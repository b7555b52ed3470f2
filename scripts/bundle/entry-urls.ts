/**
 * Sources name the sources of threads and of other programs by URLs, such as `new URL("./log-thread.ts",
 * import.meta.url)`. In a bundle, such a URL becomes that of the file of the entry.
 *
 * This holds for bundles whose files are all in one folder.
 */

import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Plugin } from "esbuild";
import { filesWith } from "./files-with.ts";
import { repositoryRoot } from "./repository.ts";

const SOURCE_URL = /new URL\("(\.[^"]+\.ts)", import\.meta\.url\)/g;

/**
 * @param entries name and source of each entry
 * @param extension of their files
 * @throws Error (when the bundle is built) if a source that is in the bundle names a source that is no entry
 */
export function withEntryUrls(entries: Readonly<Record<string, string>>, extension: string): Plugin {
  const files = new Map(
    Object.entries(entries).map(([name, source]) => [path.join(repositoryRoot, source), `./${name}${extension}`]),
  );
  return {
    name: "entry-urls",
    setup({ onLoad }) {
      const naming = filesWith(SOURCE_URL, ["node/**/*.ts", "client/**/*.ts", "operator/**/*.ts"]);
      if (naming === null) {
        return;
      }
      onLoad({ filter: naming }, async ({ path: file }) => {
        const source = await readFile(file, "utf8");
        const contents = source.replaceAll(SOURCE_URL, (_whole, relative: string) => {
          const named = files.get(path.join(path.dirname(file), relative));
          if (named === undefined) {
            throw new Error(`${file} names ${relative}, which is no entry of the bundle`);
          }
          return `new URL("${named}", import.meta.url)`;
        });
        return { contents, loader: "ts" };
      });
    },
  };
}
