/** The published package, in an empty project: types for the compiler, ESM and CommonJS for Node, and quoinctl. */

import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { ClusterUnderTest, TemporaryDirectories, TestProcess } from "../harness/index.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const MODULES = join(ROOT, "node_modules");
const PACKAGER = join(ROOT, "client/scripts/package.ts");
/** What the package depends on, and the types of Node, as npm would install them. */
const DEPENDENCIES = ["@bufbuild/protobuf", "@grpc/grpc-js", "@types/node"];
const VERSION = "0.1.0";

const COMPILER_OPTIONS = {
  target: "esnext",
  module: "nodenext",
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  allowImportingTsExtensions: true,
};

describe("the published package", function () {
  // Starts and kills dozens of processes; the limit is for a busy machine.
  this.timeout(240_000);

  const directories = new TemporaryDirectories();
  const running: TestProcess[] = [];
  let project: string;
  let cluster: ClusterUnderTest;

  before(async () => {
    project = directories.make();
    const tarballs = join(project, "tarballs");
    execFileSync(process.execPath, [PACKAGER, "--out", tarballs], { cwd: project });
    const target = join(project, "node_modules/@quoin/client");
    mkdirSync(target, { recursive: true });
    const tarball = join(tarballs, `quoin-client-${VERSION}.tgz`);
    execFileSync("tar", ["--extract", "--file", tarball, "--directory", target, "--strip-components", "1"]);
    for (const name of DEPENDENCIES) {
      const link = join(project, "node_modules", name);
      mkdirSync(join(link, ".."), { recursive: true });
      symlinkSync(join(MODULES, name), link);
    }
    writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ["*.ts", "*.cts"] }),
    );
    cpSync(join(project, "node_modules/@quoin/client/examples"), project, { recursive: true });
    cluster = await ClusterUnderTest.start(1);
  });

  after(async () => {
    for (const child of running) {
      await child.dispose();
    }
    await cluster.dispose();
    directories.removeAll();
  });

  async function run(program: string, ...args: string[]): Promise<TestProcess> {
    const env = {
      ...process.env,
      HOME: project,
      QUOIN_ENDPOINTS: cluster.endpoints.join(","),
      QUOIN_TOKEN: await cluster.tokens.token(),
    };
    const child = new TestProcess(join(project, program), args, { cwd: project, env });
    running.push(child);
    expect((await child.ended).code, child.stderr).to.equal(0);
    return child;
  }

  it("holds no source that Node would not run there, and no test", () => {
    const files = globSync("node_modules/@quoin/*/**/*.ts", { cwd: project });
    const sources = files.filter((file) => !file.endsWith(".d.ts"));
    expect(sources.every((file) => file.includes("/client/examples/"))).to.equal(true);
    expect(files.filter((file) => file.includes(".spec."))).to.deep.equal([]);
  });

  it("type-checks in a strict project: the examples are written against it", () => {
    const check = () =>
      execFileSync(join(MODULES, ".bin/tsc"), ["--project", project], { encoding: "utf8", stdio: "pipe" });
    writeFileSync(
      join(project, "consumer.cts"),
      'import quoin = require("@quoin/client");\n' +
        'export const isMissing = (error: unknown): boolean => quoin.isQuoinError(error, "KEY_NOT_FOUND");\n',
    );
    expect(check()).to.equal("");
    writeFileSync(
      join(project, "wrong.ts"),
      'import type { Client } from "@quoin/client";\nexport const wrong = (client: Client) => client.locks.hold("n");\n',
    );
    expect(check, "a type error is noticed").to.throw();
  });

  for (const [module, resolution, ...files] of [
    ["node16", "node16", "esm.mts", "commonjs.cts"],
    ["nodenext", "nodenext", "esm.mts", "commonjs.cts"],
    ["esnext", "bundler", "bundled.ts"],
  ] as const) {
    it(`has types for the module resolution ${resolution}, also with its declarations checked`, () => {
      const consumer =
        'import { createClient, isQuoinError, type QuoinReason } from "@quoin/client";\n' +
        'const reason: QuoinReason = "KEY_NOT_FOUND";\n' +
        'const client = createClient({ endpoints: ["h:1"], credentials: { token: "t" } });\n' +
        "export const isMissing = (error: unknown): boolean => isQuoinError(error, reason);\n" +
        'export const read = async (): Promise<Uint8Array> => (await client.keyValue.get("n", "k")).value;\n' +
        "// @ts-expect-error There is no such option.\n" +
        'export const wrong = () => client.keyValue.put("n", "k", "v", { ttlSecond: 1 });\n';
      for (const file of files) writeFileSync(join(project, file), consumer);
      const options = "--noEmit --strict --ignoreConfig --target es2022 --lib es2022,esnext.disposable".split(" ");
      const args = [...options, "--types", "node", "--module", module, "--moduleResolution", resolution, ...files];
      expect(execFileSync(join(MODULES, ".bin/tsc"), args, { cwd: project, encoding: "utf8", stdio: "pipe" })).to.equal(
        "",
      );
    });
  }

  it("runs: the examples, and quoinctl", async () => {
    expect((await run("locks.ts")).stdout).to.include("then it is FREE");
    expect((await run("watch.ts")).stdout).to.include("later: DELETE three");
    const quoinctl = "node_modules/@quoin/client/dist/quoinctl/quoinctl.mjs";
    await run(quoinctl, "kv", "put", "default/k", "v");
    expect((await run(quoinctl, "kv", "get", "default/k")).stdout).to.equal("v\n");
    expect((await run(quoinctl, "kv", "get", "default/k", "-o", "yaml")).stdout).to.include("value_text: v\n");
    await run(quoinctl, "context", "set", "here", "--endpoints", cluster.endpoints.join(","));
    expect((await run(quoinctl, "context", "current")).stdout).to.equal("here\n");
    expect((await run(quoinctl, "--version")).stdout).to.equal(`${VERSION}\n`);
  });

  it("makes spans in an application that has OpenTelemetry, which the package does not bring", async () => {
    const installed = join(project, "node_modules/@opentelemetry");
    mkdirSync(installed);
    symlinkSync(join(MODULES, "@opentelemetry/api"), join(installed, "api"));
    for (const [file, load] of [
      ["traced.mjs", 'import { createClient } from "@quoin/client";'],
      ["traced-by-require.mjs", 'const { createClient } = createRequire(import.meta.url)("@quoin/client");'],
    ] as const) {
      writeFileSync(
        join(project, file),
        `import { createRequire } from "node:module";
        import { trace } from "@opentelemetry/api";
        ${load}
        const names = [];
        const span = trace.wrapSpanContext({ traceId: "1".repeat(32), spanId: "2".repeat(16), traceFlags: 1 });
        trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: (name) => names.push(name) && span }) });
        const { QUOIN_ENDPOINTS, QUOIN_TOKEN } = process.env;
        const client = createClient({ endpoints: QUOIN_ENDPOINTS.split(","), credentials: { token: QUOIN_TOKEN } });
        await client.keyValue.put("default", "traced", "x");
        console.log(JSON.stringify(names));
        client.close();\n`,
      );
      const names = JSON.parse((await run(file)).stdout);
      expect(names.slice(0, 2), file).to.deep.equal(["quoin PutKey", "coordination.v1.KeyValueService/PutKey"]);
    }
  });
});
