/**
 * Removes a cluster: its processes, mounts, namespaces, links, control groups and files. It removes what it finds, not
 * what it remembers, so it also works after a crash and for a partial start. It touches nothing of others.
 */

import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../testing/index.ts";
import { removeGroup } from "./control-groups.ts";
import { restoreMachine } from "./machine-state.ts";
import { removeNetwork } from "./network.ts";
import { REPOSITORY, type Site } from "./site.ts";

const KEPT_LOGS = join(REPOSITORY, ".quoin", "e2e");

/**
 * Removes the cluster. Rejects with everything that could not be removed; then its files stay, for the next try.
 *
 * Kills all processes without asking them to end, because nothing that they would write is needed.
 */
export async function stopCluster(site: Site): Promise<void> {
  // The mounts of a node disappear with its last process. While one is left, the other files stay, so that it can be
  // found.
  await removeGroup(site.group);
  const failures: unknown[] = [];
  for (const step of [() => unmountBelow(site.directory), () => removeNetwork(site)]) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) {
    throw new AggregateError(failures, `not all could be removed: ${failures.map(String).join("; ")}`);
  }
  await removeFiles(site.directory);
  restoreMachine();
}

/** The images of the nodes are most of it. Removing all at the same time keeps a slow disk busy for less time. */
async function removeFiles(directory: string): Promise<void> {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  await Promise.all(names.map((name) => rm(join(directory, name), { recursive: true, force: true })));
  rmSync(directory, { recursive: true, force: true });
}

/** Copies the logs of processes and pods, as far as they exist, into the clone. Returns their path. */
export function keepLogs(site: Site): string {
  rmSync(KEPT_LOGS, { recursive: true, force: true });
  for (const { name, path } of logsOf(site)) {
    if (existsSync(path)) {
      cpSync(path, join(KEPT_LOGS, name), { recursive: true });
    }
  }
  return KEPT_LOGS;
}

function logsOf(site: Site): { readonly name: string; readonly path: string }[] {
  const nodes = site.hasCluster ? site.nodes : [];
  return [
    { name: "processes", path: site.path("logs") },
    ...nodes.map(({ name, directory }) => ({ name, path: join(directory, "pod-logs") })),
  ];
}

/** A mount of a pod on a volume that has propagated to this machine. */
async function unmountBelow(directory: string): Promise<void> {
  const paths = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((path) => path === directory || path.startsWith(`${directory}/`));
  // Latest first, because they are mounted on the others.
  for (const path of paths.reverse()) {
    await run("umount", [path]);
  }
}
