/**
 * The two stores of a member in its data directory: their places, how to open and create them, and the clean-up once
 * they are known to be undamaged.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  DIRECTORY_MODE,
  dropEvidence,
  preserveEvidence,
  replaceFile,
  StoreError,
  syncDirectory,
} from "../files/index.ts";
import { Rocks, type RocksOptions } from "../rocks/index.ts";
import { statePointerBeside, statePointerTo } from "./state-directory.ts";

const FIRST_STATE_DIRECTORY = "state-1";
/** Where a recovery creates the data of another cluster. It may be deleted until it is renamed. */
export const SUCCESSOR_DRAFT = "successor.new";
const STATE_DIRECTORY_PATTERN = /^state-[1-9][0-9]*$/;

const STATE_OPTIONS: Omit<RocksOptions, "createIfMissing"> = {
  memtableBytes: 32 * 1024 * 1024,
  cacheBytes: 64 * 1024 * 1024,
};

/**
 * Opens the live state with a cache of `cacheBytes`. Raises a StoreError, of kind "missing" or "corruption" if there is
 * no live state.
 */
export async function openState(directory: string, cacheBytes = STATE_OPTIONS.cacheBytes): Promise<Rocks> {
  const path = join(directory, liveState(directory));
  preserveEvidence(path);
  return Rocks.open(path, { ...STATE_OPTIONS, cacheBytes, createIfMissing: false });
}

/** Creates an empty state and the file that names it. Raises a StoreError. */
export async function makeFirstState(directory: string): Promise<void> {
  const path = makeDirectory(directory, FIRST_STATE_DIRECTORY);
  const state = await Rocks.open(path, { ...STATE_OPTIONS, createIfMissing: true });
  await state.close();
  nameLiveState(path);
}

/** Path of the first state of a directory. */
export function firstState(directory: string): string {
  return join(directory, FIRST_STATE_DIRECTORY);
}

/** Opens a state that is not the live one; creates it in this directory if `isNew`. Raises a StoreError. */
export async function openStateAt(path: string, isNew: boolean): Promise<Rocks> {
  return Rocks.open(path, { ...STATE_OPTIONS, createIfMissing: isNew });
}

/** Writes the file beside the state that names it as the live one. Durable on return. */
export function nameLiveState(path: string): void {
  replaceFile(statePointerBeside(path), statePointerTo(path));
}

/**
 * Cleans up once both stores are known to be undamaged and to fit together: deletes their kept files, every state but
 * the live one, and leftovers of an interrupted recovery.
 */
export function tidyStores(directory: string): void {
  const live = liveState(directory);
  rmSync(join(directory, SUCCESSOR_DRAFT), { recursive: true, force: true });
  for (const name of readdirSync(directory)) {
    if (STATE_DIRECTORY_PATTERN.test(name)) {
      if (name !== live) {
        rmSync(join(directory, name), { recursive: true, force: true });
      }
      dropEvidence(join(directory, name));
    }
  }
}

/** Name of the directory of the live state. */
function liveState(directory: string): string {
  let name: string;
  try {
    name = readFileSync(statePointerBeside(join(directory, FIRST_STATE_DIRECTORY)), "utf8").trim();
  } catch (error) {
    throw new StoreError("missing", "the file `state`, which names the live state directory, cannot be read", {
      cause: error,
    });
  }
  if (!STATE_DIRECTORY_PATTERN.test(name)) {
    throw new StoreError("corruption", `the file \`state\` does not name a state directory; ${statesIn(directory)}`);
  }
  if (!existsSync(join(directory, name))) {
    throw new StoreError("missing", `the file \`state\` names ${name}, which is not there; ${statesIn(directory)}`);
  }
  return name;
}

/** The names that the file `state` may have contained, for a person who restores it. */
function statesIn(directory: string): string {
  const names = readdirSync(directory).filter((name) => STATE_DIRECTORY_PATTERN.test(name));
  return `state directories that are there: ${names.join(", ") || "none"}`;
}

function makeDirectory(parent: string, name: string): string {
  const path = join(parent, name);
  mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE });
  syncDirectory(parent);
  return path;
}
