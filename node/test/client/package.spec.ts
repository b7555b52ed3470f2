/**
 * The published package: unpacked in an empty project, with types for the compiler, ESM and CommonJS for Node, and
 * quoinctl; and as its users have it, installed by npm in an empty folder, and run by each runtime.
 */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore, putSnapshot } from "@quoin/backup";
import { expect } from "chai";
import { rowsOf, snapshotHeader } from "../../../backup/test/index.ts";
import { BlackHole, run, temporaryDirectory } from "../../../testing/index.ts";
import { ClusterUnderTest, TestProcess } from "../harness/index.ts";
import { EXAMPLE_OUTPUTS } from "./example-outputs.ts";
import { installRuntimes, isUnreachable, npmInstall, type Runtime } from "./runtimes.ts";

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
  allowJs: true,
  checkJs: true,
  allowImportingTsExtensions: true,
};

const BODY = readFileSync(new URL("./runtime-program.js", import.meta.url), "utf8");
/** Many times what a run takes. A program that does not end by itself fails the test then. */
const LIMIT_MS = 60_000;
/** What a browser program installs with the package. */
const CONNECT = ["@connectrpc/connect@2.2.0", "@connectrpc/connect-web@2.2.0"];
/** Each runtime, with the module system of its program. */
const RUNS = [
  ["Node 20", "cjs"],
  ["Node 20", "mjs"],
  ["Node 22", "mjs"],
  ["Node 24", "mjs"],
  ["Node 26", "mjs"],
  ["Bun", "mjs"],
  ["Deno", "mjs"],
] as const;

