/** The package `quoin` and the executable of quoinctl, installed in an empty folder as their users do. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { CONSOLE_PACKAGES } from "../../../console/scripts/index.ts";
import manifest from "../../../package.json" with { type: "json" };
import { buildExecutable, packServer, SBOM_FILE } from "../../../scripts/packages/index.ts";
import { run as execute, temporaryDirectory } from "../../../testing/index.ts";
import { claimedBasePort, exists, TestProcess, TraceCollector, until } from "../harness/index.ts";

const MANUAL = readFileSync(new URL("../../../docs/from-an-empty-folder.md", import.meta.url), "utf8");
/** A block of commands, and the text below it: lines that they print. */
const SHELL_BLOCK = /^```sh\n([\s\S]*?)^```\n(\n```text\n([\s\S]*?)^```\n)?/gm;
/** Many times what the commands of a block take. */
const BLOCK_LIMIT_MS = 60_000;
const MEMBER_ROW = /^ {2}q-0 +([0-9]+) /m;
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

describe("the package quoin", function () {
  // Bundles, installs, and starts processes; the limit is for a busy machine.
  this.timeout(240_000);

  const running: TestProcess[] = [];
  const collectors: TraceCollector[] = [];
  let project: string;
  let quoin: string;

  before(async () => {
    project = temporaryDirectory();
    const tarball = await packServer(project);
    writeFileSync(join(project, "package.json"), JSON.stringify({ private: true }));
    // The same packages are in the cache of npm since the installation of the repository.
    const options = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", ["install", ...options, tarball], { cwd: project, stdio: "pipe" });
    quoin = join(project, "node_modules/.bin/quoin");
    // `test/client/package.spec.ts` installs the packed SDK. Here its sources do, which saves another build.
    mkdirSync(join(project, "node_modules/@quoin"));
    symlinkSync(join(ROOT, "client"), join(project, "node_modules/@quoin/client"));
  });

  after(async () => {
    for (const child of running) {
      await child.dispose();
    }
    for (const collector of collectors) {
      await collector.close();
    }
  });

  function start(args: readonly string[], environment: NodeJS.ProcessEnv = {}): TestProcess {
    const child = new TestProcess(quoin, args, {
      cwd: project,
      env: { ...process.env, HOME: project, ...environment },
    });
    running.push(child);
    return child;
  }

  /** Runs a command to its end. */
  async function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = start(args);
    const { code } = await child.ended;
    return { code, stdout: child.stdout, stderr: child.stderr };
  }

  /** Runs a block of the manual as a user does, on the ports of this cluster. */
  async function runBlock(code: string, basePort: number): Promise<string> {
    // The test may itself run below npm, whose settings would lead npx into the repository.
    const inherited = Object.keys(process.env).filter((name) => /^(?:npm_|INIT_CWD$)/i.test(name));
    const env = { ...Object.fromEntries(inherited.map((name) => [name, undefined])), HOME: project };
    const input = `set -eu -o pipefail\n${code.replaceAll("127.0.0.1:7401", `127.0.0.1:${basePort + 1}`)}`;
    const printed = await execute("bash", ["-s"], { cwd: project, env, input, limitMs: BLOCK_LIMIT_MS });
    return printed.replaceAll(`127.0.0.1:${basePort + 1}`, "127.0.0.1:7401");
  }

  it("does what the manual shows, on three members that keep traces, says that it runs, and stops", async () => {
    const port = await claimedBasePort();
    const collector = await TraceCollector.open();
    collectors.push(collector);
    const cluster = start(["start", "--base-port", String(port)], {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_TRACES_SAMPLER: "parentbased_always_on",
    });
    await cluster.untilPrinted("Quoin is ready\n");
    expect(cluster.stdout).to.include("  quoin ctl kv put default/greeting hello\n");

    // The first block installs and starts.
    const [install = "", ...blocks] = [...MANUAL.matchAll(SHELL_BLOCK)].map(([, code = "", , output = ""]) => ({
      code,
      lines: output.split("\n"),
    }));
    expect(install).to.have.property("code").that.includes("npx quoin start");
    expect(blocks).to.have.lengthOf.at.least(4);
    for (const { code, lines } of blocks) {
      expect((await runBlock(code, port)).split("\n"), code).to.include.members(lines);
    }

    const again = await run("start", "--base-port", String(port));
    expect(again.code).to.equal(1);
    expect(again.stderr).to.match(new RegExp(`^quoin start: already running here, process ${cluster.pid}, `));
    await until("a span of a write", () => collector.spans.some(({ name }) => name.endsWith("/PutKey")));
    await looksLikeConsole(`http://127.0.0.1:${port + 1}`);

    const member = Number(MEMBER_ROW.exec(cluster.stdout)?.[1]);
    expect(exists(member)).to.equal(true);
    cluster.signal("SIGINT");
    expect(await cluster.ended).to.deep.equal({ code: 0, signal: null });
    await until("the end of the member", () => !exists(member));
    expect((await run("console")).stderr).to.include("no member answered");
  });

  /** Loads the pages of the member with all their files. */
  async function looksLikeConsole(address: string): Promise<void> {
    const response = await fetch(`${address}/console/`);
    expect(response.status).to.equal(200);
    const names = [...(await response.text()).matchAll(/assets\/[^"]+/g)].map(([name]) => name);
    expect(names.map((name) => name.split(".").at(-1))).to.have.members(["svg", "css", "js"]);
    for (const name of names) {
      const asset = await fetch(`${address}/console/${name}`);
      expect([asset.status, (await asset.bytes()).length > 100], name).to.deep.equal([200, true]);
    }
    const reference = await fetch(`${address}/docs`);
    expect([reference.status, (await reference.text()).includes("LockService")]).to.deep.equal([200, true]);
  }

  it("has the programs of a member, all with its version", async () => {
    for (const args of [["--version"], ["ctl", "--version"], ["member", "--version"]]) {
      expect(await run(...args), args[0]).to.deep.equal({ code: 0, stdout: `${manifest.version}\n`, stderr: "" });
    }
    expect((await run("found", "--help")).stdout).to.include("--owner-file FILE");
    expect((await run("help")).stdout).to.match(/^Usage: quoin <command>/);
    const unknown = await run("stop");
    expect(unknown.code).to.equal(2);
    expect(unknown.stderr).to.match(/^quoin: there is no command stop\n/);
  });

  it("refuses to run a member on an older Node, and names the one that it needs", () => {
    const pretend = join(project, "pretend.mjs");
    const versions = "{ ...process.versions, node: '20.19.0' }";
    writeFileSync(pretend, `Object.defineProperty(process, "versions", { value: ${versions} });`);
    const { status, stderr } = spawnSync(process.execPath, ["--import", pretend, quoin, "member", "--version"], {
      encoding: "utf8",
    });
    expect({ status, stderr }).to.deep.equal({
      status: 1,
      stderr: "quoin: a member needs Node 26 or newer, and this is Node 20.19.0\n",
    });
  });

  it("lists every package that it contains, with its licence", () => {
    const folder = join(project, "node_modules/quoin");
    const notice = readFileSync(join(folder, "THIRD-PARTY-LICENSES.txt"), "utf8");
    const noticeOfConsole = readFileSync(join(folder, "dist/built/LICENSES.txt"), "utf8");
    const contained = [...notice.matchAll(/^(\S+) (\d+\.\d+\.\d\S*): \S/gm)].map(
      ([, name, version]) => `${name}@${version}`,
    );
    expect(contained.length).to.be.greaterThan(100);
    const { bomFormat, components } = JSON.parse(readFileSync(join(folder, SBOM_FILE), "utf8"));
    expect(bomFormat).to.equal("CycloneDX");
    const listed = components.map(({ purl }: { purl: string }) => decodeURIComponent(purl.replace("pkg:npm/", "")));
    expect(listed).to.include.members(contained);
    const ofConsole = components.filter(({ name }: { name: string }) => CONSOLE_PACKAGES.includes(name));
    expect(ofConsole).to.have.lengthOf(CONSOLE_PACKAGES.length);
    expect(CONSOLE_PACKAGES.every((name) => noticeOfConsole.includes(`${name}\n`))).to.equal(true);
    expect(listed.some((purl: string) => purl.startsWith("@nxtedition/rocksdb@"))).to.equal(true);
  });

  it("makes quoinctl one file that needs no Node", async () => {
    const folder = join(project, "executable");
    mkdirSync(folder);
    const executable = await buildExecutable(folder);
    const { stdout, stderr, status } = spawnSync(executable, ["--version"], { encoding: "utf8", env: {}, cwd: ROOT });
    expect({ stdout, stderr, status }).to.deep.equal({ stdout: `${manifest.version}\n`, stderr: "", status: 0 });
  });
});
