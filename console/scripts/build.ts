/**
 * Builds the console into `console/built`, unless the files there come from the same sources already. `--out DIRECTORY`
 * builds into another directory, always. The result needs nothing else: a member reads it and serves it.
 */

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { CONSOLE_DIRECTORY } from "../index.ts";

const ROOT = path.resolve(import.meta.dirname, "..");
const SOURCES = path.join(ROOT, "src");
const DIGEST_FILE = "digest";
const HASH_CHARACTERS = 10;
/** The packages in the bundle. Their licenses demand that a copy of the text accompanies it. */
export const CONSOLE_PACKAGES: readonly string[] = ["preact", "@preact/signals", "@preact/signals-core"];
const BROWSERS = ["chrome123", "firefox128", "safari17.5"];

interface Asset {
  readonly name: string;
  readonly content: Uint8Array;
}

/** Builds the console if its sources have changed since the last build; returns whether they had. */
export async function buildConsole(directory = fileURLToPath(CONSOLE_DIRECTORY)): Promise<boolean> {
  const digest = await digestOfSources();
  const built = await readFile(path.join(directory, DIGEST_FILE), "utf8").catch(() => "");
  if (built === digest) {
    return false;
  }
  await writeConsole(directory, digest);
  return true;
}

async function writeConsole(directory: string, digest: string): Promise<void> {
  const assets = [...(await bundle()), await icon()];
  // A member that reads while this runs finds the old files or the new ones.
  const draft = `${directory.replace(/[/\\]$/, "")}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(path.join(draft, "assets"), { recursive: true });
  for (const { name, content } of assets) {
    await writeEncoded(path.join(draft, "assets", name), content);
  }
  const template = await readFile(path.join(SOURCES, "index.html"), "utf8");
  const page = template.replaceAll(/\{(\w+)\}/g, (_, ending: string) => {
    const asset = assets.find(({ name }) => name.endsWith(`.${ending}`));
    if (asset === undefined) {
      throw new Error(`index.html mentions {${ending}}, but the build makes no such file`);
    }
    return `assets/${asset.name}`;
  });
  await writeEncoded(path.join(draft, "index.html"), Buffer.from(page));
  await writeFile(path.join(draft, "LICENSES.txt"), await licenses());
  await writeFile(path.join(draft, DIGEST_FILE), digest);
  await rm(directory, { recursive: true, force: true });
  await rename(draft, directory).catch(async (error: NodeJS.ErrnoException) => {
    // Another process has put its result there meanwhile.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") {
      throw error;
    }
    await rm(draft, { recursive: true });
  });
}

async function bundle(): Promise<Asset[]> {
  // Loaded only here, so that a start with a current build does not pay for it.
  const { build, stop } = await import("esbuild");
  const built = build({
    entryPoints: { console: path.join(SOURCES, "main.tsx"), style: path.join(SOURCES, "styles/main.css") },
    outdir: ROOT,
    entryNames: "[name]-[hash]",
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: BROWSERS,
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
  });
  // The bundler is a process, which would outlive its last bundle.
  const { outputFiles } = await built.finally(() => stop());
  return outputFiles.map(({ path: file, contents }) => ({ name: path.basename(file), content: contents }));
}

async function icon(): Promise<Asset> {
  const content = await readFile(path.join(SOURCES, "icon.svg"));
  const hash = createHash("sha256").update(content).digest("hex").slice(0, HASH_CHARACTERS);
  return { name: `icon-${hash}.svg`, content };
}

/** Writes the file, and beside it the same file in each encoding that members serve. */
async function writeEncoded(file: string, content: Uint8Array): Promise<void> {
  await writeFile(file, content);
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, best));
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }));
}

async function licenses(): Promise<string> {
  const texts = CONSOLE_PACKAGES.map(async (name) => {
    const license = path.join(path.dirname(await manifestOf(name)), "LICENSE");
    return `${name}\n\n${await readFile(license, "utf8")}`;
  });
  return (await Promise.all(texts)).join("\n\n");
}

/** The package.json of an installed package, which may be beside this package or in a parent directory. */
async function manifestOf(name: string): Promise<string> {
  for (let directory = ROOT; directory !== path.dirname(directory); directory = path.dirname(directory)) {
    const manifest = path.join(directory, "node_modules", name, "package.json");
    if (await readFile(manifest).then(Boolean, () => false)) {
      return manifest;
    }
  }
  throw new Error(`${name} is not installed`);
}

/** A digest of everything that the result depends on. */
async function digestOfSources(): Promise<string> {
  const hash = createHash("sha256");
  const names = await readdir(SOURCES, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".spec.ts"))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
  const manifests = await Promise.all(["esbuild", ...CONSOLE_PACKAGES].map(manifestOf));
  for (const file of [import.meta.filename, ...manifests, ...files]) {
    const content = await readFile(file);
    hash.update(`${path.relative(ROOT, file)} ${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: "string" } } });
  if (values.out === undefined) {
    await buildConsole();
  } else {
    await writeConsole(path.resolve(values.out), await digestOfSources());
  }
}
