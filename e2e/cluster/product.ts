/** The images of Quoin that the nodes have: that of this repository, and on demand the next version of it, or another. */

import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { run } from "../../testing/index.ts";
import { importImages } from "./cluster-node.ts";
import { buildOtherVersion, buildProductImage, type ImageArchive } from "./images.ts";
import { REPOSITORY, type Site } from "./site.ts";
import { describeCluster } from "./start.ts";

const COMMIT_OF_CLUSTER_VERSION_3 = "bb7604d9a62924af87bbfe8fe4a031d26dbebf6a";

/** Builds the image of this repository and gives it to all nodes. Returns its name and size, as a sentence has them. */
export async function provideProduct(site: Site): Promise<string> {
  const product = imageOf(site, manifest.version);
  await buildProductImage(product, describeCluster(site).images.base);
  await importIntoNodes(site, product);
  const megabytes = Math.round(statSync(product.archive).size / 1_000_000);
  return `${product.image}, ${megabytes} MB unpacked`;
}

/** Gives all nodes an image that is a minor version newer, and the same but for that. Returns its version. */
export async function provideNextVersion(site: Site): Promise<string> {
  const [major = "", minor = ""] = manifest.version.split(".");
  const version = `${major}.${Number(minor) + 1}.0`;
  const image = imageOf(site, version);
  await buildOtherVersion(image, imageOf(site, manifest.version), version);
  await importIntoNodes(site, image);
  return version;
}

/**
 * Gives all nodes an image of the last commit whose members run no newer cluster version than 3, built from the history of
 * the repository. Returns its tag. Rejects in a clone without that history.
 */
export async function provideFormerRelease(site: Site): Promise<string> {
  const tag = "cluster-version-3";
  const image = imageOf(site, tag);
  const sources = site.path(`sources-${tag}`);
  rmSync(sources, { recursive: true, force: true });
  mkdirSync(sources, { recursive: true });
  try {
    const packed = join(sources, "sources.tar");
    await run("git", ["archive", "--output", packed, COMMIT_OF_CLUSTER_VERSION_3], { cwd: REPOSITORY });
    await run("tar", ["--extract", "--file", packed, "--directory", sources]);
    rmSync(packed);
    await buildProductImage(image, describeCluster(site).images.base, {}, sources);
  } finally {
    rmSync(sources, { recursive: true, force: true });
  }
  await importIntoNodes(site, image);
  return tag;
}

/** Gives all nodes an image whose programs may replace their own files, as Tilt has it built. Returns its tag. */
export async function provideDevelopmentImage(site: Site): Promise<string> {
  const tag = "development";
  const image = imageOf(site, tag);
  await buildProductImage(image, describeCluster(site).images.base, { OWNER: "10001:10001" });
  await importIntoNodes(site, image);
  return tag;
}

/** As charts name it when nobody says otherwise, and where it is kept. */
function imageOf(site: Site, tag: string): ImageArchive {
  return { image: `quoin:${tag}`, archive: site.path(`quoin-${tag}.tar`) };
}

async function importIntoNodes(site: Site, { archive }: ImageArchive): Promise<void> {
  await Promise.all(site.nodes.map((node) => importImages(node, archive)));
}
