/** Lists the packages of others in a published artefact, as CycloneDX, from package-lock.json. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "../bundle/index.ts";

/** The name of the list in packages and in the image. */
export const sbomFile = "sbom.cdx.json";

/**
 * Writes the list for these packages of the repository, without those that only developers need.
 *
 * @param folder gets the file
 * @param name of the artefact
 * @throws Error if npm refuses it
 */
export function writeSbom(folder: string, name: string, workspaces: readonly string[]): void {
  const options = ["--sbom-format=cyclonedx", "--package-lock-only", "--omit=dev", "--omit=optional"];
  const args = ["sbom", ...options, ...workspaces.map((workspace) => `--workspace=${workspace}`)];
  const { status, stdout, stderr, error } = spawnSync("npm", args, {
    cwd: repositoryRoot,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`npm sbom failed\n${stderr}`, { cause: error });
  const list = JSON.parse(stdout);
  // Npm calls it like the folder of the repository.
  list.metadata.component.name = name;
  writeFileSync(path.join(folder, sbomFile), `${JSON.stringify(list, undefined, 2)}\n`);
}
