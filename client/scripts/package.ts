/**
 * `npm run package -- --out DIRECTORY`: builds the published packages as tarballs: `@quoin/client`, and its
 * dependencies `@quoin/proto` (the contract) and `@quoin/backup` (the formats). In the repository they are TypeScript,
 * which Node does not run below node_modules; a package is ESM with types. It contains nothing of a member.
 */

import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The source of one package. */
interface Source {
  /** Its folder in the repository. */
  readonly folder: string;
  /** Its entry, without extension. */
  readonly entry: string;
  /** Files that are copied unchanged, relative to the folder. */
  readonly copied: readonly string[];
}

const sources: readonly Source[] = [
  { folder: "proto", entry: "./index", copied: ["coordination/**/*.proto", "generated/descriptors.binpb"] },
  { folder: "backup", entry: "./src/index", copied: ["README.md"] },
  { folder: "client", entry: "./src/index", copied: ["README.md", "examples/*.ts"] },
];

const entries = [
  "proto/index.ts",
  "backup/src/index.ts",
  "client/src/index.ts",
  "client/src/cli/index.ts",
  "client/bin/quoinctl.js",
];

/** Compiles everything, with the strictness of the repository. */
function compile(directory: string): void {
  const configuration = path.join(directory, "tsconfig.json");
  writeFileSync(
    configuration,
    JSON.stringify({
      extends: path.join(root, "tsconfig.json"),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        rewriteRelativeImportExtensions: true,
        rootDir: root,
        outDir: path.join(directory, "compiled"),
        // By path: TypeScript treats modules below node_modules as external and does not compile them.
        paths: {
          "@quoin/proto": [path.join(root, "proto/index.ts")],
          "@quoin/backup": [path.join(root, "backup/src/index.ts")],
        },
        types: ["node"],
        typeRoots: [path.join(root, "node_modules/@types")],
      },
      include: entries.map((entry) => path.join(root, entry)),
      exclude: [],
    }),
  );
  run("tsc", ["--project", configuration], root);
}

/** Assembles one package, and packs it as a tarball. */
function pack(directory: string, { folder, entry, copied }: Source, destination: string): void {
  const source = path.join(root, folder);
  const built = path.join(directory, "compiled", folder);
  for (const file of globSync(copied, { cwd: source })) {
    cpSync(path.join(source, file), path.join(built, file));
  }
  cpSync(path.join(root, "LICENSE"), path.join(built, "LICENSE"));
  const description = JSON.parse(readFileSync(path.join(source, "package.json"), "utf8"));
  const exports = { ".": { types: `${entry}.d.ts`, default: `${entry}.js` } };
  writeFileSync(path.join(built, "package.json"), `${JSON.stringify({ ...description, exports }, undefined, 2)}\n`);
  run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", destination], built);
}

function run(program: string, parameters: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(program, parameters, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`${program} ${parameters.join(" ")} failed`, { cause: error });
}

const { values } = parseArgs({ options: { out: { type: "string", default: "packages" } } });
const destination = path.resolve(values.out);
mkdirSync(destination, { recursive: true });
const directory = mkdtempSync(path.join(tmpdir(), "quoin-package-"));
try {
  compile(directory);
  for (const source of sources) pack(directory, source, destination);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
