/**
 * Packs the Helm charts: each as the archive that `helm install` and `helm push` take, all of them as a repository with an
 * index, and as an image layout, from which tools of registries copy.
 */

import { createHash } from "node:crypto";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { create } from "tar";
import { parse, stringify } from "yaml";
import { repositoryRoot } from "../bundle/index.ts";

const charts = path.join(repositoryRoot, "charts");
const LAYOUT_FOLDER = "oci";
const LAYOUT_VERSION = "1.0.0";
const MEDIA_TYPES = {
  manifest: "application/vnd.oci.image.manifest.v1+json",
  index: "application/vnd.oci.image.index.v1+json",
  config: "application/vnd.cncf.helm.config.v1+json",
  chart: "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
} as const;

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface PackedChart {
  /** The content of Chart.yaml. */
  readonly description: { readonly name: string; readonly version: string; readonly description: string };
  readonly file: string;
  readonly archive: Buffer;
}

/**
 * Writes the archives, `index.yaml`, and the layout in `oci/`. Returns the paths of the archives. The same sources make
 * the same archives.
 */
export async function packCharts(destination: string): Promise<readonly string[]> {
  mkdirSync(destination, { recursive: true });
  const packed: PackedChart[] = [];
  for (const file of globSync("*/Chart.yaml", { cwd: charts }).sort()) {
    packed.push(await packChart(path.dirname(file)));
  }
  for (const { file, archive } of packed) {
    writeFileSync(path.join(destination, file), archive);
  }
  writeIndex(destination, packed);
  writeLayout(path.join(destination, LAYOUT_FOLDER), packed);
  return packed.map(({ file }) => path.join(destination, file));
}

/** Packs the chart of this folder, without what its .helmignore names. */
async function packChart(name: string): Promise<PackedChart> {
  const source = path.join(charts, name);
  const description = parse(readFileSync(path.join(source, "Chart.yaml"), "utf8"));
  const ignored = readFileSync(path.join(source, ".helmignore"), "utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const temporary = mkdtempSync(path.join(tmpdir(), "quoin-chart-"));
  try {
    cpSync(source, path.join(temporary, name), { recursive: true });
    for (const pattern of ignored) {
      for (const file of globSync(pattern.replace(/\/$/, ""), { cwd: path.join(temporary, name) })) {
        rmSync(path.join(temporary, name, file), { recursive: true });
      }
    }
    const files = globSync(`${name}/**`, { cwd: temporary, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(temporary, path.join(entry.parentPath, entry.name)))
      // Helm expects the description first.
      .sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
    const stream = create({ cwd: temporary, gzip: true, portable: true, mtime: new Date(0) }, files);
    return { description, file: `${name}-${description.version}.tgz`, archive: await stream.concat() };
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

function rank(file: string): number {
  return file.endsWith("/Chart.yaml") ? 0 : 1;
}

function writeIndex(destination: string, packed: readonly PackedChart[]): void {
  const created = new Date().toISOString();
  const entries = packed.map(({ description, file, archive }) => [
    description.name,
    [{ ...description, created, digest: sha256(archive), urls: [file] }],
  ]);
  const index = { apiVersion: "v1", entries: Object.fromEntries(entries), generated: created };
  writeFileSync(path.join(destination, "index.yaml"), stringify(index));
}

/** One manifest for each chart, as `helm push` creates them; the reference is NAME:VERSION. */
function writeLayout(directory: string, packed: readonly PackedChart[]): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(path.join(directory, "blobs/sha256"), { recursive: true });
  const add = (mediaType: string, content: Buffer, annotations?: Descriptor["annotations"]): Descriptor => {
    const digest = sha256(content);
    writeFileSync(path.join(directory, "blobs/sha256", digest), content);
    const described = { mediaType, digest: `sha256:${digest}`, size: content.length };
    return annotations === undefined ? described : { ...described, annotations };
  };
  const manifests = packed.map(({ description, archive }) => {
    const { name, version } = description;
    const manifest = {
      schemaVersion: 2,
      mediaType: MEDIA_TYPES.manifest,
      config: add(MEDIA_TYPES.config, toJson(description)),
      layers: [add(MEDIA_TYPES.chart, archive)],
      annotations: {
        "org.opencontainers.image.title": name,
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.description": description.description,
      },
    };
    return add(MEDIA_TYPES.manifest, toJson(manifest), {
      "org.opencontainers.image.ref.name": `${name}:${version}`,
    });
  });
  const index = { schemaVersion: 2, mediaType: MEDIA_TYPES.index, manifests };
  writeFileSync(path.join(directory, "index.json"), toJson(index));
  writeFileSync(path.join(directory, "oci-layout"), toJson({ imageLayoutVersion: LAYOUT_VERSION }));
}

function toJson(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
