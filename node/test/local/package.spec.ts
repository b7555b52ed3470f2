/** The package `quoin` and the executable of quoinctl, installed in an empty folder as their users do. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import manifest from "../../../package.json" with { type: "json" };
import { buildExecutable, packServer, sbomFile } from "../../../scripts/packages/index.ts";
import { exists, freeBasePort, TemporaryDirectories, TestProcess, until } from "../harness/index.ts";

const MEMBER_ROW = /^ {2}q-0 +([0-9]+) /m;
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

describe("the package quoin", function () {
  // Bundles, installs, and starts processes; the limit is for a busy machine.
  this.timeout(240_000);

  const directories = new TemporaryDirectories();
  const running: TestProcess[] = [];
  let project: string;
  let quoin: string;

  before(async () => {
    project = directories.make();
    const tarball = await packServer(project);
    writeFileSync(join(project, "package.json"), JSON.stringify({ private: true }));
    // The same packages are in the cache of npm since the installation of the repository.
    const options = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", ["install", ...options, tarball], { cwd: project, stdio: "pipe" });
    quoin = join(project, "node_modules/.bin/quoin");
  });

  after(async () => {
    for (const child of running) {
      await child.dispose();
    }
    directories.removeAll();
  });

  function start(...args: string[]): TestProcess {
    const child = new TestProcess(quoin, args, { cwd: project, env: { ...process.env, HOME: project } });
    running.push(child);
    return child;
  }

  /** Runs a command to its end. */
  async function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = start(...args);
    const { code } = await child.ended;
    return { code, stdout: child.stdout, stderr: child.stderr };
  }

  it("starts a cluster, uses it, says that it runs, and stops it", async () => {
    const port = await freeBasePort();
    const cluster = start("start", "--members", "1", "--base-port", String(port));
    await cluster.untilPrinted("Quoin is ready\n");
    expect(cluster.stdout).to.include("  quoin ctl kv put default/greeting hello\n");
    expect((await run("ctl", "kv", "put", "default/k", "v")).code).to.equal(0);
    expect(await run("ctl", "kv", "get", "default/k")).to.deep.equal({ code: 0, stdout: "v\n", stderr: "" });

    const again = await run("start", "--members", "1", "--base-port", String(port));
    expect(again.code).to.equal(1);
    expect(again.stderr).to.match(new RegExp(`^quoin start: already running here, process ${cluster.pid}, `));

    const address = `http://127.0.0.1:${port + 1}/console`;
    const shown = await run("console", "--no-open");
    const isServed = (await fetch(address)).ok;
    expect(shown.code).to.equal(isServed ? 0 : 1);
    expect(isServed ? shown.stdout : shown.stderr).to.include(`http://127.0.0.1:${port + 1}`);

    const member = Number(MEMBER_ROW.exec(cluster.stdout)?.[1]);
    expect(exists(member)).to.equal(true);
    cluster.signal("SIGINT");
    expect(await cluster.ended).to.deep.equal({ code: 0, signal: null });
    await until("the end of the member", () => !exists(member));
    expect((await run("console")).stderr).to.include("no member answered");
  });

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
    const contained = [...notice.matchAll(/^(\S+) (\d+\.\d+\.\d\S*): \S/gm)].map(
      ([, name, version]) => `${name}@${version}`,
    );
    expect(contained.length).to.be.greaterThan(100);
    const { bomFormat, components } = JSON.parse(readFileSync(join(folder, sbomFile), "utf8"));
    expect(bomFormat).to.equal("CycloneDX");
    const listed = components.map(({ purl }: { purl: string }) => decodeURIComponent(purl.replace("pkg:npm/", "")));
    expect(listed).to.include.members(contained);
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
