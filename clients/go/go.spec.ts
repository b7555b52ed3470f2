/**
 * The SDK for Go: its generated code, the checks of Go, its tests with the race detector, and a program of its page in an
 * empty module, which gets the SDK as it is published. Without Go they are skipped, with the reason.
 */

import { execFile } from "node:child_process";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { PythonMissing, pythonEnvironment } from "../../e2e/python/index.ts";
import { LocalConformanceCluster } from "../../node/verify/conformance/index.ts";
import { GoMissing } from "../../scripts/go/index.ts";
import { programOf, temporaryDirectory } from "../../testing/index.ts";
import {
  deriveGoCode,
  GENERATED_FILES,
  GENERATED_FOLDER,
  GO_MODULE_FOLDER,
  goTool,
  PLUGINS,
  packGoModule,
  STATICCHECK,
} from "./scripts/index.ts";

const ROOT = path.join(GO_MODULE_FOLDER, "../..");
const LAUNCHER = path.join(ROOT, "node/local/main.ts");
const BEHAVIOUR = path.join(ROOT, "clients/behaviour/driver.ts");
const PAGE = path.join(ROOT, "docs/go.md");
const TABS = path.join(ROOT, "docs/sdks.md");
const CLIENT_PAGE = path.join(ROOT, "docs/writing-a-client.md");
const PROTO = path.join(ROOT, "proto");
const REQUIREMENTS = new URL("../../e2e/interop/requirements.txt", import.meta.url);
/** The first run downloads modules, and compiles everything. */
const LIMIT_MS = 600_000;
const ADDRESS = "127.0.0.1:7400";
/** A library that a page names, and that the SDK itself does not need. */
const OTEL = "go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc";
const OTEL_VERSION = "v0.69.0";
const IMPORTS: Readonly<Record<string, string>> = {
  context: "context",
  errors: "errors",
  fmt: "fmt",
  grpc: "google.golang.org/grpc",
  os: "os",
  otelgrpc: OTEL,
  quoin: "quoin.dev/client",
  quointest: "quoin.dev/client/quointest",
  testing: "testing",
  time: "time",
};

const execute = promisify(execFile);

