/**
 * Proves that the lint rules refuse their bad examples. The spec writes small files in the layout of the repository
 * into a temporary folder, and lints them once, with the repository's own configuration.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../testing/index.ts";
import { repositoryRoot } from "./command.ts";

/** A piece of code, its place, and the rule that refuses it there; undefined if it is allowed. */
interface Example {
  readonly file: string;
  readonly code: string;
  readonly refusal: string | undefined;
}

const DIRECTION = "Imports point one way";
const STATE_DIRECTION = "Imports of the state point one way";
const DOOR = "No deep imports";
const BY_NAME = "Import another package by its name";
const OUTSIDE = "import neither Node modules nor packages";
const BLACK_BOX = "knows only the contract";
const PURE_OPERATOR = "import no Node modules and no packages";
const ASYNCHRONOUS = "no async function";
const NO_TIME = "A test waits for a condition";
const LITERAL_SPREAD = "Name the properties themselves";
const CONSTANT = "Constants of a module are named in upper case";
const BRACES = "lint/style/useBlockStatements";
const GLOBALS = "lint/style/noRestrictedGlobals";
const PROPERTIES = "lint/nursery/noJsRestrictedProperties";

function refused(file: string, code: string, refusal: string): Example {
  return { file, code, refusal };
}

function allowed(file: string, code: string): Example {
  return { file, code, refusal: undefined };
}

