/**
 * One snapshot in a file, as `quoin-node export` writes it, as a store with this one object. Its header gives its name
 * there, so a catalog, a plan and a reader treat it like any other snapshot.
 */

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { type DecryptOptions, decrypt } from "../envelope/index.ts";
import { BackupError, type ByteStream, namedError, readSnapshot } from "../format/index.ts";
import { type BackupStore, guardDisk, type StoredObject } from "../store/index.ts";
import { snapshotName } from "./object-name.ts";

const READ_BYTES = 256 * 1024;

export class SnapshotFile implements BackupStore {
  readonly #path: string;
  readonly #name: string;

  private constructor(path: string, name: string) {
    this.#path = path;
    this.#name = name;
  }

  /**
   * Whether the path is a file and not a directory; false if it does not exist. Raises a StoreFailure if the path
   * cannot be checked.
   */
  static async exists(path: string): Promise<boolean> {
    const found = await guardDisk(addressOf(path), "look at the file", () => stat(path).catch(nullIfMissing));
    return found?.isFile() === true;
  }

  /**
   * Reads the header of the snapshot. Raises a StoreFailure if the file cannot be read, and a BackupError if it is not
   * a snapshot or its key is missing.
   *
   * @param path absolute
   */
  static async open(path: string, options: DecryptOptions): Promise<SnapshotFile> {
    try {
      const { stream } = await decrypt(readFile(path), options);
      const { header, close } = await readSnapshot(stream);
      await close();
      return new SnapshotFile(path, snapshotName(header));
    } catch (error) {
      throw namedError(error, path);
    }
  }

  describe(): string {
    return addressOf(this.#path);
  }

  async get(name: string): Promise<ByteStream> {
    if (name !== this.#name) {
      throw new BackupError("no-backup", `there is only ${this.#name} in ${this.describe()}`, { object: name });
    }
    return readFile(this.#path);
  }

  async *list(prefix: string): AsyncGenerator<StoredObject, void, undefined> {
    if (this.#name.startsWith(prefix)) {
      const { size, mtimeMs } = await guardDisk(this.describe(), "look at the file", () => stat(this.#path));
      yield { name: this.#name, size, modifiedMs: mtimeMs };
    }
  }

  async put(): Promise<void> {
    throw this.#readOnly();
  }

  async delete(): Promise<void> {
    throw this.#readOnly();
  }

  async sweep(): Promise<number> {
    throw this.#readOnly();
  }

  async close(): Promise<void> {}

  #readOnly(): BackupError {
    return new BackupError("bad-argument", `${this.describe()} is one snapshot, and is read-only. Name a directory`);
  }
}

async function* readFile(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  const stream = createReadStream(path, { highWaterMark: READ_BYTES });
  const chunks = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await guardDisk(addressOf(path), "read the file", () => chunks.next());
      if (next.done === true) {
        return;
      }
      yield next.value;
    }
  } finally {
    stream.destroy();
  }
}

function addressOf(path: string): string {
  return pathToFileURL(path).href;
}

function nullIfMissing(error: unknown): null {
  if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) {
    return null;
  }
  throw error;
}
