/**
 * A small file beside the objects of a cluster that names the cluster, for people and for lists. It is only a hint: it
 * may be missing, old or wrong, and nothing depends on it.
 */

import { ByteSource } from "../format/index.ts";
import { type BackupStore, StoreFailure } from "../store/index.ts";
import { hintName } from "./object-name.ts";

export interface Hint {
  readonly clusterName: string;
  /** The release of the last writer. */
  readonly quoinVersion: string;
}

const BYTES_MAX = 16 * 1024;
const TEXT_LENGTH_MAX = 256;

export async function putHint(store: BackupStore, clusterId: string, hint: Hint): Promise<void> {
  const { clusterName, quoinVersion } = hint;
  const text = `${JSON.stringify({ clusterId, clusterName, quoinVersion }, undefined, 2)}\n`;
  await store.put(hintName(clusterId), oneChunk(Buffer.from(text)));
}

/** @returns undefined if there is no usable hint. Raises a StoreFailure if the store does not answer. */
export async function readHint(store: BackupStore, clusterId: string): Promise<Hint | undefined> {
  try {
    const source = new ByteSource(await store.get(hintName(clusterId)));
    const bytes = await source.readUpTo(BYTES_MAX);
    await source.close();
    return parseHint(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof StoreFailure && error.kind === "not-found")) {
      return undefined;
    }
    throw error;
  }
}

function parseHint(value: unknown): Hint | undefined {
  if (typeof value !== "object" || value === null || !("clusterName" in value) || !("quoinVersion" in value)) {
    return undefined;
  }
  const { clusterName, quoinVersion } = value;
  return isText(clusterName) && isText(quoinVersion) ? { clusterName, quoinVersion } : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= TEXT_LENGTH_MAX;
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}