const EXAMPLES: readonly Example[] = [
  refused("client/src/a.ts", `export const a = { ...{ b: 1, c: 2 }, d: 3 };`, LITERAL_SPREAD),
  allowed("client/src/a.ts", `const b = { c: 1 };\nexport const a = { ...b, ...(b.c > 1 ? { d: 2 } : {}) };`),
  refused("client/src/a.ts", `export const limitMs = 60 * 1_000;`, CONSTANT),
  refused("client/src/a.ts", `export const pattern = /a/;`, CONSTANT),
  refused("node/src/watch/a.ts", `export const names: ReadonlySet<string> = new Set(["a"]);`, CONSTANT),
  allowed("client/src/a.ts", `export const LIMIT_MS = 1;\nexport const known = new Map<string, number>();`),
  allowed("client/src/a.ts", `export const a = () => {\n  const limitMs = 1;\n  return limitMs;\n};`),
  refused("client/src/a.ts", `export function a(b: boolean) {\n  if (b) return 1;\n  return 2;\n}`, BRACES),
  // Directions, by folder. They bind a file in a subfolder like one directly in the folder.
  refused("node/src/raft/a.ts", `import "../state/index.ts";`, DIRECTION),
  refused("node/src/raft/a.ts", `import type { A } from "../telemetry/index.ts";\nexport type B = A;`, DIRECTION),
  refused("node/src/raft/a.ts", `export { a } from "../state/index.ts";`, DIRECTION),
  refused("node/src/raft/a.ts", `export * from "../state/index.ts";`, DIRECTION),
  refused("node/src/raft/tracker/a.ts", `import "../../state/index.ts";`, DIRECTION),
  refused("node/src/raft/a.ts", `import "../../../scripts/index.ts";`, DIRECTION),
  refused("node/src/raft/a.ts", `import "../new-room/index.ts";`, DIRECTION),
  refused("node/src/raft/a.spec.ts", `import "../state/index.ts";`, DIRECTION),
  allowed("node/src/raft/a.ts", `import "./b.ts";\nimport "./tracker/index.ts";`),
  allowed("node/src/raft/tracker/a.ts", `import "../index.ts";\nimport "../quorum/index.ts";`),
  allowed("node/src/raft/a.ts", `import "../bytes/index.ts";`),
  allowed("node/src/state/codec/a.ts", `import "../../bytes/index.ts";`),
  refused("node/src/bytes/a.ts", `import "../raft/index.ts";`, DIRECTION),
  allowed("node/src/telemetry/a.ts", `import "../primitives/index.ts";`),
  refused("node/src/primitives/a.ts", `import "../raft/index.ts";`, DIRECTION),
  refused("node/src/primitives/a.ts", `import "../bytes/index.ts";`, DIRECTION),
  refused("node/src/watch/a.ts", `import "../raft/index.ts";`, DIRECTION),
  refused("node/src/access/a.ts", `import "../raft/index.ts";`, DIRECTION),
  allowed("node/src/replica/a.ts", `import "../collections/index.ts";`),
  refused("node/src/collections/a.ts", `import "../bytes/index.ts";`, DIRECTION),
  allowed("node/src/http2/hpack/a.ts", `import "../../bytes/index.ts";`),
  refused("node/src/http2/a.ts", `import "../telemetry/index.ts";`, DIRECTION),
  refused("node/src/http2/a.ts", `import "../../test/http2/index.ts";`, DIRECTION),
  allowed("node/src/http2/a.spec.ts", `import "../../test/http2/index.ts";`),
  allowed("node/src/api/grpc/a.ts", `import "../../http2/index.ts";`),
  allowed("node/src/api/http/logs/a.ts", `import "../../calls/index.ts";\nimport "../../../state/index.ts";`),
  allowed("node/src/api/http/logs/a.spec.ts", `import "../../../../test/harness/index.ts";`),
  refused("node/src/api/http/logs/a.ts", `import "../../../offline/index.ts";`, DIRECTION),
  refused("node/src/api/http/logs/a.ts", `import "../../../../../scripts/index.ts";`, DIRECTION),
  refused("node/src/replica/a.ts", `import "../http2/index.ts";`, DIRECTION),
  refused("node/src/state/a.ts", `import "../storage/index.ts";`, DIRECTION),
  allowed("node/src/state/a.ts", `import "../raft/index.ts";`),
  allowed("node/src/state/codec/a.ts", `import "../../raft/index.ts";`),
  refused("node/src/storage/a.ts", `import "../replica/index.ts";`, DIRECTION),
  refused("node/src/storage/a.ts", `import "../peers/index.ts";`, DIRECTION),
  refused("node/src/storage/a.ts", `import "../telemetry/index.ts";`, DIRECTION),
  allowed(
    "node/src/storage/a.ts",
    `import "node:fs";\nimport "rocksdb";\nimport "../raft/index.ts";\nimport "../state/index.ts";`,
  ),
  refused("node/src/peers/a.ts", `import "../storage/index.ts";`, DIRECTION),
  allowed("node/src/peers/a.ts", `import "../raft/index.ts";\nimport "../state/index.ts";`),
  refused("node/src/watch/a.ts", `import "../replica/index.ts";`, DIRECTION),
  allowed("node/src/watch/a.ts", `import "../state/index.ts";`),
  refused("node/src/replica/a.ts", `import "../access/index.ts";`, DIRECTION),
  refused("node/src/replica/a.ts", `import "../api/index.ts";`, DIRECTION),
  allowed(
    "node/src/replica/a.ts",
    `import "../peers/index.ts";\nimport "../raft/index.ts";\nimport "../state/index.ts";\n` +
      `import "../storage/index.ts";\nimport "../telemetry/index.ts";`,
  ),
  refused("node/src/access/a.ts", `import "../api/grpc/index.ts";`, DIRECTION),
  refused("node/src/access/a.ts", `import "../storage/index.ts";`, DIRECTION),
  allowed("node/src/access/a.ts", `import "../replica/index.ts";\nimport "../telemetry/index.ts";`),
  refused("node/src/telemetry/a.ts", `import "../raft/index.ts";`, DIRECTION),
  refused("node/src/api/grpc/a.ts", `import "../../../local/index.ts";`, DIRECTION),
  allowed("node/src/api/grpc/a.ts", `import "../../access/index.ts";\nimport "../../storage/index.ts";`),
  allowed("node/src/offline/a.ts", `import "../process/index.ts";\nimport "../rebuild/index.ts";`),
  allowed("node/src/process/a.ts", `import "../api/http/index.ts";\nimport "../command-line/index.ts";`),
  refused("node/src/process/a.ts", `import "../offline/index.ts";`, DIRECTION),
  refused("node/src/kubernetes/a.ts", `import "../process/index.ts";`, DIRECTION),
  refused("node/src/replica/a.ts", `import "../process/index.ts";`, DIRECTION),
  allowed("node/src/main.ts", `import "./api/grpc/index.ts";\nimport "./replica/index.ts";`),
  allowed("node/src/storage/b.spec.ts", `import "../../test/index.ts";\nimport "../../test/harness/index.ts";`),
  allowed("node/src/api/grpc/b.spec.ts", `import "../../../test/index.ts";`),
  refused("node/src/storage/a.ts", `import "../../test/index.ts";`, DIRECTION),
  allowed("node/src/raft/b.spec.ts", `import "../../verify/scenarios/index.ts";`),
  refused("node/src/raft/a.ts", `import "../../verify/scenarios/index.ts";`, DIRECTION),

  // Directions inside the state.
  allowed("node/src/state/keys/a.ts", `import "../core/index.ts";\nimport "../locks/index.ts";`),
  allowed("node/src/state/event-logs/a.ts", `import "../accounts/index.ts";\nimport "./b.ts";`),
  allowed("node/src/state/a.ts", `import "./keys/index.ts";\nimport "./core/index.ts";`),
  allowed("node/src/state/core/a.spec.ts", `import "../index.ts";`),
  refused(
    "node/src/state/core/a.ts",
    `import type { A } from "../keys/index.ts";\nexport type B = A;`,
    STATE_DIRECTION,
  ),
  refused("node/src/state/core/a.ts", `import "../index.ts";`, STATE_DIRECTION),
  refused("node/src/state/keys/a.ts", `import "../memory/index.ts";`, STATE_DIRECTION),
  allowed("node/src/state/transactions/a.ts", `import "../memory/index.ts";\nimport "../locks/index.ts";`),
  allowed("node/src/state/namespaces/a.ts", `import "../keys/index.ts";`),
  refused("node/src/state/namespaces/a.ts", `import "../transactions/index.ts";`, STATE_DIRECTION),
  refused("node/src/state/memory/a.ts", `import "../transactions/index.ts";`, STATE_DIRECTION),
  refused("node/src/state/keys/a.ts", `import "../accounts/index.ts";`, STATE_DIRECTION),
  refused("node/src/state/locks/a.ts", `import "../keys/index.ts";`, STATE_DIRECTION),
  refused("node/src/state/accounts/a.ts", `import "../locks/index.ts";`, STATE_DIRECTION),

  // Entry points and packages.
  refused("node/src/storage/a.ts", `import "../raft/log.ts";`, DOOR),
  refused("node/src/storage/a.ts", `import "./engine/file.ts";`, DOOR),
  refused("node/src/main.ts", `import "./replica/replica.ts";`, DOOR),
  refused("node/src/replica/a.ts", `void import("../raft/log.ts");`, DOOR),
  refused("node/src/replica/a.ts", `export type A = import("../raft/index.ts").A;`, "Import types at the top"),
  refused("node/test/a.spec.ts", `import "../src/raft/log.ts";`, DOOR),
  allowed("node/test/a.spec.ts", `import "../src/raft/index.ts";\nimport "./harness/index.ts";`),
  allowed("proto/index.ts", `export * from "./generated/coordination/v1/lock.ts";`),
  refused("node/src/api/grpc/a.ts", `import "@quoin/proto/generated/coordination/v1/lock.ts";`, BY_NAME),
  refused("bench/a.ts", `import "../client/index.ts";`, BY_NAME),
  allowed("node/src/api/grpc/a.ts", `import "@quoin/proto";`),
  refused("bench/a.ts", `import "@quoin/node/local/ports.ts";`, BY_NAME),
  allowed("bench/a.ts", `import "@quoin/node/local";`),
  refused("bench/a.ts", `import "@quoin/node/micro/cases.ts";`, BY_NAME),
  allowed("bench/a.ts", `import "@quoin/node/micro";`),
  refused("client/src/a.ts", `import "@quoin/node/local";`, "must not import the member"),
  refused("node/src/replica/a.ts", `import "@quoin/node/local";`, "must not import the client"),
  refused("client/src/a.ts", `import "../../node/local/index.ts";`, "must not import the member"),
  refused("client/src/a.ts", `import "@quoin/node";`, "must not import the member"),
  refused("proto/a.ts", `import "@quoin/node";`, "must not import the member"),
  refused("node/src/api/grpc/a.ts", `import "@quoin/client";`, "must not import the client"),
  refused("node/src/main.ts", `import "@quoin/bench";`, "must not import the client"),
  allowed("node/src/api/grpc/a.spec.ts", `import "@quoin/client";`),
  allowed("node/local/a.ts", `import "@quoin/client";`),
  allowed("node/test/b.spec.ts", `import "@quoin/client";`),
  refused("node/verify/conformance/a.ts", `import "../src/state/index.ts";`, BLACK_BOX),
  refused("node/verify/conformance/tables/a.ts", `import "../../test/harness/index.ts";`, BLACK_BOX),
  refused("node/verify/conformance/tables/a.ts", `import "@quoin/client";`, BLACK_BOX),
  refused("node/verify/conformance/a.ts", `import "../local/index.ts";`, BLACK_BOX),
  allowed("node/verify/conformance/local-cluster.ts", `import "../local/index.ts";`),
  allowed("node/verify/conformance/tables/a.ts", `import "@quoin/proto";\nimport "../harness/index.ts";`),
  allowed("node/verify/conformance/a.spec.ts", `import "../test/index.ts";`),
  refused("node/src/replica/a.ts", `import "rocksdb";`, "Only node/src/storage imports RocksDB"),
  refused("node/verify/scenarios/a.ts", `import "rocksdb";`, "Only node/src/storage imports RocksDB"),
  allowed("node/verify/witnesses/a.ts", `import "rocksdb";`),

  // Backups import no other package, and their folders import downwards.
  refused("backup/src/a.ts", `import "@quoin/proto";`, "The backup package imports no other package"),
  refused("backup/src/a.ts", `import "../../node/src/raft/index.ts";`, "The backup package imports no other package"),
  refused("node/src/replica/a.ts", `import "../../../backup/src/index.ts";`, BY_NAME),
  allowed("node/src/replica/a.ts", `import "@quoin/backup";`),
  allowed("client/src/a.ts", `import "@quoin/backup";`),
  refused("backup/src/format/a.ts", `import "../store/index.ts";`, "Imports of backups point one way"),
  refused("backup/src/envelope/a.ts", `import "../store/index.ts";`, "Imports of backups point one way"),
  refused("backup/src/store/a.ts", `import "../chain/index.ts";`, "Imports of backups point one way"),
  refused("backup/src/store/a.ts", `import "../s3/index.ts";`, "Imports of backups point one way"),
  refused("backup/src/s3/a.ts", `import "../envelope/index.ts";`, "Imports of backups point one way"),
  refused("backup/src/chain/a.ts", `import "../s3/index.ts";`, "Imports of backups point one way"),
  refused("backup/src/chain/a.ts", `import "../../test/index.ts";`, "Imports of backups point one way"),
  allowed("backup/src/chain/a.ts", `import "../store/index.ts";\nimport "../envelope/index.ts";`),
  allowed("backup/src/s3/a.ts", `import "../store/index.ts";\nimport "../format/index.ts";`),
  allowed("backup/src/store/b.spec.ts", `import "../../test/index.ts";`),

  // The operator knows only the wire, and decides without effects.
  refused("operator/src/members/a.ts", `import "@quoin/node/local";`, "must not import the member"),
  refused("operator/src/members/a.ts", `import "../../../node/src/raft/index.ts";`, "must not import the member"),
  refused("client/src/a.ts", `import "../../operator/index.ts";`, BY_NAME),
  allowed("operator/src/members/a.ts", `import "@quoin/client";\nimport "@quoin/proto";`),
  allowed("operator/src/kube/a.ts", `import "node:https";\nimport "@kubernetes/client-node";`),
  allowed("operator/src/status/a.ts", `import "../plan/index.ts";\nimport "../generated/a.ts";`),
  refused("operator/src/plan/a.ts", `import "../status/index.ts";`, "Imports of the operator point one way"),
  refused("operator/src/plan/rules/a.ts", `import "../../render/index.ts";`, "Imports of the operator point one way"),
  allowed("operator/src/plan/a.ts", `import "../generated/a.ts";`),
  refused("operator/src/render/a.ts", `import "../plan/index.ts";`, "Imports of the operator point one way"),
  allowed("operator/src/render/a.ts", `import "node:crypto";`),
  allowed("operator/src/render/a.ts", `import "../quantity/index.ts";`),
  allowed("operator/src/plan/b.spec.ts", `import "../../test/index.ts";`),
  refused("operator/src/plan/a.ts", `import "../../test/index.ts";`, "Imports of the operator point one way"),
  ...["plan", "render", "status"].flatMap((room) => {
    const file = `operator/src/${room}/pure.ts`;
    return [
      refused(file, `import "node:fs";`, PURE_OPERATOR),
      refused(file, `import "@quoin/proto";`, PURE_OPERATOR),
      refused(
        file,
        `import { KubeConfig } from "@kubernetes/client-node";\nexport const a = KubeConfig;`,
        PURE_OPERATOR,
      ),
      allowed(file, `import type { V1Pod } from "@kubernetes/client-node";\nexport type A = V1Pod;`),
      refused(file, `export const a: unknown = process;`, GLOBALS),
      refused(file, `export const a: unknown = performance;`, GLOBALS),
      refused(file, `export const a = Date.now();`, PROPERTIES),
      refused(file, `export const a = Math.random();`, PROPERTIES),
    ];
  }),

  // primitives/, raft/ and state/ are deterministic and synchronous.
  ...["primitives", "raft", "state"].flatMap((room) => {
    const file = `node/src/${room}/pure.ts`;
    return [
      refused(file, `import "node:fs";`, OUTSIDE),
      refused(file, `import "pino";`, OUTSIDE),
      refused(file, `import "@quoin/proto";`, OUTSIDE),
      refused(file, `export const a = (): unknown => import("./b.ts");`, "use no dynamic imports"),
      ...["Buffer", "Date", "Intl", "Promise", "Temporal", "console", "crypto", "globalThis", "performance"].map(
        (name) => refused(file, `export const a: unknown = ${name};`, GLOBALS),
      ),
      ...["process", "queueMicrotask", "setImmediate", "setInterval", "setTimeout"].map((name) =>
        refused(file, `export const a: unknown = ${name};`, GLOBALS),
      ),
      refused(file, `export type A = Promise<void>;`, GLOBALS),
      refused(file, `export const a = Math.random();`, PROPERTIES),
      refused(file, `export const { random } = Math;`, PROPERTIES),
      refused(file, `export const a = (b: string): number => b.localeCompare("");`, PROPERTIES),
      refused(
        file,
        `export function a(b: object): void {\n  for (const c in b) a({ c });\n}`,
        "lint/suspicious/noForIn",
      ),
      refused(file, `export async function a() {}`, ASYNCHRONOUS),
      refused(file, `export const a = async () => 1;`, ASYNCHRONOUS),
      refused(file, `export const a = async function () {};`, ASYNCHRONOUS),
      refused(file, `export class A {\n  static async a() {}\n}`, ASYNCHRONOUS),
      refused(file, `export class A {\n  private async a() {}\n  b = this.a;\n}`, ASYNCHRONOUS),
      refused(file, `export const a = { async b() {} };`, ASYNCHRONOUS),
      refused(file, `await null;`, ASYNCHRONOUS),
      refused(file, `for await (const a of []) a;`, ASYNCHRONOUS),
      refused(file, `export async function* a() {}`, ASYNCHRONOUS),
      allowed(
        file,
        `export function a(asyncName: Uint8Array): string {\n  const view = new DataView(asyncName.buffer);\n` +
          `  return new TextDecoder().decode(view);\n}`,
      ),
      allowed(`node/src/${room}/pure.spec.ts`, `import "node:fs";\nimport "chai";\nimport "fast-check";\nawait null;`),
      refused(`node/src/${room}/pure.spec.ts`, `export const a = (): number => Date.now();`, GLOBALS),
    ];
  }),

  // Tests wait for conditions.
  refused("client/src/a.spec.ts", `setTimeout(() => {}, 1);`, GLOBALS),
  refused("node/test/a.ts", `setInterval(() => {}, 1);`, GLOBALS),
  refused("client/src/a.spec.ts", `import "node:timers/promises";`, NO_TIME),
  refused("client/src/a.spec.ts", `import "timers";`, NO_TIME),
  allowed("node/test/harness/a.ts", `import "node:timers/promises";\nsetTimeout(() => {}, 1);`),
  allowed("client/src/a.ts", `setTimeout(() => {}, 1);`),
  refused("client/src/a.spec.ts", `it.only("a", () => {});`, "lint/suspicious/noFocusedTests"),
  refused("client/src/a.spec.ts", `describe.only("a", () => {});`, "lint/suspicious/noFocusedTests"),
  refused("client/src/a.spec.ts", `it.skip("a", () => {});`, "lint/suspicious/noSkippedTests"),
  refused("client/src/a.spec.ts", `describe.skip("a", () => {});`, "lint/suspicious/noSkippedTests"),

  // Everywhere.
  refused("client/src/a.ts", `export const a: any = 1;`, "lint/suspicious/noExplicitAny"),
  refused("client/src/a.ts", `import { A } from "./b.ts";\nexport type B = A;`, "lint/style/useImportType"),
  refused("client/src/a.ts", `import { a } from "./b.ts";`, "lint/correctness/noUnusedImports"),
  refused("client/src/a.ts", `const a = 1;\nexport {};`, "lint/correctness/noUnusedVariables"),
  refused("client/src/a.ts", `async function a() {}\nexport const b = () => {\n  a();\n};`, "noFloatingPromises"),
  refused("client/src/a.ts", `export enum A {\n  B,\n}`, "lint/style/noEnum"),
  refused("node/src/replica/a.ts", `console.log("a");`, "lint/suspicious/noConsole"),
  allowed("node/src/main.ts", `console.log("a");`),
  allowed("client/src/a.ts", `console.log("a");`),
];

