/**
 * Removes a cluster: its processes, mounts, namespaces, links, control groups and files. It works from what is found,
 * not from what is remembered, so that it also works after a crash and for what was started in part; and it touches
 * nothing that is not the cluster's.
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
 * Removes it. Rejects with everything that could not be removed; then its files stay, for the next try.
 *
 * Nothing is asked to end, everything is killed: nothing that it would write at its end is kept.
 */
export async function stopCluster(site: Site): Promise<void> {
  // The mounts of the nodes go with their last process. While one is left, the rest stays, so that it can be found.
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

/** The images of the nodes are most of it; all at the same time they keep a slow disk busy for a shorter time. */
async function removeFiles(directory: string): Promise<void> {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  await Promise.all(names.map((name) => rm(join(directory, name), { recursive: true, force: true })));
  rmSync(directory, { recursive: true, force: true });
}

/** Copies the logs of the processes and of the pods, as far as there are any, into the clone. Returns where they are. */
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

/** What a pod has mounted on a volume and passed on to this machine. */
async function unmountBelow(directory: string): Promise<void> {
  const paths = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((path) => path === directory || path.startsWith(`${directory}/`));
  // The latest first: they are mounted on the others.
  for (const path of paths.reverse()) {
    await run("umount", [path]);
  }
}
