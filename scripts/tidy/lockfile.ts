/**
 * Rules about package-lock.json, which must work everywhere: it names no registry, and contains the packages of every
 * platform, including platforms other than the machine that wrote it.
 */
import type { Finding, SourceFile } from "./source-tree.ts";

interface LockedPackage {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** @returns everything that would make `npm ci` fail elsewhere; also if there is no lockfile */
export function checkLockfile(files: readonly SourceFile[]): Finding[] {
  const path = "package-lock.json";
  const file = files.find((candidate) => candidate.path === path);
  if (file === undefined) {
    return [{ path, message: "missing" }];
  }
  const packages = new Map<string, LockedPackage>(Object.entries(JSON.parse(file.text).packages));
  const findings: Finding[] = [];
  for (const [name, entry] of packages) {
    if (entry.resolved !== undefined && entry.link !== true) {
      findings.push({ path, message: `${name || "the root"} names its registry: ${entry.resolved}` });
    }
    for (const dependency of Object.keys(entry.optionalDependencies ?? {})) {
      if (!isLocked(packages, name, dependency)) {
        findings.push({ path, message: `no entry for ${dependency}, an optional dependency of ${name || "the root"}` });
      }
    }
  }
  return findings;
}

/** A dependency is in the node_modules of the package that needs it, or in that of a parent folder. */
function isLocked(packages: ReadonlyMap<string, LockedPackage>, dependent: string, dependency: string): boolean {
  const steps = dependent.split("/");
  for (let length = steps.length; length >= 0; length -= 1) {
    const prefix = steps.slice(0, length).concat("node_modules", dependency).join("/");
    if (packages.has(prefix)) {
      return true;
    }
  }
  return false;
}
