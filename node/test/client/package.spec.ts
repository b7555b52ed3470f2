/** The published packages, in an empty project: types for the compiler, and ESM for Node. */

import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { ClusterUnderTest, TemporaryDirectories, TestProcess } from "../harness/index.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const MODULES = join(ROOT, "node_modules");
const PACKAGER = join(ROOT, "client/scripts/package.ts");
/** What the packages depend on, and the types of Node, as npm would install them. */
const DEPENDENCIES = [
  "@aws-sdk/client-s3",
  "@bufbuild/protobuf",
  "@grpc/grpc-js",
  "cli-table3",
  "commander",
  "yaml",
  "@types/node",
];
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

describe("the published packages", function () {
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
    for (const name of ["proto", "backup", "client"]) {
      const target = join(project, "node_modules/@quoin", name);
      mkdirSync(target, { recursive: true });
      const tarball = join(tarballs, `quoin-${name}-${VERSION}.tgz`);
      execFileSync("tar", ["--extract", "--file", tarball, "--directory", target, "--strip-components", "1"]);
    }
    for (const name of DEPENDENCIES) {
      const link = join(project, "node_modules", name);
      mkdirSync(join(link, ".."), { recursive: true });
      symlinkSync(join(MODULES, name), link);
    }
    writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ["*.ts"] }),
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

  it("hold ESM with types, and nothing that Node would not run there", () => {
    const files = globSync("node_modules/@quoin/*/**/*.{js,ts}", { cwd: project });
    const sources = files.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"));
    expect(sources.every((file) => file.includes("/client/examples/"))).to.equal(true);
    expect(files.filter((file) => file.includes(".spec."))).to.deep.equal([]);
    const compiled = files.filter((file) => file.endsWith(".js"));
    expect(compiled.length).to.be.greaterThan(90);
    for (const file of compiled) {
      expect(files, file).to.include(file.replace(/\.js$/, ".d.ts"));
    }
  });

  it("type-check in a strict project: the examples are written against them", () => {
    const check = () =>
      execFileSync(join(MODULES, ".bin/tsc"), ["--project", project], { encoding: "utf8", stdio: "pipe" });
    expect(check()).to.equal("");
    writeFileSync(
      join(project, "wrong.ts"),
      'import type { Client } from "@quoin/client";\nexport const wrong = (client: Client) => client.locks.hold("n");\n',
    );
    expect(check, "a type error is noticed").to.throw();
  });

  it("run: the examples, and quoinctl", async () => {
    expect((await run("locks.ts")).stdout).to.include("then it is FREE");
    expect((await run("watch.ts")).stdout).to.include("later: DELETE three");
    const quoinctl = "node_modules/@quoin/client/bin/quoinctl.js";
    await run(quoinctl, "kv", "put", "default/k", "v");
    expect((await run(quoinctl, "kv", "get", "default/k")).stdout).to.equal("v\n");
    expect((await run(quoinctl, "--version")).stdout).to.equal(`${VERSION}\n`);
  });
});
