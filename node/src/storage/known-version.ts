/** Checks that this release knows the cluster version of a state, before it uses anything else of the state. */

import { CLUSTER_VERSIONS, describeKnownVersions, UnknownVersion, type VersionFinding } from "../state/index.ts";

/** Raises UnknownVersion. @param where names the data, for people */
export function requireKnownVersion(where: string, finding: VersionFinding | undefined): void {
  const { min, max } = CLUSTER_VERSIONS;
  if (finding === undefined || (finding.kind === "version" && finding.version >= min && finding.version <= max)) {
    return;
  }
  const written =
    finding.kind === "version"
      ? `by a cluster of version ${finding.version}`
      : "in a form of a cluster of another version";
  throw new UnknownVersion(
    `${where} was written ${written}, and this release knows ${describeKnownVersions()}. It is left as it is; use the release ` +
      "that wrote it, or a later one of the same major version",
  );
}
