/** Packs a folder as the tarball that a registry takes. */

import { spawnSync } from "node:child_process";
import path from "node:path";

/**
 * Packs the folder of a complete package. Returns the path of the tarball.
 *
 * @throws Error if npm refuses it.
 */
export function packFolder(folder: string, destination: string): string {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", destination];
  const { status, stdout, stderr, error } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) {
    throw new Error(`npm pack failed in ${folder}\n${stderr}`, { cause: error });
  }
  const packed = JSON.parse(stdout);
  const [{ filename }] = Array.isArray(packed) ? packed : Object.values(packed);
  return path.join(destination, path.basename(filename));
}
