/**
 * The runtimes that the published package supports, besides the Node of this repository: they come from the npm
 * registry, once, into the cache of the user.
 */

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError, madeOnce, run, userCache } from "../../../testing/index.ts";

/** A program that runs JavaScript. */
export interface Runtime {
  readonly name: string;
  readonly program: string;
  /** Arguments before the file to run. */
  readonly args: readonly string[];
}

const NODE = `${process.arch === "arm64" && process.platform === "darwin" ? "node-bin" : "node"}-${process.platform}-${process.arch}`;
/** The oldest supported release, the two releases with long-term support, and two that are not Node. */
const PACKAGES = {
  bun: "1.4.5",
  deno: "2.9.6",
  "node-20": `npm:${NODE}@20.19.0`,
  "node-22": `npm:${NODE}@22.23.3`,
  "node-24": `npm:${NODE}@24.22.3`,
};
const DIGEST = createHash("sha256").update(JSON.stringify(PACKAGES)).digest("hex");
const FOLDER = userCache("quoin", "runtimes", DIGEST.slice(0, 16));
const RUNTIMES: readonly Runtime[] = [
  { name: "Node 20", program: join(FOLDER, "node_modules/node-20/bin/node"), args: [] },
  { name: "Node 22", program: join(FOLDER, "node_modules/node-22/bin/node"), args: [] },
  { name: "Node 24", program: join(FOLDER, "node_modules/node-24/bin/node"), args: [] },
  { name: "Node 26", program: process.execPath, args: [] },
  { name: "Bun", program: join(FOLDER, "node_modules/.bin/bun"), args: [] },
  {
    name: "Deno",
    program: join(FOLDER, "node_modules/.bin/deno"),
    args: ["run", "--allow-all", "--node-modules-dir=manual", "--no-lock"],
  },
];

/** Installs the runtimes if they are missing. Rejects with a CommandError if npm cannot. */
export async function installRuntimes(): Promise<readonly Runtime[]> {
  const packages = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`);
  await madeOnce(FOLDER, (draft) => npmInstall(draft, packages));
  return RUNTIMES;
}

/** Installs packages in a folder, as users do: npm takes what its cache has from there. */
export async function npmInstall(folder: string, packages: readonly string[]): Promise<void> {
  const file = join(folder, "package.json");
  writeFileSync(file, JSON.stringify({ private: true }));
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", ...packages], {
    cwd: folder,
  });
}

/** Whether npm failed because it reached no registry. */
export function isUnreachable(error: unknown): boolean {
  const codes = /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/;
  return error instanceof CommandError && codes.test(error.message);
}