describe("the published package", function () {
  // Starts and kills dozens of processes, and may download five runtimes; the limit is for a busy machine.
  this.timeout(600_000);

  let tarball: string;
  let cluster: ClusterUnderTest;

  before(async () => {
    tarball = (await run(process.execPath, [PACKAGER, "--out", temporaryDirectory()])).trim();
    cluster = await ClusterUnderTest.start(1);
  });

  after(() => cluster?.dispose());

  describe("unpacked in an empty project", () => {
    const running: TestProcess[] = [];
    let project: string;

    before(() => {
      project = temporaryDirectory();
      const target = join(project, "node_modules/@quoin/client");
      mkdirSync(target, { recursive: true });
      execFileSync("tar", ["--extract", "--file", tarball, "--directory", target, "--strip-components", "1"]);
      for (const name of DEPENDENCIES) {
        const link = join(project, "node_modules", name);
        mkdirSync(join(link, ".."), { recursive: true });
        symlinkSync(join(MODULES, name), link);
      }
      writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
      writeFileSync(
        join(project, "tsconfig.json"),
        JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ["*.ts", "*.cts", "*.mjs"] }),
      );
      cpSync(join(project, "node_modules/@quoin/client/examples"), project, { recursive: true });
    });

    after(async () => {
      for (const child of running) {
        await child.dispose();
      }
    });

    async function runHere(program: string, ...args: string[]): Promise<TestProcess> {
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
      const files = globSync("node_modules/@quoin/*/**/*", { cwd: project });
      expect(files.filter((file) => /(?<!\.d)\.[mc]?ts$/.test(file.replace(".d.mts", ".d.ts")))).to.deep.equal([]);
      expect(files.filter((file) => file.includes(".spec."))).to.deep.equal([]);
    });

    it("has the definitions of the contract, from which a compiler generates clients", () => {
      const folder = join(project, "node_modules/@quoin/client/proto");
      const files = globSync("**/*", { cwd: folder }).filter((file) => file.includes("."));
      expect(files.sort()).to.deep.equal(globSync("**/*.proto", { cwd: join(ROOT, "proto") }).sort());
      for (const file of files) {
        expect(readFileSync(join(folder, file), "utf8"), file).to.equal(
          readFileSync(join(ROOT, "proto", file), "utf8"),
        );
      }
      const env = { ...process.env, BUF_CACHE_DIR: temporaryDirectory() };
      execFileSync(join(MODULES, ".bin/buf"), ["build", folder], { cwd: project, env, stdio: "pipe" });
    });

    it("has errors whose stacks show the name of their class", async () => {
      writeFileSync(
        join(project, "stack.mjs"),
        `import { QuoinError, CompactedError } from "@quoin/client";
        const error = new QuoinError({ code: "UNKNOWN", message: "m" });
        console.log(QuoinError.name, CompactedError.name, QuoinError.from(error.with({ code: "ABORTED" })).stack);\n`,
      );
      const { stdout } = await runHere("stack.mjs");
      expect(stdout)
        .to.match(/^QuoinError CompactedError QuoinError: m\n/)
        .and.not.include("_QuoinError");
    });

    it("type-checks in a strict project: the examples are written against it", () => {
      writeFileSync(
        join(project, "consumer.cts"),
        'import quoin = require("@quoin/client");\n' +
          'export const isMissing = (error: unknown): boolean => quoin.isQuoinError(error, "KEY_NOT_FOUND");\n',
      );
      writeFileSync(
        join(project, "wrong.ts"),
        'import type { Client } from "@quoin/client";\n' +
          "// @ts-expect-error The compiler complains if the next line has no error.\n" +
          'export const wrong = (client: Client) => client.locks.hold("n");\n',
      );
      const args = ["--project", project];
      expect(execFileSync(join(MODULES, ".bin/tsc"), args, { encoding: "utf8", stdio: "pipe" })).to.equal("");
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
        for (const file of files) {
          writeFileSync(join(project, file), consumer);
        }
        const options = "--noEmit --strict --ignoreConfig --target es2022 --lib es2022,esnext.disposable".split(" ");
        const args = [...options, "--types", "node", "--module", module, "--moduleResolution", resolution, ...files];
        expect(
          execFileSync(join(MODULES, ".bin/tsc"), args, { cwd: project, encoding: "utf8", stdio: "pipe" }),
        ).to.equal("");
      });
    }

    it("runs quoinctl", async () => {
      const quoinctl = "node_modules/@quoin/client/dist/quoinctl/quoinctl.mjs";
      await runHere(quoinctl, "kv", "put", "default/k", "v");
      expect((await runHere(quoinctl, "kv", "get", "default/k")).stdout).to.equal("v\n");
      expect((await runHere(quoinctl, "kv", "get", "default/k", "-o", "yaml")).stdout).to.include("value_text: v\n");
      await runHere(quoinctl, "context", "set", "here", "--endpoints", cluster.endpoints.join(","));
      expect((await runHere(quoinctl, "context", "current")).stdout).to.equal("here\n");
      expect((await runHere(quoinctl, "--version")).stdout).to.equal(`${VERSION}\n`);
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
        const names = JSON.parse((await runHere(file)).stdout);
        expect(names.slice(0, 2), file).to.deep.equal(["quoin PutKey", "coordination.v1.KeyValueService/PutKey"]);
      }
    });
  });

  describe("installed by npm", () => {
    const running: ChildProcess[] = [];
    const sockets: Socket[] = [];
    let runtimes: readonly Runtime[] = [];
    let project: string;
    let hole: BlackHole;
    let silent: Server;

    before(async function () {
      project = temporaryDirectory();
      try {
        await npmInstall(project, [tarball, ...CONNECT]);
        runtimes = await installRuntimes();
      } catch (error) {
        // Only on a machine without a registry; the verification of each commit needs one.
        if (process.env.CI !== undefined || !isUnreachable(error)) {
          throw error;
        }
        process.stderr.write("skipped: npm reaches no registry, and its cache does not have the packages\n");
        this.skip();
      }
      writeFileSync(
        join(project, "program.mjs"),
        `import * as quoin from "@quoin/client";\n${BODY}\nawait useQuoin(quoin);\n`,
      );
      const body = BODY.replace(/^export /m, "");
      writeFileSync(
        join(project, "program.cjs"),
        `const quoin = require("@quoin/client");\n${body}\nuseQuoin(quoin);\n`,
      );
      hole = await BlackHole.open("127.0.0.1", 0);
      silent = createServer((socket) => {
        socket.on("error", () => undefined);
        sockets.push(socket);
      });
      await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    });

    after(async () => {
      for (const child of running) {
        child.kill("SIGKILL");
      }
      for (const socket of sockets) {
        socket.destroy();
      }
      silent?.close();
      await hole?.close();
    });

    for (const [name, kind] of RUNS) {
      it(`works with ${name}, in a program of type ${kind}, which ends when it closes the client`, async () => {
        const runtime = runtimes.find((each) => each.name === name)!;
        const seen = JSON.parse(await output(runtime, `program.${kind}`));
        expect(seen).to.deep.equal({
          value: "one",
          watched: ["PUT one"],
          work: true,
          events: ["1 first"],
          followed: 1,
          missing: [true, true, "NOT_FOUND"],
          wrong: "ttlSecond is not an option of keyValue.put; did you mean ttlSeconds?",
          ended: ["CANCELLED", "CANCELLED", "CANCELLED", "CANCELLED"],
        });
      });
    }

    for (const name of ["Node 20", "Node 22", "Node 24", "Node 26", "Bun", "Deno"]) {
      it(`has examples that ${name} runs where they are installed`, async () => {
        const runtime = runtimes.find((each) => each.name === name)!;
        for (const [example, lines] of Object.entries(EXAMPLE_OUTPUTS)) {
          const file = join(project, "node_modules/@quoin/client/examples", example);
          expect((await output(runtime, file)).trimEnd().split("\n"), example).to.deep.equal(lines);
        }
      });
    }

    it("has one class of errors for `import` and `require`", async () => {
      const both = join(project, "both.mjs");
      writeFileSync(
        both,
        'import { createRequire } from "node:module";\nimport { QuoinError } from "@quoin/client";\n' +
          'console.log(createRequire(import.meta.url)("@quoin/client").QuoinError === QuoinError);\n',
      );
      expect(await output(runtimes[0]!, both)).to.equal("true\n");
    });

    it("has quoinctl, which runs with the oldest Node", async () => {
      const quoinctl = join(project, "node_modules/.bin/quoinctl");
      expect(await output(runtimes[0]!, quoinctl, "kv", "put", "default/k", "v")).to.include("REVISION");
      expect(await output(runtimes[0]!, quoinctl, "kv", "get", "default/k")).to.equal("v\n");
    });

    it("has quoinctl, which does not judge a backup that the oldest Node cannot read", async () => {
      const directory = temporaryDirectory();
      const store = await openStore({ kind: "directory", directory }, { create: false });
      await putSnapshot(store, snapshotHeader(7), [rowsOf(1_000)], undefined);
      const quoinctl = join(project, "node_modules/.bin/quoinctl");
      const refused = await ended(runtimes[0]!, quoinctl, "backup", "verify", directory);
      expect(refused.code).to.equal(2);
      expect(refused.stderr).to.include("Zstandard, which Node has from 22.15 on").and.not.include("restored");
      const read = await ended(runtimes[1]!, quoinctl, "backup", "verify", directory);
      expect(read.code, read.stderr).to.equal(0);
    });

    it("has the services for connect-web, as the example of a page uses them", async () => {
      const file = join(project, "browser.mjs");
      const services = new URL("../../../client/examples/browser/services.js", import.meta.url);
      writeFileSync(join(project, "services.mjs"), readFileSync(services));
      writeFileSync(
        file,
        `import { connect } from "./services.mjs";
        const { keyValue, watch } = connect(process.env.HTTP_ENDPOINT, process.env.QUOIN_TOKEN);
        const key = { namespace: "default", key: "from a page" };
        const ending = new AbortController();
        const changes = watch.watchKeys({ namespace: "default", prefix: key.key }, ending)[Symbol.asyncIterator]();
        const { value: first } = await changes.next();
        await keyValue.putKey({ ...key, value: new TextEncoder().encode("hello") });
        let second;
        // A message without events only reports progress.
        do ({ value: second } = await changes.next());
        while (second.events.length === 0);
        ending.abort();
        const { version } = await keyValue.getKey(key);
        const error = await keyValue.getKey({ ...key, key: "none" }).catch((thrown) => thrown.metadata.get("error-reason"));
        const text = new TextDecoder();
        console.log(JSON.stringify([first.created, text.decode(second.events[0].kv.value), String(version), error]));\n`,
      );
      expect(JSON.parse(await output(runtimes[0]!, file))).to.deep.equal([true, "hello", "1", "KEY_NOT_FOUND"]);
    });

    /** The standard output of a program that ends by itself with the code 0. */
    async function output(...command: Parameters<typeof ended>): Promise<string> {
      const { code, stdout, stderr } = await ended(...command);
      expect(code, `${stderr}\n${stdout}`).to.equal(0);
      return stdout;
    }

    /** How a program ends. */
    async function ended({ program, args }: Runtime, file: string, ...parameters: readonly string[]) {
      const child = spawn(program, [...args, file, ...parameters], {
        cwd: project,
        env: {
          ...process.env,
          HOME: project,
          QUOIN_ENDPOINTS: cluster.endpoints.join(","),
          HTTP_ENDPOINT: cluster.httpEndpoints[0],
          QUOIN_TOKEN: await cluster.tokens.token(),
          UNREACHED: `127.0.0.1:${hole.port}`,
          UNANSWERED: `127.0.0.1:${(silent.address() as AddressInfo).port}`,
          // Neither asks the network for anything.
          DENO_NO_UPDATE_CHECK: "1",
          BUN_CONFIG_NO_TELEMETRY: "1",
        },
        stdio: ["ignore", "pipe", "pipe"],
        timeout: LIMIT_MS,
        killSignal: "SIGKILL",
      });
      running.push(child);
      const written = { stdout: "", stderr: "" };
      child.stdout.setEncoding("utf8").on("data", (text: string) => (written.stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => (written.stderr += text));
      const [code, signal] = await new Promise<unknown[]>((resolve) => {
        child.once("error", (error) => resolve([error.message, null]));
        child.once("close", (...end) => resolve(end));
      });
      return { ...written, code: code ?? signal };
    }
  });
});
