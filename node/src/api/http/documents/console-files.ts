/**
 * The files of the web console in memory, each with its headers and in each encoding that the build made.
 *
 * The files are read at the first request, and again after a new build. A member without them still serves everything
 * else: `index` is null then.
 */

import { readdir, readFile, stat } from "node:fs/promises";
import { extname } from "node:path";
import { type StoredFile, storedFile } from "../answers/index.ts";

/** The console as one build wrote it. */
export interface ConsoleBuild {
  readonly index: StoredFile;
  /** By file name. Their names contain a digest of their content, so they never change. */
  readonly assets: ReadonlyMap<string, StoredFile>;
}

const TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".svg", "image/svg+xml"],
]);
/** The encodings in which the build writes files, by the endings of their names; the best first. */
const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;
const INDEX = "index.html";
const ASSETS = "assets/";

export class ConsoleFiles {
  readonly #directory: URL;
  #build: Promise<ConsoleBuild> | null = null;
  #builtMs = 0;

  /** @param directory with a slash at its end; it need not exist. */
  constructor(directory: URL) {
    this.#directory = directory;
  }

  /** The latest build; null if there is none. */
  async latest(): Promise<ConsoleBuild | null> {
    const builtMs = await modifiedMs(new URL(INDEX, this.#directory));
    if (builtMs === null) {
      return null;
    }
    if (this.#build === null || builtMs !== this.#builtMs) {
      const build = readBuild(this.#directory);
      [this.#build, this.#builtMs] = [build, builtMs];
      // A build that is being replaced may miss a file: the next request reads it again.
      build.catch(() => {
        this.#build = this.#build === build ? null : this.#build;
      });
    }
    return await this.#build;
  }

  /** An asset of the build that was read last; undefined if there is no such file. */
  async asset(name: string): Promise<StoredFile | undefined> {
    const build = await (this.#build ?? this.latest());
    return build?.assets.get(name);
  }
}

/** When the file was written; null if there is no such file. */
async function modifiedMs(file: URL): Promise<number | null> {
  try {
    return (await stat(file)).mtimeMs;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return null;
    }
    throw error;
  }
}

async function readBuild(directory: URL): Promise<ConsoleBuild> {
  const assets = new URL(ASSETS, directory);
  const names = (await readdir(assets)).filter((name) => TYPES.has(extname(name)));
  const files = await Promise.all(names.map(async (name) => [name, await readConsoleFile(assets, name)] as const));
  return { index: await readConsoleFile(directory, INDEX), assets: new Map(files) };
}

async function readConsoleFile(directory: URL, name: string): Promise<StoredFile> {
  const plain = await readFile(new URL(name, directory));
  const encoded = new Map<string, Buffer>();
  for (const [encoding, ending] of ENCODINGS) {
    encoded.set(encoding, await readFile(new URL(name + ending, directory)));
  }
  return storedFile(TYPES.get(extname(name)) ?? "application/octet-stream", plain, encoded);
}
