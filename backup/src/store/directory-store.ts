/**
 * Objects as files in a directory. A file is written under another name, synced and renamed, and then its directory is
 * synced. So a file under its own name is complete and durable. Only the owner can read the files.
 */

import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ByteStream } from "../format/index.ts";
import { type BackupStore, type ByteRange, LEFTOVER_AGE_MS, type StoredObject } from "./backup-store.ts";
import { guardDisk } from "./disk-failure.ts";
import { isObjectName, requireObjectName, requirePrefix } from "./object-path.ts";
import { StoreFailure } from "./store-failure.ts";

/** Files with this prefix are being written, or belong to a crashed process. No object begins with a dot. */
const DRAFT = ".draft-";
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const READ_BYTES = 256 * 1024;

export interface DirectoryStoreOptions {
  /** Absolute. */
  readonly directory: string;
  /** Whether to create a missing directory; else it is an error, because it may be an unmounted volume. */
  readonly create: boolean;
}

export class DirectoryStore implements BackupStore {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** Raises a StoreFailure if the path is not a directory, or if it is missing and must not be created. */
  static async open({ directory, create }: DirectoryStoreOptions): Promise<DirectoryStore> {
    const store = new DirectoryStore(directory);
    await store.#guard("open the directory", async () => {
      if (create) {
        await makeDirectory(directory);
      }
      await store.#requireDirectory();
    });
    return store;
  }

  describe(): string {
    return pathToFileURL(this.#directory).href;
  }

  async put(name: string, stream: ByteStream): Promise<void> {
    requireObjectName(name);
    const path = this.#pathOf(name);
    const draft = join(dirname(path), `${DRAFT}${randomUUID()}`);
    let written = false;
    try {
      const file = await this.#guard(`put ${name}`, async () => {
        await this.#requireDirectory();
        await makeDirectory(dirname(path));
        return open(draft, "wx", FILE_MODE);
      });
      await this.#fill(name, file, stream);
      await this.#guard(`put ${name}`, () => rename(draft, path));
      written = true;
      await this.#guard(`put ${name}`, () => syncDirectory(dirname(path)));
    } finally {
      if (!written) {
        await rm(draft, { force: true }).catch(() => undefined);
      }
    }
  }

  async get(name: string, range: ByteRange = { start: 0 }): Promise<ByteStream> {
    requireObjectName(name);
    // Open it now, so that a missing object is an error now.
    const file = await this.#guard(`get ${name}`, () => this.#openObject(name));
    return this.#read(name, file, range);
  }

  async *list(prefix: string): AsyncGenerator<StoredObject, void, undefined> {
    requirePrefix(prefix);
    await this.#guard(`list ${prefix}`, () => this.#requireDirectory());
    yield* this.#listFolder(prefix);
  }

  async delete(name: string): Promise<void> {
    requireObjectName(name);
    const path = this.#pathOf(name);
    await this.#guard(`delete ${name}`, async () => {
      await this.#requireDirectory();
      await rm(path, { force: true });
      await syncDirectory(dirname(path)).catch(ignoreMissing);
    });
  }

  async sweep(nowMs: number): Promise<number> {
    let removed = 0;
    await this.#guard("remove leftovers", async () => {
      for (const entry of await readdir(this.#directory, { recursive: true, withFileTypes: true })) {
        if (entry.isFile() && entry.name.startsWith(DRAFT)) {
          removed += await removeOld(join(entry.parentPath, entry.name), nowMs);
        }
      }
    });
    return removed;
  }

  async close(): Promise<void> {}

  #pathOf(name: string): string {
    return join(this.#directory, ...name.split("/"));
  }

  async #openObject(name: string): Promise<FileHandle> {
    await this.#requireDirectory();
    const file = await open(this.#pathOf(name), "r");
    if (!(await file.stat()).isFile()) {
      await file.close();
      throw Object.assign(new Error("it is not a file"), { code: "ENOENT" });
    }
    return file;
  }

  async *#read(name: string, file: FileHandle, { start, end }: ByteRange): AsyncGenerator<Uint8Array, void, undefined> {
    if (end !== undefined && end <= start) {
      await file.close();
      return;
    }
    const last = end === undefined ? {} : { end: end - 1 };
    const stream = createReadStream("", { fd: file, start, highWaterMark: READ_BYTES, ...last });
    const chunks = stream[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#guard(`get ${name}`, () => chunks.next());
        if (next.done === true) {
          return;
        }
        yield next.value;
      }
    } finally {
      stream.destroy();
    }
  }

  /** Writes all bytes and syncs them; always closes the file. */
  async #fill(name: string, file: FileHandle, stream: ByteStream): Promise<void> {
    try {
      for await (const bytes of stream) {
        await this.#guard(`put ${name}`, () => writeAll(file, bytes));
      }
      await this.#guard(`put ${name}`, () => file.sync());
    } finally {
      await file.close();
    }
  }

  async *#listFolder(prefix: string): AsyncGenerator<StoredObject, void, undefined> {
    const folder = prefix === "" ? this.#directory : this.#pathOf(prefix.slice(0, -1));
    const entries = await this.#guard(`list ${prefix}`, () =>
      readdir(folder, { withFileTypes: true }).catch(emptyIfMissing),
    );
    // A folder sorts by its name with a slash, as in a bucket.
    const names = entries
      .filter((entry) => entry.isDirectory() || entry.isFile())
      .map((entry) => (entry.isDirectory() ? `${prefix}${entry.name}/` : `${prefix}${entry.name}`))
      .filter((name) => isObjectName(name.replace(/\/$/, "")))
      .sort((a, b) => (a < b ? -1 : 1));
    for (const name of names) {
      if (name.endsWith("/")) {
        yield* this.#listFolder(name);
      } else {
        const found = await this.#guard(`list ${prefix}`, () => stat(this.#pathOf(name)).catch(undefinedIfMissing));
        if (found !== undefined) {
          yield { name, size: found.size, modifiedMs: found.mtimeMs };
        }
      }
    }
  }

  async #requireDirectory(): Promise<void> {
    const found = await stat(this.#directory).catch(undefinedIfMissing);
    if (found?.isDirectory() !== true) {
      throw new StoreFailure({
        kind: "no-such-bucket",
        store: this.describe(),
        operation: "use the directory",
        reason: found === undefined ? "there is no such directory" : "it is not a directory",
      });
    }
  }

  #guard<T>(operation: string, action: () => Promise<T>): Promise<T> {
    return guardDisk(this.describe(), operation, action);
  }
}

/** Creates a directory and its missing parents, each durable. */
async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  if (first !== undefined) {
    const top = dirname(first);
    for (let folder = directory; folder !== top; folder = dirname(folder)) {
      await syncDirectory(folder);
    }
    await syncDirectory(top);
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, offset);
    offset += bytesWritten;
  }
}

async function removeOld(path: string, nowMs: number): Promise<number> {
  const found = await stat(path).catch(undefinedIfMissing);
  if (found === undefined || nowMs - found.mtimeMs < LEFTOVER_AGE_MS) {
    return 0;
  }
  await rm(path, { force: true });
  return 1;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function undefinedIfMissing(error: unknown): undefined {
  if (!isMissing(error)) {
    throw error;
  }
}

function emptyIfMissing(error: unknown): never[] {
  undefinedIfMissing(error);
  return [];
}

function ignoreMissing(error: unknown): void {
  undefinedIfMissing(error);
}
