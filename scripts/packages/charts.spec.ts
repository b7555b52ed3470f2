import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { extract, list } from "tar";
import { parse } from "yaml";
import { temporaryDirectory } from "../../testing/index.ts";
import { repositoryRoot } from "../bundle/index.ts";
import { packCharts } from "./charts.ts";

const NAMES = ["quoin-cluster", "quoin-operator"];

describe("packCharts", () => {
  let directory: string;
  let archives: readonly string[];

  before(async () => {
    directory = temporaryDirectory();
    archives = await packCharts(path.join(directory, "charts"));
  });

  const read = (...names: string[]): Buffer => readFileSync(path.join(directory, "charts", ...names));
  const sha256 = (content: Buffer): string => createHash("sha256").update(content).digest("hex");

  it("packs each chart with the files of its folder, without those for tests and people", async () => {
    expect(archives.map((file) => path.basename(file))).to.deep.equal(NAMES.map((name) => `${name}-0.1.0.tgz`));
    await Promise.all(archives.map((file) => extract({ file, cwd: directory })));
    for (const name of NAMES) {
      const files = globSync("**", { cwd: path.join(directory, name), withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(path.join(directory, name), path.join(entry.parentPath, entry.name)));
      expect(files).to.include.members(["Chart.yaml", "values.yaml", "values.schema.json", "templates/_helpers.tpl"]);
      expect(files.filter((file) => file.startsWith("ci/") || file === "README.md")).to.deep.equal([]);
      for (const file of files) {
        const source = readFileSync(path.join(repositoryRoot, "charts", name, file), "utf8");
        expect(readFileSync(path.join(directory, name, file), "utf8"), file).to.equal(source);
      }
    }
  });

  it("begins each archive with the description, and makes the same bytes again", async () => {
    const [first = ""] = archives;
    const entries: string[] = [];
    await list({ file: first, onReadEntry: (entry) => entries.push(entry.path) });
    expect(entries[0]).to.equal("quoin-cluster/Chart.yaml");
    const [again = ""] = await packCharts(path.join(directory, "again"));
    expect(readFileSync(again).equals(readFileSync(first))).to.equal(true);
  });

  it("has an index of a repository, with the digests of the archives", () => {
    const { apiVersion, entries } = parse(read("index.yaml").toString());
    expect(apiVersion).to.equal("v1");
    expect(Object.keys(entries)).to.deep.equal(NAMES);
    for (const [name, [entry]] of Object.entries<[{ version: string; digest: string; urls: string[] }]>(entries)) {
      expect(entry.urls).to.deep.equal([`${name}-${entry.version}.tgz`]);
      expect(entry.digest).to.equal(sha256(read(entry.urls[0] ?? "")));
    }
  });

  it("has an image layout from which each chart can be read", () => {
    expect(JSON.parse(read("oci", "oci-layout").toString())).to.deep.equal({ imageLayoutVersion: "1.0.0" });
    const { manifests } = JSON.parse(read("oci", "index.json").toString());
    /** The blob of a descriptor, whose size and digest must be right. */
    const blobOf = ({ digest, size }: { digest: string; size: number }): Buffer => {
      const blob = read("oci", "blobs", ...digest.split(":"));
      expect([`sha256:${sha256(blob)}`, blob.length]).to.deep.equal([digest, size]);
      return blob;
    };
    const references = manifests.map(
      (one: { annotations: Record<string, string> }) => Object.values(one.annotations)[0],
    );
    expect(references).to.deep.equal(NAMES.map((name) => `${name}:0.1.0`));
    for (const [at, name] of NAMES.entries()) {
      const { config, layers } = JSON.parse(blobOf(manifests[at]).toString());
      expect(config.mediaType).to.equal("application/vnd.cncf.helm.config.v1+json");
      expect(JSON.parse(blobOf(config).toString()).name).to.equal(name);
      expect(layers).to.have.length(1);
      expect(blobOf(layers[0]).equals(read(`${name}-0.1.0.tgz`))).to.equal(true);
    }
  });
});
