/** The process of the bundler: it runs as long as it has work. */

import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { build, stop } from "esbuild";

/**
 * Resolves to what `work` makes with the bundler, whose process has ended then. By itself it would outlive its last
 * bundle, and its own `stop()` does not wait.
 */
export async function withBundler<T>(work: (bundler: typeof build) => Promise<T>): Promise<T> {
  const started: ChildProcess[] = [];
  const onStart = (message: unknown): void => void started.push((message as { process: ChildProcess }).process);
  subscribe("child_process", onStart);
  try {
    return await work(build);
  } finally {
    unsubscribe("child_process", onStart);
    await stop();
    await Promise.all(started.map(hasEnded));
  }
}

async function hasEnded(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.ref();
    await once(child, "exit");
  }
}
