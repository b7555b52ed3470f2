/**
 * The image of Prometheus, with the program from Debian's package, which is downloaded and unpacked but not installed.
 */

import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError, run } from "../../testing/index.ts";
import { cached } from "./cache.ts";
import { buildImageArchive, type ImageArchive } from "./images.ts";

const PACKAGE = "prometheus";
const PROGRAM = "usr/bin/prometheus";
const IMAGE = "quoin.local/prometheus:e2e";
const DOCKERFILE = join(import.meta.dirname, "prometheus", "Dockerfile");

/** Makes the image, unless it is in the cache. */
export async function buildPrometheusImage(): Promise<ImageArchive> {
  const inputs = [IMAGE, await findPackage(), readFileSync(DOCKERFILE, "utf8")];
  const { directory } = await cached("image-prometheus", inputs, async (draft) => {
    const context = join(draft, "root");
    await fillContext(context, join(draft, "package"));
    await buildImageArchive({
      image: IMAGE,
      context,
      dockerfile: DOCKERFILE,
      archive: join(draft, "image.tar"),
      log: "image-prometheus",
    });
    rmSync(context, { recursive: true });
  });
  return { image: IMAGE, archive: join(directory, "image.tar") };
}

/** The download address of the package, with its version and its digest. */
async function findPackage(): Promise<string> {
  const find = ["download", "--print-uris", PACKAGE];
  try {
    return await run("apt-get", find);
  } catch (error) {
    if (!(error instanceof CommandError)) {
      throw error;
    }
    // The package lists of a machine may be missing or old.
    await run("apt-get", ["update"]);
    return await run("apt-get", find);
  }
}

/** Installs the program at the path of its package, with the libraries that this machine loads for it. */
async function fillContext(context: string, scratch: string): Promise<void> {
  mkdirSync(scratch);
  await run("apt-get", ["download", PACKAGE], { cwd: scratch });
  const [file = ""] = readdirSync(scratch);
  await run("dpkg-deb", ["--extract", join(scratch, file), scratch]);
  const program = join(scratch, PROGRAM);
  const libraries = [...(await run("ldd", [program])).matchAll(/(?:^|\s)(\/\S+) \(0x/gm)].map(([, path = ""]) => path);
  for (const [from, to] of [[program, PROGRAM], ...libraries.map((path) => [path, path])] as [string, string][]) {
    mkdirSync(dirname(join(context, to)), { recursive: true });
    copyFileSync(from, join(context, to));
  }
  rmSync(scratch, { recursive: true });
}
