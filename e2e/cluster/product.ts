/** The images of Quoin on the nodes: that of this repository and, on request, another version. */

import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { run } from "../../testing/index.ts";
import { importImages } from "./cluster-node.ts";
import { buildOtherVersion, buildProductImage, type ClusterImages, type ImageArchive } from "./images.ts";
import { removeClusterOnSignals } from "./interruption.ts";
import { phase } from "./phases.ts";
import { REPOSITORY, type Site } from "./site.ts";
import { describeCluster, isRunning, startCluster } from "./start.ts";

const COMMIT_OF_CLUSTER_VERSION_6 = "c0577ceb3f51e9ad6da26f629531d5d07d4b6013";

/**
 * Builds the image of this repository, and imports it into all nodes of the cluster. Starts the cluster first, unless it
 * runs.
 *
 * @throws NoClusterHere if this machine cannot run a cluster
 */
export async function startWithProduct(site: Site): Promise<void> {
  const product = imageOf(site, manifest.version);
  const build = ({ base }: ClusterImages): Promise<void> =>
    phase("image of Quoin", async () => {
      mkdirSync(site.directory, { recursive: true });
      await buildProductImage(product, base);
    });
  if (isRunning(site)) {
    console.log("The cluster runs already.");
    await build(describeCluster(site).images);
  } else {
    removeClusterOnSignals();
    await startCluster(site, build);
  }
  await phase("Quoin on all nodes", async (say) => {
    await importIntoNodes(site, product);
    say(`${product.image}, ${Math.round(statSync(product.archive).size / 1_000_000)} MB unpacked`);
  });
}

/** Imports an image into all nodes that differs only in a newer minor version. Returns its version. */
export async function provideNextVersion(site: Site): Promise<string> {
  const [major = "", minor = ""] = manifest.version.split(".");
  const version = `${major}.${Number(minor) + 1}.0`;
  const image = imageOf(site, version);
  await buildOtherVersion(image, imageOf(site, manifest.version), version);
  await importIntoNodes(site, image);
  return version;
}

/**
 * Imports an image into all nodes of the last commit whose members run at most cluster version 6, built from the
 * repository's history. Returns its tag. Rejects in a clone without that history.
 */
export async function provideFormerRelease(site: Site): Promise<string> {
  const tag = "cluster-version-6";
  const image = imageOf(site, tag);
  const sources = site.path(`sources-${tag}`);
  rmSync(sources, { recursive: true, force: true });
  mkdirSync(sources, { recursive: true });
  try {
    const packed = join(sources, "sources.tar");
    await run("git", ["archive", "--output", packed, COMMIT_OF_CLUSTER_VERSION_6], { cwd: REPOSITORY });
    await run("tar", ["--extract", "--file", packed, "--directory", sources]);
    rmSync(packed);
    await buildProductImage(image, describeCluster(site).images.base, { sources });
  } finally {
    rmSync(sources, { recursive: true, force: true });
  }
  await importIntoNodes(site, image);
  return tag;
}

/** Imports an image into all nodes whose programs may replace their own files, as Tilt builds it. Returns its tag. */
export async function provideDevelopmentImage(site: Site): Promise<string> {
  const tag = "development";
  const image = imageOf(site, tag);
  await buildProductImage(image, describeCluster(site).images.base, {
    stage: "development",
    settings: { OWNER: "10001:10001" },
  });
  await importIntoNodes(site, image);
  return tag;
}

/** The default name in the charts, and the archive. */
function imageOf(site: Site, tag: string): ImageArchive {
  return { image: `quoin:${tag}`, archive: site.path(`quoin-${tag}.tar`) };
}

async function importIntoNodes(site: Site, { archive }: ImageArchive): Promise<void> {
  await Promise.all(site.nodes.map((node) => importImages(node, archive)));
}
