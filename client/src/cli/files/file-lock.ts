/**
 * A lock between processes of one machine: a file that one of them creates, and removes at the end. A process that is
 * killed leaves its file behind. Such a file is removed when it is old, by one process at a time: the one that creates
 * a second file for it.
 */

import { open, rm } from "node:fs/promises";
import type { Runtime } from "../../index.ts";
import { UsageError } from "../errors/index.ts";
import { isOfFileSystem, statusOf } from "./file-error.ts";

/** A command holds the lock for milliseconds; an older file is left from a command that was killed. */
const ABANDONED_MS = 10_000;

/** How long to wait for the lock. */
const PATIENCE_MS = 20_000;

const PAUSE_MS = 20;

/**
 * Runs work while this process holds the lock.
 *
 * @param work calls `isHeld` before a step that cannot be undone: while this process was stopped, another one may have
 * taken the lock.
 * @throws UsageError if others hold it for 20 s; the error of the work, or of the file system.
 */
export async function withFileLock<Result>(
  file: string,
  runtime: Pick<Runtime, "monotonicMs" | "sleep">,
  work: (isHeld: () => Promise<boolean>) => Promise<Result>,
): Promise<Result> {
  const untilMs = runtime.monotonicMs() + PATIENCE_MS;
  let identity = await create(file);
  while (identity === undefined) {
    if (runtime.monotonicMs() >= untilMs) {
      throw new UsageError(`another command holds ${file}`, "remove this file if there is no such command");
    }
    await removeAbandoned(file);
    await runtime.sleep(PAUSE_MS, undefined);
    identity = await create(file);
  }
  const isHeld = async () => (await statusOf(file))?.ino === identity;
  try {
    return await work(isHeld);
  } finally {
    if (await isHeld()) {
      await rm(file, { force: true });
    }
  }
}

async function removeAbandoned(file: string): Promise<void> {
  const second = `${file}.removal`;
  if (!(await isAbandoned(file)) || (await create(second)) === undefined) {
    return;
  }
  try {
    // Once more: another process may have removed it, and a third one holds the lock now.
    if (await isAbandoned(file)) {
      await rm(file, { force: true });
    }
  } finally {
    await rm(second, { force: true });
  }
}

async function isAbandoned(file: string): Promise<boolean> {
  const status = await statusOf(file);
  return status !== undefined && Date.now() - status.mtimeMs > ABANDONED_MS;
}

/** Creates the file, and returns its number in the file system; undefined = the file exists already. */
async function create(file: string): Promise<number | undefined> {
  try {
    const handle = await open(file, "wx");
    try {
      return (await handle.stat()).ino;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isOfFileSystem(error) && error.code === "EEXIST") {
      return undefined;
    }
    throw error;
  }
}
