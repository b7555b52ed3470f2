/** The images of Quoin that the nodes have: that of this repository, and on demand the next version of it, or another. */

import { statSync } from "node:fs";
import manifest from "../../package.json" with { type: "json" };
import { importImages } from "./cluster-node.ts";
import { buildOtherVersion, buildProductImage, type ImageArchive } from "./images.ts";
import type { Site } from "./site.ts";
import { describeCluster } from "./start.ts";

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
