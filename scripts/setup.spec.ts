/**
 * Runs the setup, with the npm of this machine, on small repositories without dependencies, which npm installs without
 * a network. The tests check what is installed when, what a second run and a parallel run do, and what the user sees.
 */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { temporaryDirectory } from "../testing/index.ts";
import { repositoryRoot } from "./command.ts";

const TEST_LIMIT_MS = 60_000; // npm alone takes a second or two, on cores that other tests keep busy.

const MANIFEST = { name: "a", version: "1.0.0", private: true, workspaces: ["b"] };
const WORKSPACE_MANIFEST = { name: "b", version: "1.0.0" };
const LOCKFILE = {
  name: "a",
  version: "1.0.0",
  lockfileVersion: 3,
  requires: true,
  packages: {
    "": { name: "a", version: "1.0.0", workspaces: ["b"] },
    b: { version: "1.0.0" },
    "node_modules/b": { resolved: "b", link: true },
  },
};

describe("setup", function () {
  this.timeout(TEST_LIMIT_MS);
  let root: string;

  beforeEach(async () => {
    root = temporaryDirectory();
    mkdirSync(path.join(root, "b"));
    await cp(path.join(repositoryRoot, "scripts/setup.mjs"), path.join(root, "scripts/setup.mjs"));
    write("package.json", MANIFEST);
    write("b/package.json", WORKSPACE_MANIFEST);
    write("package-lock.json", LOCKFILE);
    writeFileSync(path.join(root, ".npmrc"), `audit=false\ncache=${path.join(root, "cache")}\n`);
  });

  function write(file: string, content: object): void {
    writeFileSync(path.join(root, file), JSON.stringify(content));
  }

  function run(environment: NodeJS.ProcessEnv = process.env): {
    status: number | null;
    stdout: string;
    stderr: string;
  } {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/setup.mjs"], {
      cwd: root,
      env: environment,
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  }

  const installed = {
    status: 0,
    stdout: "Installing dependencies; the first time, this takes some minutes ...\n",
    stderr: "",
  };
  const nothingToDo = { status: 0, stdout: "", stderr: "" };

  it("installs in a fresh clone, and does nothing the second time", () => {
    expect(run()).to.deep.equal(installed);
    expect(existsSync(path.join(root, "node_modules/b/package.json"))).to.equal(true);
    expect(run()).to.deep.equal(nothingToDo);
  });

  it("shows on a terminal how many packages are there", function () {
    // Util-linux runs the command on a terminal of its own.
    const result = spawnSync(
      "script",
      ["--quiet", "--command", `"${process.execPath}" scripts/setup.mjs`, "/dev/null"],
      {
        cwd: root,
        encoding: "utf8",
      },
    );
    if (result.error !== undefined || result.stderr.includes("illegal option")) {
      console.log("      skipped: there is no `script` of util-linux");
      this.skip();
    }
    const shown = [
      ...result.stdout.matchAll(/Installing dependencies, some minutes the first time: (\d+) of 1, \d+ s/g),
    ].map(([, count]) => count);
    expect(shown[0]).to.equal("0");
    expect(shown.at(-1)).to.equal("1");
    expect(run()).to.deep.equal(nothingToDo);
  });

  it("accepts an installation that npm made without it", () => {
    expect(run()).to.deep.equal(installed);
    rmSync(path.join(root, "node_modules/.quoin-setup"));
    expect(run()).to.deep.equal(nothingToDo);
  });

  it("installs again when something is missing or the lockfile has changed", () => {
    expect(run()).to.deep.equal(installed);
    rmSync(path.join(root, "node_modules"), { recursive: true });
    expect(run()).to.deep.equal(installed);
    write("b/package.json", { ...WORKSPACE_MANIFEST, version: "1.0.1" });
    write("package-lock.json", { ...LOCKFILE, packages: { ...LOCKFILE.packages, b: { version: "1.0.1" } } });
    expect(run()).to.deep.equal(installed);
  });

  it("does not install again when only the scripts of package.json have changed", () => {
    expect(run()).to.deep.equal(installed);
    write("package.json", { ...MANIFEST, scripts: { a: "b" } });
    expect(run()).to.deep.equal(nothingToDo);
  });

  it("installs once when several start at the same time", async () => {
    const command = (): Promise<{ stdout: string }> =>
      promisify(execFile)(process.execPath, ["scripts/setup.mjs"], { cwd: root });
    const outputs = (await Promise.all([command(), command(), command()])).map(({ stdout }) => stdout);
    expect(outputs.filter((output) => output.includes("Installing"))).to.have.lengthOf(1);
    expect(run()).to.deep.equal(nothingToDo);
    expect(readdirSync(root).filter((name) => name.startsWith(".setup.lock"))).to.deep.equal([]);
  });

  it("continues after a setup that was killed", () => {
    const ended = spawnSync(process.execPath, ["--version"]);
    writeFileSync(path.join(root, ".setup.lock"), `${ended.pid}\n`);
    expect(run()).to.deep.equal(installed);
    expect(existsSync(path.join(root, ".setup.lock"))).to.equal(false);
  });

  it("shows the output of npm when it fails, also below a silent npm, and leaves no sign of success", () => {
    write("package.json", { ...MANIFEST, dependencies: { c: "1.0.0" } });
    const { status, stderr } = run({ ...process.env, npm_config_loglevel: "silent" });
    expect(status).to.equal(1);
    expect(stderr)
      .to.match(/^Setup failed\. npm ci ended with exit code 1:/)
      .and.to.contain("in sync");
    expect(existsSync(path.join(root, "node_modules/.quoin-setup"))).to.equal(false);
    expect(readdirSync(root).filter((name) => name.startsWith(".setup.lock"))).to.deep.equal([]);
  });

  it("reports a missing npm", () => {
    const { status, stderr } = run({ ...process.env, PATH: path.join(root, "empty") });
    expect({ status, stderr }).to.deep.equal({
      status: 1,
      stderr: "Setup failed. npm was not found. It comes with Node: install Node 18 or newer, with npm on the PATH.\n",
    });
  });

  /** @returns an environment in which Node takes itself for another version, or for another machine */
  function pretend(facts: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
    const file = path.join(root, "pretend.mjs");
    const lines = Object.entries(facts).map(
      ([name, value]) =>
        `Object.defineProperty(process, ${JSON.stringify(name)}, { value: ${JSON.stringify(value)} });`,
    );
    writeFileSync(file, lines.join("\n"));
    return { ...process.env, NODE_OPTIONS: `--import=${file}` };
  }

  it("refuses a Node that is too old to run npm and this script", () => {
    expect(run(pretend({ version: "v16.20.2" }))).to.deep.equal({
      status: 1,
      stdout: "",
      stderr: "Setup failed. Node v16.20.2 is too old: install Node 18 or newer.\n",
    });
  });

  it("names the platforms when there is no Node for this one, and uses the machine's own if it is new enough", () => {
    const { status, stderr } = run(pretend({ version: "v20.20.2", arch: "s390x" }));
    expect(status).to.equal(1);
    expect(stderr)
      .to.contain("for linux-x64, linux-arm64, darwin-arm64, darwin-x64, not for ")
      .and.to.contain("-s390x.");
    expect(run(pretend({ arch: "s390x" }))).to.deep.equal(nothingToDo);
  });

  it("refuses a Node of the repository that does not run here", () => {
    expect(run()).to.deep.equal(installed);
    mkdirSync(path.join(root, "node_modules/.bin"));
    writeFileSync(path.join(root, "node_modules/.bin/node"), "#!/bin/sh\necho v25.1.0\n", { mode: 0o755 });
    rmSync(path.join(root, "node_modules/.quoin-setup"));
    const { status, stderr } = run();
    expect(status).to.equal(1);
    expect(stderr).to.contain("node_modules/.bin/node is not a working Node 26 (v25.1.0)");
  });

  it("is plain JavaScript of old Node versions, on built-in modules alone", () => {
    const source = readFileSync(path.join(repositoryRoot, "scripts/setup.mjs"), "utf8");
    const imported = [...source.matchAll(/ from "([^"]+)"/g)].map(([, name]) => name);
    expect(imported.every((name) => name?.startsWith("node:"))).to.equal(true);
    expect(imported).to.not.deep.equal([]);
  });
});
