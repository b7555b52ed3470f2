/**
 * Bundles the programs of a server: a member with its threads, `quoinctl`, and on request the operator, or the launcher
 * of a local cluster. All files are in one folder. The package.json one level above has the version.
 */

import { cpSync, rmSync } from "node:fs";
import path from "node:path";
import { buildConsole } from "../../console/scripts/index.ts";
import { type Bundle, bundleJavaScript, type OwnFiles, repositoryRoot } from "../bundle/index.ts";
import { refuseMissingFiles } from "./missing-files.ts";

/** The package that npm installs with a server: its addon is a file of its own for each platform. */
export const ADDON = "rocksdb";

/** A package that others only use if it is there. No dependency of a program names it. */
const UNUSED = ["supports-color"];

/** The source of the member and of each of its threads. */
export const MEMBER = {
  "quoin-node": "node/src/main.ts",
  "log-thread": "node/src/storage/log/log-thread.ts",
  "state-thread": "node/src/storage/state/state-thread.ts",
  "hashing-thread": "node/src/access/hashing-thread.ts",
  "export-thread": "node/src/tracing/export-thread.ts",
} as const;

/** The source of each program besides the member. */
export const PROGRAMS = {
  quoinctl: "client/scripts/quoinctl.ts",
  "quoin-found": "client/scripts/quoin-found.ts",
  "quoin-operator": "operator/src/main.ts",
  "quoin-start": "node/local/quoin-start.ts",
  quoin: "node/local/quoin.ts",
} as const;

/** What a member reads beside its own files, and where that is in the repository. */
const DATA = {
  "generated/descriptors.binpb": "proto/generated/descriptors.binpb",
  "reference.json": "node/src/api/http/documents/reference.json",
};

/** The folder of the web console, beside the file of the member. `console/index.ts` names it. */
const CONSOLE_FOLDER = "built";

/** Definitions of services, which these packages read when a member starts. */
const DEFINITIONS: readonly OwnFiles[] = [
  {
    name: "@grpc/reflection",
    modules: ["build/src/implementations/reflection-v1.js", "build/src/implementations/reflection-v1alpha.js"],
    folder: "build/proto",
  },
];

/** The addon itself, as it comes for this platform. */
const OWN_ADDON: OwnFiles = {
  name: ADDON,
  modules: ["binding.js"],
  folder: `prebuilds/${process.platform}-${process.arch}`,
};

export interface ProgramOptions {
  /** The source of each program besides the member: the name of its file, without the extension, and its path. */
  readonly others: Readonly<Record<string, string>>;
  /** Whether the directory also gets the addon for this platform; else `node_modules` must have it. */
  readonly withAddon: boolean;
  /** Whether the code is shortened, for a fast start. Else a stack names its lines. */
  readonly minify: boolean;
}

/**
 * Writes the member, its threads, the web console, and other programs.
 *
 * @throws Error if a source does not compile, or reads a file that the directory does not have
 */
export async function bundlePrograms(directory: string, options: ProgramOptions): Promise<Bundle> {
  const { others, withAddon, minify } = options;
  const bundle = await bundleJavaScript({
    entries: { ...MEMBER, ...others },
    directory,
    format: "esm",
    extension: ".js",
    splitting: true,
    flat: true,
    minify,
    firstLine: "#!/usr/bin/env node",
    external: [...(withAddon ? [] : [ADDON]), ...UNUSED],
    ownFiles: withAddon ? [...DEFINITIONS, OWN_ADDON] : DEFINITIONS,
  });
  await writeConsole(path.join(directory, CONSOLE_FOLDER));
  for (const [name, source] of Object.entries(DATA)) {
    cpSync(path.join(repositoryRoot, source), path.join(directory, name), { recursive: true });
  }
  refuseMissingFiles(directory);
  return bundle;
}

/** Builds the console from its sources, whatever the repository has built before. */
async function writeConsole(directory: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  await buildConsole(directory);
  // It only tells the next build whether to do anything.
  rmSync(path.join(directory, "digest"));
}
