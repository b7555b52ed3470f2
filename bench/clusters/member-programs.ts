/**
 * The programs of members, as users get them: bundled, with what Node compiles kept. Sources would need more memory,
 * because each thread of a member then loads the compiler that removes their types.
 */

import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type * as Local from "@quoin/node/local";
import type * as Packages from "../../scripts/packages/index.ts";

/** Starts members, and starts them again. */
export type Launcher = Pick<typeof Local, "LocalCluster" | "RestartedMember">;

const LAUNCHER = "quoin-local";
const THIS = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Builds the programs below the directory, in about two seconds. Returns the launcher among them, whose members run
 * from there.
 *
 * @param checkout folder of the repository with the sources; its packages must be installed.
 */
export async function buildMemberPrograms(directory: string, checkout: string | null = null): Promise<Launcher> {
  const root = resolve(checkout ?? THIS);
  const { href } = pathToFileURL(join(root, "scripts/packages/index.ts"));
  const { bundlePrograms, PROGRAMS }: typeof Packages = await import(href);
  const { quoin, "quoin-found": found, "quoin-start": start } = PROGRAMS;
  const others = { quoin, "quoin-found": found, "quoin-start": start, [LAUNCHER]: "node/local/index.ts" };
  const dist = join(directory, "dist");
  mkdirSync(dist, { recursive: true });
  await bundlePrograms(dist, { others, withAddon: true, minify: true });
  copyFileSync(join(root, "package.json"), join(directory, "package.json"));
  // Members inherit the environment. As in the image, the first one already finds what Node has compiled.
  process.env.NODE_COMPILE_CACHE ??= join(directory, "compiled");
  await promisify(execFile)(process.execPath, [join(dist, "quoin.js"), "member", "--version"]);
  return import(pathToFileURL(join(dist, `${LAUNCHER}.js`)).href);
}
