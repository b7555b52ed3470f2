/**
 * Bundles TypeScript sources into JavaScript for Node, Bun and Deno: one file for each entry. Packages of this
 * repository are part of the bundle. The caller decides which packages of others stay outside.
 */

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Metafile } from "esbuild";
import { withBundler } from "./bundler.ts";
import { withEntryUrls } from "./entry-urls.ts";
import { lazyBuiltins } from "./lazy-builtins.ts";
import { FOLDER_DECLARATION, type OwnFiles, withOwnFiles } from "./own-files.ts";
import { repositoryRoot } from "./repository.ts";
import { OLDEST_NODE } from "./runtimes.ts";

export interface BundleOptions {
  /** The source of each written file: the name in `directory`, without its extension, and the path of the source. */
  readonly entries: Readonly<Record<string, string>>;
  /** The folder to write to. */
  readonly directory: string;
  readonly format: "cjs" | "esm";
  /** Extension of the written files, such as `.mjs`. */
  readonly extension: string;
  /** `browser` for code without modules of Node. Default `node`. */
  readonly platform?: "browser" | "node";
  /** Packages that the program imports when it runs. Every other package becomes part of the bundle. */
  readonly external?: readonly string[];
  /** Whether `import()` loads its module from a file of its own; only for ESM. Default false. */
  readonly splitting?: boolean;
  /** Whether to write source maps, which contain the sources. Default false. */
  readonly sourceMap?: boolean;
  /** Whether to shorten the code, for a fast start. Names of functions and classes stay. Default false. */
  readonly minify?: boolean;
  /** Whether to shorten names as well; messages with names of classes then make no sense. Default false. */
  readonly minifyNames?: boolean;
  /** The first line of each written file, such as `#!/usr/bin/env node`. */
  readonly firstLine?: string;
  /** Whether shared files are beside those of the entries, and not in a folder of their own. Default false. */
  readonly flat?: boolean;
  /** Packages in the bundle that read files of their own, which the bundle then contains as well; only for ESM. */
  readonly ownFiles?: readonly OwnFiles[];
}

/** A package of others that is part of a bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** Its folder. */
  readonly folder: string;
}

export interface Bundle {
  /** The packages of others in the bundle, by name and version. */
  readonly packages: readonly BundledPackage[];
  /** The names that the file of an entry exports; only for ESM. */
  readonly exports: ReadonlyMap<string, readonly string[]>;
}

/**
 * CommonJS in an ESM bundle calls `require`, which ESM does not have. The bundle gets one, for the modules of Node.
 */
const requireInModule = [
  'import { createRequire as createRequireOfBundle } from "node:module";',
  "const require = createRequireOfBundle(import.meta.url);",
].join("\n");

/**
 * Writes the bundle. Bundles must be written one after the other.
 *
 * @throws Error if a source does not compile, an import cannot be found, or an `import()` would return no names.
 */
export async function bundleJavaScript(options: BundleOptions): Promise<Bundle> {
  const {
    entries,
    directory,
    format,
    extension,
    platform = "node",
    external = [],
    splitting = false,
    minify = false,
  } = options;
  const ownFiles = options.ownFiles ?? [];
  const banner = [
    options.firstLine,
    format === "esm" && platform === "node" ? requireInModule : undefined,
    ownFiles.length > 0 ? FOLDER_DECLARATION : undefined,
  ];
  const { metafile } = await withBundler((build) =>
    build({
      absWorkingDir: repositoryRoot,
      entryPoints: { ...entries },
      outdir: directory,
      outExtension: { ".js": extension },
      format,
      platform,
      target: platform === "node" ? `node${OLDEST_NODE}` : "es2022",
      external: [...external],
      bundle: true,
      splitting,
      chunkNames: options.flat === true ? "[name]-[hash]" : "chunks/[name]-[hash]",
      banner: { js: banner.filter((line) => line !== undefined).join("\n") },
      sourcemap: options.sourceMap === true ? "linked" : false,
      minifySyntax: minify,
      minifyWhitespace: minify,
      minifyIdentifiers: options.minifyNames === true,
      // The notice of `writeLicences` has the whole texts.
      legalComments: "none",
      metafile: true,
      logLevel: "warning",
      plugins: [lazyBuiltins, withEntryUrls(entries, extension), withOwnFiles(ownFiles, directory)],
      // It also warns of code that is not used, and therefore not in the bundle: see below.
      logOverride: { "empty-import-meta": "silent", "unsupported-dynamic-import": "error" },
    }),
  );
  if (format === "cjs") {
    refuseImportMeta(metafile);
  }
  if (splitting) {
    refuseNamelessImports(metafile);
  }
  return { packages: packagesOf(metafile), exports: exportsOf(metafile) };
}

/** @throws Error if CommonJS code uses `import.meta`, which is empty there. */
function refuseImportMeta({ outputs }: Metafile): void {
  for (const output of Object.keys(outputs)) {
    const file = path.join(repositoryRoot, output);
    if (file.endsWith("js") && /\bimport_meta\b/.test(readFileSync(file, "utf8"))) {
      throw new Error(`${output} is CommonJS and uses import.meta`);
    }
  }
}

/**
 * In a bundle of several files, `import()` of a CommonJS module returns only its default export.
 *
 * @throws Error if a source does that.
 */
function refuseNamelessImports({ inputs }: Metafile): void {
  for (const [file, { imports }] of Object.entries(inputs)) {
    const nameless = imports.find(({ path: to, kind }) => kind === "dynamic-import" && inputs[to]?.format === "cjs");
    if (nameless === undefined) {
      continue;
    }
    throw new Error(
      `${file} loads CommonJS with import(): ${nameless.original}. Load a module instead that exports its names`,
    );
  }
}

function packagesOf({ outputs }: Metafile): BundledPackage[] {
  const folders = new Set<string>();
  for (const { inputs } of Object.values(outputs)) {
    for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
      if (bytesInOutput > 0 && input.includes("node_modules/")) {
        folders.add(folderOf(path.join(repositoryRoot, input)));
      }
    }
  }
  const packages = [...folders].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    return { name, version, folder };
  });
  return packages.sort((one, other) => (`${one.name}@${one.version}` < `${other.name}@${other.version}` ? -1 : 1));
}

/** The folder of the package that contains a file: the last one below a node_modules. */
function folderOf(file: string): string {
  const marker = `node_modules${path.sep}`;
  const start = file.lastIndexOf(marker) + marker.length;
  const parts = file.slice(start).split(path.sep);
  const folder = path.join(file.slice(0, start), ...parts.slice(0, parts[0]?.startsWith("@") ? 2 : 1));
  if (!existsSync(path.join(folder, "package.json"))) {
    throw new Error(`no package contains ${file}`);
  }
  return folder;
}

function exportsOf({ outputs }: Metafile): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const [file, { entryPoint, exports }] of Object.entries(outputs)) {
    if (entryPoint !== undefined) {
      found.set(path.basename(file, path.extname(file)), exports);
    }
  }
  return found;
}
