/**
 * `npm run package -- --out DIRECTORY`: builds the published package `@quoin/client` as a tarball. It contains the SDK,
 * the contract (`@quoin/proto`), its services for Connect clients as `@quoin/client/connect`, its definitions for other
 * languages in `proto/`, and the command line `quoinctl` as one program.
 *
 * The SDK is one CommonJS file, and an ESM file with the same names that imports it. So a program that loads it in both
 * ways has one class QuoinError, and `instanceof` holds. gRPC and the protobuf runtime stay dependencies: npm then
 * shares them with other packages, and users get their security updates without a release of Quoin. The packages of
 * `quoinctl` are bundled, because it must start fast, and run on a Node that some of them no longer support.
 */

import { chmodSync, cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  bundleJavaScript,
  OLDEST_NODE,
  packFolder,
  writeConnectServices,
  writeDeclarations,
  writeLicences,
} from "../../scripts/bundle/index.ts";
import { writeSbom } from "../../scripts/packages/index.ts";

const client = fileURLToPath(new URL("../", import.meta.url));
const root = path.join(client, "..");

const ENTRY = "client/src/index.ts";
const PROGRAM = "client/scripts/quoinctl.ts";
const REPOSITORY_PACKAGES = { "@quoin/proto": "proto/index.ts", "@quoin/backup": "backup/src/index.ts" };
/** The packages that npm installs with this one. */
const DEPENDENCIES = ["@bufbuild/protobuf", "@grpc/grpc-js"];
/** The packages that the SDK uses only in programs that have them, and that the manifest names as optional. */
const OPTIONAL = ["@opentelemetry/api"];
const EXTERNAL = [...DEPENDENCIES, ...OPTIONAL];
const COPIED = ["README.md", "examples/**"];
/** The folder of the contract. Its definitions name each other by their paths from there. */
const contract = path.join(root, "proto");

/** Writes the SDK into `dist`: CommonJS, ESM, and declarations for both. */
async function writeLibrary(dist: string): Promise<void> {
  const options = { entries: { index: ENTRY }, directory: dist, external: EXTERNAL, sourceMap: true };
  const { packages } = await bundleJavaScript({ ...options, format: "cjs", extension: ".js" });
  if (packages.length > 0) {
    throw new Error(`the SDK must not contain ${packages[0]!.name}`);
  }
  // Only for the names of its exports.
  const { exports } = await bundleJavaScript({ ...options, format: "esm", extension: ".mjs" });
  rmSync(path.join(dist, "index.mjs.map"));
  const names = exports.get("index")?.toSorted() ?? [];
  writeFileSync(
    path.join(dist, "index.mjs"),
    `import quoin from "./index.js";\n\nexport const {\n${names.map((name) => `  ${name},\n`).join("")}} = quoin;\n`,
  );
  const types = { entries: [ENTRY], checked: [PROGRAM], packages: REPOSITORY_PACKAGES } as const;
  writeDeclarations({ ...types, directory: path.join(dist, "types"), extension: ".d.ts" });
  for (const name of ["index.d.ts", "index.d.mts"]) {
    writeFileSync(path.join(dist, name), `export * from "./types/${ENTRY.replace(/\.ts$/, ".js")}";\n`);
  }
}

/** Writes quoinctl into `dist/quoinctl`, with everything that it needs. */
async function writeProgram(dist: string): Promise<void> {
  const directory = path.join(dist, "quoinctl");
  const { packages } = await bundleJavaScript({
    entries: { quoinctl: PROGRAM },
    directory,
    format: "esm",
    extension: ".mjs",
    external: OPTIONAL,
    splitting: true,
    minify: true,
    firstLine: "#!/usr/bin/env node",
  });
  chmodSync(path.join(directory, "quoinctl.mjs"), 0o755);
  writeLicences(path.join(directory, "THIRD-PARTY-LICENSES.txt"), packages);
}

function writeManifest(folder: string): void {
  const {
    name,
    version,
    description,
    license,
    keywords,
    dependencies: exact,
    peerDependencies,
    peerDependenciesMeta,
  } = JSON.parse(readFileSync(path.join(client, "package.json"), "utf8"));
  const manifest = {
    name,
    version,
    description,
    keywords,
    license,
    type: "commonjs",
    engines: { node: `>=${OLDEST_NODE}` },
    sideEffects: false,
    main: "./dist/index.js",
    types: "./dist/index.d.ts",
    exports: {
      ".": {
        import: { types: "./dist/index.d.mts", default: "./dist/index.mjs" },
        require: { types: "./dist/index.d.ts", default: "./dist/index.js" },
      },
      // Only ESM: it is for browsers, and every supported Node also loads it with `require`.
      "./connect": { types: "./dist/connect/index.d.ts", default: "./dist/connect/index.js" },
      "./proto/*": "./proto/*",
      "./package.json": "./package.json",
    },
    // For compilers that do not read `exports`.
    typesVersions: { "*": { connect: ["./dist/connect/index.d.ts"] } },
    bin: { quoinctl: "dist/quoinctl/quoinctl.mjs" },
    // Not exact, so that users get corrections of these packages without a release of this one.
    dependencies: Object.fromEntries(DEPENDENCIES.map((dependency) => [dependency, `^${exact[dependency]}`])),
    peerDependencies,
    peerDependenciesMeta,
  };
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

const { values } = parseArgs({ options: { out: { type: "string", default: "packages" } } });
const destination = path.resolve(values.out);
mkdirSync(destination, { recursive: true });
const folder = mkdtempSync(path.join(tmpdir(), "quoin-package-"));
try {
  await writeLibrary(path.join(folder, "dist"));
  await writeProgram(path.join(folder, "dist"));
  writeConnectServices(path.join(folder, "dist/connect"));
  for (const file of globSync(COPIED, { cwd: client })) {
    cpSync(path.join(client, file), path.join(folder, file), { recursive: true });
  }
  for (const file of globSync("**/*.proto", { cwd: contract })) {
    cpSync(path.join(contract, file), path.join(folder, "proto", file));
  }
  cpSync(path.join(root, "LICENSE"), path.join(folder, "LICENSE"));
  writeManifest(folder);
  writeSbom(folder, "@quoin/client", ["client"]);
  process.stdout.write(`${packFolder(folder, destination)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
