/** Lists the packages of others in a published artefact, as CycloneDX, from package-lock.json. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "../bundle/index.ts";

/** The name of the list in packages and in the image. */
export const SBOM_FILE = "sbom.cdx.json";

/**
 * Writes the list for these packages of the repository, without those that only developers need.
 *
 * @param folder gets the file
 * @param artefact its name
 * @param built packages that only developers install, but that are in the artefact's own files
 * @throws Error if npm refuses it, or a package is missing
 */
export function writeSbom(
  folder: string,
  artefact: string,
  workspaces: readonly string[],
  built: readonly string[] = [],
): void {
  const args = [
    "sbom",
    "--sbom-format=cyclonedx",
    "--package-lock-only",
    ...workspaces.map((name) => `--workspace=${name}`),
  ];
  const { status, stdout, stderr, error } = spawnSync("npm", args, {
    cwd: repositoryRoot,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) {
    throw new Error(`npm sbom failed\n${stderr}`, { cause: error });
  }
  const list = withoutDevelopment(JSON.parse(stdout), built);
  // Npm calls it like the folder of the repository.
  list.metadata.component.name = artefact;
  writeFileSync(path.join(folder, SBOM_FILE), `${JSON.stringify(list, undefined, 2)}\n`);
}

const DEVELOPMENT_MARK = "cdx:npm:package:development";

interface Component {
  readonly "bom-ref": string;
  /** The whole name, with the scope. */
  readonly name: string;
  readonly properties: readonly { readonly name: string }[];
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

interface List {
  readonly metadata: { readonly component: { name: string } };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
}

/**
 * Leaves out the packages that npm marks as those of developers. Its own option for that also leaves out packages that
 * the programs need, if the repository names them for developers as well.
 *
 * @param built names of packages to keep nevertheless
 */
function withoutDevelopment(list: List, built: readonly string[]): List {
  const components = list.components.filter(
    ({ name, properties }) => built.includes(name) || !properties.some((one) => one.name === DEVELOPMENT_MARK),
  );
  const missing = built.find((name) => !components.some((component) => component.name === name));
  if (missing !== undefined) {
    throw new Error(`npm sbom does not list ${missing}`);
  }
  const root = list.dependencies[0]?.ref;
  const kept = new Set([root, ...components.map((component) => component["bom-ref"])]);
  const dependencies = list.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
  return { ...list, components, dependencies };
}