/** The part of Biome's JSON report that this file reads. */
interface Diagnostic {
  readonly category: string;
  readonly message: string;
  readonly location: { readonly path: string };
}

/** An example and its place. */
interface Placed extends Example {
  readonly tree: string;
  readonly placedFile: string;
}

/**
 * Gives each example its own file name, so that one tree contains nearly all of them. Rules that name a file, such as
 * those for main.ts, need that exact name: such examples go to further trees.
 */
function place(): Placed[] {
  const taken = new Map<string, number>();
  return EXAMPLES.map((example, index) => {
    const { dir, base } = path.parse(example.file);
    const placedFile = path.join(dir, base === "main.ts" ? base : base.replace(".", `-${index}.`));
    const count = taken.get(placedFile) ?? 0;
    taken.set(placedFile, count + 1);
    return { ...example, tree: `tree-${count}`, placedFile };
  });
}

async function lint(folder: string): Promise<Diagnostic[]> {
  for (const part of ["biome.json", ".gitignore", "scripts/lint"]) {
    await cp(path.join(repositoryRoot, part), path.join(folder, part), { recursive: true });
  }
  const report = path.join(folder, "report.json");
  const biome = path.join(repositoryRoot, "node_modules", ".bin", "biome");
  const args = ["lint", "--reporter=json", `--reporter-file=${report}`, "--max-diagnostics=none", "."];
  // Biome exits with 1 when it refuses something, which is expected here; the report contains the results.
  await new Promise((resolve) => execFile(biome, args, { cwd: folder }, resolve));
  return JSON.parse(await readFile(report, "utf8")).diagnostics;
}

describe("lint rules", () => {
  const placed = place();
  const refusals = new Map<string, string[]>();
  const keyOf = (tree: string, file: string): string => `${tree}:${file}`;

  before(async () => {
    const folder = temporaryDirectory();
    for (const { tree, placedFile, code } of placed) {
      const target = path.join(folder, tree, placedFile);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, `${code}\n`);
    }
    for (const tree of new Set(placed.map((example) => example.tree))) {
      for (const { category, message, location } of await lint(path.join(folder, tree))) {
        const key = keyOf(tree, location.path);
        refusals.set(key, [...(refusals.get(key) ?? []), `${category}: ${message}`]);
      }
    }
  });

  for (const { tree, placedFile, file, code, refusal } of placed) {
    it(`${refusal === undefined ? "allow" : "refuse"} ${code.replaceAll("\n", " ")} in ${file}`, () => {
      const found = refusals.get(keyOf(tree, placedFile)) ?? [];
      if (refusal === undefined) {
        expect(found).to.deep.equal([]);
      } else {
        expect(found.join("\n")).to.contain(refusal);
      }
    });
  }
});
