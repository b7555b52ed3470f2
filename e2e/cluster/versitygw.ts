/** The image of versitygw, an S3 server, built from the same Go module as in the tests of backups. */

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runLogged } from "../../testing/index.ts";
import { cacheDirectory, cached, digestOfFiles } from "./cache.ts";
import { buildImageArchive, type ImageArchive } from "./images.ts";
import { REPOSITORY } from "./site.ts";

const MODULE = join(REPOSITORY, "backup", "test", "s3", "versitygw");
const PACKAGE = "github.com/versity/versitygw/cmd/versitygw";
const IMAGE = "quoin.local/versitygw:e2e";
const DOCKERFILE = join(import.meta.dirname, "versitygw", "Dockerfile");

/** Makes the image, unless it is in the cache. */
export async function buildVersitygwImage(): Promise<ImageArchive> {
  const inputs = [IMAGE, process.arch, digestOfFiles(MODULE), readFileSync(DOCKERFILE, "utf8")];
  const { directory } = await cached("image-versitygw", inputs, async (draft) => {
    const context = join(draft, "root");
    mkdirSync(context);
    await buildProgram(join(context, "versitygw"));
    await buildImageArchive({
      ...{ image: IMAGE, context, dockerfile: DOCKERFILE, archive: join(draft, "image.tar") },
      log: "image-versitygw",
    });
    rmSync(context, { recursive: true });
  });
  return { image: IMAGE, archive: join(directory, "image.tar") };
}

/** Static, because its image has no C library. */
function buildProgram(program: string): Promise<void> {
  const flags = ["-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", "-s -w", "-o", program];
  const log = join(cacheDirectory(), "logs", "versitygw.log");
  return runLogged("go", ["build", ...flags, PACKAGE], log, { cwd: MODULE, env: { CGO_ENABLED: "0" } });
}
