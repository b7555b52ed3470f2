/** The image of versitygw, an S3 server: the program with which backups are tested. */

import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { buildVersitygw } from "../../backup/test/s3/index.ts";
import { cached } from "./cache.ts";
import { buildImageArchive, type ImageArchive } from "./images.ts";

const IMAGE = "quoin.local/versitygw:e2e";
const DOCKERFILE = join(import.meta.dirname, "versitygw", "Dockerfile");

/** Makes the image, unless it is in the cache. */
export async function buildVersitygwImage(): Promise<ImageArchive> {
  const program = await buildVersitygw();
  // The directory of the program names its sources.
  const inputs = [IMAGE, process.arch, basename(dirname(program)), readFileSync(DOCKERFILE, "utf8")];
  const { directory } = await cached("image-versitygw", inputs, async (draft) => {
    const context = join(draft, "root");
    mkdirSync(context);
    copyFileSync(program, join(context, "versitygw"));
    await buildImageArchive({
      image: IMAGE,
      context,
      dockerfile: DOCKERFILE,
      archive: join(draft, "image.tar"),
      log: "image-versitygw",
    });
    rmSync(context, { recursive: true });
  });
  return { image: IMAGE, archive: join(directory, "image.tar") };
}