describe("the SDK for Go", function () {
  this.timeout(LIMIT_MS);

  before(async function () {
    try {
      await goTool();
    } catch (error) {
      if (!(error instanceof GoMissing)) {
        throw error;
      }
      console.log(`skipped: ${error.message}`);
      this.skip();
    }
  });

  const go = async (directory: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    (await execute("go", args, { cwd: directory, env: { ...process.env, ...env } })).stdout;

  it("contains the code that the contract generates", async () => {
    const derived = temporaryDirectory();
    await deriveGoCode(derived);
    const names = [...GENERATED_FILES, ...globSync(`${GENERATED_FOLDER}/*`, { cwd: derived })].sort();
    const present = [...GENERATED_FILES, ...globSync(`${GENERATED_FOLDER}/*`, { cwd: GO_MODULE_FOLDER })].sort();
    expect(present, "node clients/go/scripts/generate.ts").to.deep.equal(names);
    for (const name of names) {
      const [made, kept] = [derived, GO_MODULE_FOLDER].map((folder) => readFileSync(path.join(folder, name), "utf8"));
      expect(kept === made, `${name} is outdated: node clients/go/scripts/generate.ts`).to.equal(true);
    }
  });

  it("is formatted, and has no complaint of vet and staticcheck", async () => {
    expect((await execute("gofmt", ["-l", "."], { cwd: GO_MODULE_FOLDER })).stdout).to.equal("");
    await go(GO_MODULE_FOLDER, ["vet", "./..."]);
    await execute(await goTool(STATICCHECK), ["./..."], { cwd: GO_MODULE_FOLDER });
  });

  it("passes its tests at clusters of three members, with the race detector", async () => {
    const results = process.env.QUOIN_BEHAVIOUR_RESULTS;
    const env = {
      QUOIN_START: `${process.execPath} ${programOf(LAUNCHER)}`,
      QUOIN_BEHAVIOUR: `${process.execPath} ${BEHAVIOUR}${results === undefined ? "" : ` --results ${results}`}`,
    };
    await go(GO_MODULE_FOLDER, ["test", "-race", "-count=1", "./..."], env);
  });

  describe("as it is published", () => {
    let folder: string;
    let proxy: string;
    let environment: Readonly<Record<string, string>>;

    before(async () => {
      folder = temporaryDirectory();
      proxy = path.join(folder, "proxy");
      await packGoModule(proxy);
      // Other modules come from the cache, to which this one must not be added.
      const cache = (await go(GO_MODULE_FOLDER, ["env", "GOMODCACHE"])).trim();
      const others = (await go(GO_MODULE_FOLDER, ["env", "GOPROXY"])).trim();
      environment = {
        GOPROXY: `file://${proxy},file://${path.join(cache, "cache/download")},${others}`,
        GOMODCACHE: path.join(folder, "modules"),
        GOFLAGS: "-mod=mod -modcacherw -trimpath",
        GOSUMDB: "off",
      };
    });

    it("has the same bytes each time", async () => {
      const again = path.join(folder, "again");
      await packGoModule(again);
      const files = globSync("quoin.dev/client/@v/*", { cwd: proxy }).sort();
      expect(files.map((file) => path.extname(file))).to.have.members(["", ".info", ".mod", ".zip"]);
      for (const file of files) {
        expect(readFileSync(path.join(again, file)).equals(readFileSync(path.join(proxy, file))), file).to.equal(true);
      }
    });

    it("serves the program and the examples of its page, in an empty module", async () => {
      const module = path.join(folder, "app");
      mkdirSync(path.join(module, "examples"), { recursive: true });
      const [program = "", ...ofPage] = blocksOf(PAGE);
      const examples = [...ofPage, ...blocksOf(TABS)];
      expect(program).to.include(ADDRESS);
      expect(ofPage).to.have.lengthOf.at.least(10);
      expect(examples).to.have.lengthOf(ofPage.length + 4);
      for (const [at, example] of examples.entries()) {
        writeFileSync(path.join(module, "examples", `example${at}.go`), exampleFile(at, example));
      }
      const cluster = await LocalConformanceCluster.start();
      try {
        const { endpoints } = await cluster.target();
        writeFileSync(path.join(module, "main.go"), program.replace(ADDRESS, endpoints[1] ?? ""));
        await go(module, ["mod", "init", "example.com/app"], environment);
        await go(module, ["get", "quoin.dev/client", `${OTEL}@${OTEL_VERSION}`], environment);
        await go(module, ["build", "./..."], environment);
        const env = { ...process.env, ...environment, QUOIN_API_KEY: cluster.apiKey };
        const { stderr } = await execute("go", ["run", "."], { cwd: module, env });
        expect(stderr).to.match(/finished: <nil>\n$/);
      } finally {
        await cluster.remove();
      }
    });

    it("has definitions from which the command of the manual makes code that compiles", async function () {
      let python: string;
      try {
        python = await pythonEnvironment(REQUIREMENTS);
      } catch (error) {
        if (!(error instanceof PythonMissing)) {
          throw error;
        }
        console.log(`skipped: ${error.message}`);
        return this.skip();
      }
      const module = path.join(folder, "generated");
      const programs = path.join(folder, "bin");
      mkdirSync(programs);
      mkdirSync(module);
      const tools = await Promise.all(PLUGINS.map((plugin) => goTool(plugin)));
      const found = tools.map((tool) => path.dirname(tool)).join(":");
      writeFileSync(path.join(programs, "protoc"), `#!/bin/sh\nexec ${python} -m grpc_tools.protoc "$@"\n`, {
        mode: 0o755,
      });
      const [, command = expect.fail("the page has no command")] =
        /^(protoc --proto_path proto --go_out .*?\.proto)$/ms.exec(readFileSync(CLIENT_PAGE, "utf8")) ?? [];
      const script = `ln -s ${PROTO} proto\n${command}`;
      const env = { ...process.env, ...environment, PATH: `${programs}:${found}:${process.env.PATH}` };
      await execute("bash", ["-ec", script], { cwd: module, env });
      await go(module, ["mod", "init", "example.com/app"], environment);
      const versions = ["google.golang.org/grpc", "google.golang.org/protobuf"].map(versionOf);
      await go(module, ["get", ...versions], environment);
      await go(module, ["build", "./..."], environment);
    });
  });
});

/** The blocks of Go in a page. */
function blocksOf(page: string): readonly string[] {
  return [...readFileSync(page, "utf8").matchAll(/^```go(?: \[Go\])?\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code);
}

/** A module with the version that the SDK needs. */
function versionOf(module: string): string {
  const definition = readFileSync(path.join(GO_MODULE_FOLDER, "go.mod"), "utf8");
  const [, version = expect.fail(`go.mod does not name ${module}`)] =
    new RegExp(`^\\s*${module} (\\S+)`, "m").exec(definition) ?? [];
  return `${module}@${version}`;
}

/** A file with a function around an excerpt, in which all of its names are used. */
function exampleFile(at: number, code: string): string {
  const names = new Set([...code.matchAll(/^((?:\w+, )*\w+) := /gm)].flatMap(([, list = ""]) => list.split(", ")));
  names.delete("_");
  const body = `${code}${[...names].map((name) => `_ = ${name}\n`).join("")}return nil\n`;
  const parameters = "ctx context.Context, client *quoin.Client, key string, t testing.TB";
  const text = `func Example${at}(${parameters}) error {\n${body}}\n`;
  const used = Object.entries(IMPORTS).filter(([name]) => new RegExp(`\\b${name}\\.`).test(text));
  const imports = used.map(([name, from]) => `import ${name} "${from}"\n`).join("");
  return `package examples\n\n${imports}\n${text.replace("client := cluster", "client = cluster")}`;
}
