/**
 * Runs the test runner on small suites: a copy of the scripts in a temporary folder, with the modules of this
 * repository. Proves that every problem that must count as a failure does, and that nothing is left behind.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { expect } from "chai";
import { temporaryDirectory } from "../testing/index.ts";
import { repositoryRoot } from "./command.ts";

const TEST_LIMIT_MS = 60_000; // Each test starts several processes, on cores that other tests keep busy.

/** A spec file with one test that passes. */
const GOOD = `it("passes", () => {});\n`;

/** Most tests concern no other layer. */
const TWO_LAYERS = ["--layer", "specs", "--layer", "process"];

/** A layer without files is a failure, so each layer that a test does not concern needs a file. */
const elsewhere = {
  "node/test/cluster/good.spec.ts": GOOD,
  "node/test/crash/good.spec.ts": GOOD,
  "node/verify/sim/mutants/good.spec.ts": GOOD,
  "node/verify/sim/sim.spec.ts": GOOD,
  "node/verify/conformance/good.spec.ts": GOOD,
  "node/test/fuzz/good.spec.ts": GOOD,
};
/** The number of tests in them. */
const ELSEWHERE = Object.keys(elsewhere).length;

describe("the test runner", function () {
  this.timeout(TEST_LIMIT_MS);
  let root: string;
  let temporary: string;
  let running: ChildProcessWithoutNullStreams | undefined;
  let server: Server | undefined;
  /** Files of the test's suite. */
  const suite = new Set<string>();

  // One for all tests: what is compiled there once is not compiled again.
  before(() => {
    root = temporaryDirectory();
    temporary = path.join(root, "tmp");
    symlinkSync(path.join(repositoryRoot, "node_modules"), path.join(root, "node_modules"));
    writeFileSync(path.join(root, "package.json"), `{ "type": "module" }`);
  });

  beforeEach(() => {
    mkdirSync(temporary);
    for (const folder of ["scripts", "testing"]) {
      cpSync(path.join(repositoryRoot, folder), path.join(root, folder), {
        recursive: true,
        // The folder of the site changes while another test builds that.
        filter: (name) => !name.endsWith(".spec.ts") && path.basename(name) !== ".vitepress",
      });
    }
  });

  afterEach(async () => {
    if (running !== undefined && running.exitCode === null && running.signalCode === null) {
      running.kill("SIGTERM"); // It stops the programs that it started.
      await once(running, "exit");
    }
    running = undefined;
    server?.close();
    server = undefined;
    rmSync(temporary, { recursive: true });
    for (const name of suite) {
      rmSync(path.join(root, name), { force: true });
    }
    suite.clear();
  });

  function start(
    files: Readonly<Record<string, string>>,
    args: readonly string[] = TWO_LAYERS,
    environment: NodeJS.ProcessEnv = {},
  ): ChildProcessWithoutNullStreams {
    for (const [name, content] of Object.entries({ ...elsewhere, ...files })) {
      const file = path.join(root, name);
      suite.add(name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    running = spawn(process.execPath, ["scripts/test.ts", ...args], {
      cwd: root,
      env: { ...process.env, TMPDIR: temporary, CI: undefined, QUOIN_TOOLS: undefined, ...environment },
    });
    return running;
  }

  /** @returns the output, its last line and the exit code of a whole run */
  async function run(
    files: Readonly<Record<string, string>>,
    args: readonly string[] = TWO_LAYERS,
    environment: NodeJS.ProcessEnv = {},
  ): Promise<{ output: string; lastLine: string | undefined; exitCode: number | null }> {
    const child = start(files, args, environment);
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    return { output: output + errors, lastLine: output.trimEnd().split("\n").at(-1), exitCode: child.exitCode };
  }

  /**
   * Listens for a process that a spec starts in its own process group. The connection that the process opens shows when
   * it begins and ends, without polling.
   *
   * @returns both moments, and code for the spec: a function `start` that resolves with the running child
   */
  async function watchLives(): Promise<{ declareStart: string; begun: Promise<void>; ended: Promise<void> }> {
    server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const program = `require("net").connect(${port}, "127.0.0.1", () => console.log("connected"))`;
    const declareStart =
      `import { spawn } from "node:child_process";\nimport { once } from "node:events";\n` +
      `async function start() {\n` +
      `  const child = spawn("node", ["-e", ${JSON.stringify(program)}], { detached: true });\n` +
      `  await once(child.stdout, "data");\n  return child;\n}\n`;
    const connection = once(server, "connection").then(([socket]) => socket as Socket);
    const begun = connection.then(() => undefined);
    // A killed process may reset its connection, which is an end like any other.
    const ended = connection.then((socket) => finished(socket.resume()).catch(() => undefined));
    return { declareStart, begun, ended };
  }

  /** Two layers: one that passes, and the one of the test. */
  function beside(spec: string): Record<string, string> {
    return { "node/test/a.spec.ts": spec, "node/src/b.spec.ts": GOOD };
  }

  it("runs many files in one process without a trace of one in the next", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `node/src/${index}.spec.ts`);
    const { output, lastLine } = await run({
      ...Object.fromEntries(names.map((name) => [name, GOOD])),
      "node/test/a.spec.ts": GOOD,
    });
    expect(lastLine).to.equal("31 passed, 0 failed");
    expect(output).to.not.contain("Warning");
  });

  it("runs at most four files that start members in one process, so that a long layer stays below its limit", async () => {
    const spec = `it("says", () => console.log("process", process.pid));\n`;
    const names = Array.from({ length: 12 }, (_, at) => `node/test/crash/a${at}.spec.ts`);
    const files = Object.fromEntries(names.map((name) => [name, spec]));
    const { output, exitCode } = await run(files, ["--layer", "crash"]);
    const counts = Map.groupBy(output.match(/process \d+/g) ?? [], (line) => line);
    expect(exitCode, output).to.equal(0);
    expect([...counts.values()].map(({ length }) => length).sort()).to.deep.equal([2, 2, 4, 4]);
  });

  it("adds up the passed tests of all layers", async () => {
    const files = {
      "node/test/a.spec.ts": GOOD,
      "node/src/b.spec.ts": GOOD,
      "node/src/c/c.spec.ts": GOOD,
      "proto/d.spec.ts": GOOD,
    };
    const { lastLine, exitCode } = await run(files, ["--all"]);
    expect({ lastLine, exitCode }).to.deep.equal({ lastLine: `${ELSEWHERE + 4} passed, 0 failed`, exitCode: 0 });
    expect(readdirSync(temporary)).to.deep.equal([]);
  });

  it("prints a failure with its error and both values, and exits with 1", async () => {
    const spec =
      `import assert from "node:assert";\nit("passes", () => {});\n` +
      `describe("a", () => it("fails", () => assert.deepEqual({ left: 1 }, { right: 2 })));\n`;
    const { output, lastLine, exitCode } = await run(beside(spec));
    expect({ lastLine, exitCode }).to.deep.equal({ lastLine: "2 passed, 1 failed", exitCode: 1 });
    expect(output).to.contain("process | FAILED node/test/a.spec.ts: a fails");
    expect(output)
      .to.match(/-\s+"left": 1/)
      .and.to.match(/\+\s+"right": 2/);
  });

  it("counts skipped tests apart, and fails a file of them where every tool is", async () => {
    const skips = `it("skips", function () {\n  this.skip();\n});\n`;
    const { lastLine, exitCode } = await run(beside(skips));
    expect({ lastLine, exitCode }).to.deep.equal({ lastLine: "1 passed, 0 failed, 1 skipped", exitCode: 0 });
    const complete = await run(beside(skips), TWO_LAYERS, { QUOIN_TOOLS: "all" });
    expect(complete.lastLine).to.equal("1 passed, 1 failed, 1 skipped");
    expect(complete.output).to.contain("FAILED node/test/a.spec.ts: ran no test");
    const some = await run(beside(skips + GOOD), TWO_LAYERS, { QUOIN_TOOLS: "all" });
    expect(some.lastLine).to.equal("2 passed, 0 failed, 1 skipped");
  });

  it("fails a layer without files, and a file without tests", async () => {
    const { output, lastLine, exitCode } = await run({ "node/src/a.spec.ts": `describe("a", () => {});\n` });
    expect({ lastLine, exitCode }).to.deep.equal({ lastLine: "0 passed, 2 failed", exitCode: 1 });
    expect(output).to.contain("FAILED process: nothing ran").and.to.contain("FAILED node/src/a.spec.ts: has no tests");
  });

  it("fails a file that cannot be loaded", async () => {
    const { output, lastLine } = await run(beside(`throw new Error("broken import");\n`));
    expect(lastLine).to.equal("1 passed, 1 failed");
    expect(output).to.contain("FAILED node/test/a.spec.ts: could not be loaded").and.to.contain("broken import");
  });

  it("fails a suite whose hook fails", async () => {
    const { lastLine } = await run(beside(`before(() => {\n  throw new Error("a");\n});\nit("b", () => {});\n`));
    expect(lastLine).to.equal("1 passed, 1 failed");
  });

  it("fails a process that crashes, and names the test", async () => {
    const spec = `it("passes", () => {});\nit("crashes", () => process.kill(process.pid, "SIGKILL"));\n`;
    const { output, lastLine } = await run(beside(spec));
    expect(lastLine).to.equal("2 passed, 1 failed");
    expect(output).to.contain("killed by SIGKILL, during node/test/a.spec.ts: crashes");
  });

  it("fails a process that exits early, as if nothing were wrong", async () => {
    const { output, lastLine } = await run(beside(`it("exits", () => process.exit(0));\n`));
    expect(lastLine).to.equal("1 passed, 1 failed");
    expect(output).to.contain("the test process crashed");
  });

  it("fails a process that does not end by itself, and names what is open", async () => {
    const { output, lastLine } = await run(
      beside(
        `import { createServer } from "node:net";\nit("listens", (done) => void createServer().listen(0, done));\n`,
      ),
    );
    expect(lastLine).to.equal("2 passed, 1 failed");
    expect(output).to.contain("did not end by itself").and.to.contain("TCP");
  });

  it("fails a file that leaves something in the temporary folder, and only that file", async () => {
    const spec =
      `import { mkdtempSync } from "node:fs";\nimport { tmpdir } from "node:os";\n` +
      `it("leaves", () => void mkdtempSync(tmpdir() + "/quoin-test-left-"));\n`;
    const { output, lastLine } = await run({
      ...beside(spec),
      "node/test/b.spec.ts": GOOD,
      "node/test/c.spec.ts": GOOD,
    });
    expect(lastLine).to.equal("4 passed, 1 failed");
    expect(output).to.contain("FAILED node/test/a.spec.ts: left files").and.to.contain("quoin-test-left-");
  });

  it("fails a file that leaves a process behind, also one that left its group, and ends it", async () => {
    const lives = await watchLives();
    const spec =
      `${lives.declareStart}\n` +
      `it("leaves", async () => {\n  const child = await start();\n  child.stdout.destroy();\n  child.unref();\n});\n`;
    const { output, lastLine } = await run(beside(spec));
    expect(lastLine).to.equal("2 passed, 1 failed");
    expect(output)
      .to.contain("FAILED node/test/a.spec.ts: left processes")
      .and.to.match(/process \d+: .*node -e/);
    await lives.ended;
  });

  it("refuses .only", async () => {
    const { lastLine } = await run(beside(`it.${"only"}("a", () => {});\nit("b", () => {});\n`));
    expect(lastLine).to.equal("1 passed, 1 failed");
  });

  it("runs the selection of --grep, --layer and file names, and fails if it is empty", async () => {
    const files = {
      "node/test/a.spec.ts": `it("one", () => {});\nit("two", () => {});\n`,
      "node/src/b.spec.ts": `it("one", () => {});\n`,
    };
    expect((await run(files, ["--grep", "two"])).lastLine).to.equal("1 passed, 0 failed");
    expect((await run(files, ["--grep", "^one$"])).lastLine).to.equal("2 passed, 0 failed");
    expect((await run(files, ["--layer", "specs"])).lastLine).to.equal("1 passed, 0 failed");
    expect((await run(files, ["node/test/a.spec.ts"])).lastLine).to.equal("2 passed, 0 failed");
    expect(await run(files, ["--grep", "three"])).to.include({ lastLine: "0 passed, 1 failed", exitCode: 1 });
    expect(await run(files, ["--layer", "three"])).to.include({ exitCode: 2 });
    expect(await run(files, ["node/test/three.spec.ts"])).to.include({ exitCode: 2 });
  });

  it("refuses unknown options, and names the known ones", async () => {
    const { output, exitCode } = await run({}, ["--quik"]);
    expect(output).to.equal(
      "Unknown option '--quik'. The options are --all, --computed, --rest, --grep, --layer, --sources, --at-a-time.\n",
    );
    expect(exitCode).to.equal(2);
  });

  it("runs as many processes at a time as it is told", async () => {
    for (const wrong of ["0", "100", "two", ""]) {
      const { output, exitCode } = await run({}, ["--at-a-time", wrong]);
      expect(output).to.equal(`--at-a-time must be a number from 1 to 99, not "${wrong}".\n`);
      expect(exitCode).to.equal(2);
    }
    // Each waits for the other one: with one process at a time, the first would wait in vain.
    const waits = `import { existsSync, writeFileSync } from "node:fs";
      it("waits", async () => {
        writeFileSync(process.env.TMPDIR + "/../../" + process.env.TZ.replace("/", "-"), "");
        const both = ["Pacific-Chatham", "America-St_Johns"].map((name) => process.env.TMPDIR + "/../../" + name);
        while (!both.every((file) => existsSync(file))) await new Promise((resolve) => setTimeout(resolve, 10));
      });\n`;
    const files = { "node/src/one.spec.ts": waits, "node/src/two.spec.ts": waits };
    const together = await run(files, ["--at-a-time", "2", "--layer", "specs"]);
    expect(together.output).to.match(/^2 passed, 0 failed$/m);
  });

  it("runs parts of the suite without arguments, with --computed and --rest, and all but the tools' with --all", async () => {
    const files = {
      "scripts/test-fast.json": JSON.stringify({
        slowSpecs: ["node/src/slow.spec.ts"],
        otherLayers: { cluster: ["node/test/cluster/good.spec.ts"] },
      }),
      "node/src/fast.spec.ts": `it("one", () => {});\nit("two", () => {});\n`,
      "node/src/slow.spec.ts": GOOD,
      "node/test/process/good.spec.ts": GOOD,
      "scripts/tool.spec.ts": GOOD,
    };
    expect((await run(files, [])).lastLine).to.equal("3 passed, 0 failed");
    expect((await run(files, ["--computed"])).lastLine).to.equal("2 passed, 0 failed");
    expect((await run(files, ["--rest"])).lastLine).to.equal(`${ELSEWHERE - 1} passed, 0 failed`);
    expect((await run(files, ["--all"])).lastLine).to.equal(`${ELSEWHERE + 4} passed, 0 failed`);
    expect((await run(files, ["--layer", "tools"])).lastLine).to.equal("1 passed, 0 failed");
    const { output, exitCode } = await run(files, ["--all", "--grep", "one"]);
    expect(output).to.equal(
      "--all, --computed and --rest are selections of their own: they take no --grep, no --layer and no files.\n",
    );
    expect(exitCode).to.equal(2);
  });

  it("gives tests the same draws in each run, and others with QUOIN_SEED, which a failure names", async () => {
    const spec =
      `import fc from "fast-check";\n` +
      `it("draws", () => fc.assert(fc.property(fc.integer(), (one) => one === Number(process.env.WANTED))));\n`;
    const drawn = async (environment: NodeJS.ProcessEnv): Promise<string | undefined> => {
      const { output } = await run({ "node/src/a.spec.ts": spec }, ["node/src/a.spec.ts"], environment);
      expect(output).to.match(/^ {4}again: .*npm test -- node\/src\/a.spec.ts$/m);
      expect(output.includes("again: QUOIN_SEED=7 npm test")).to.equal(environment.QUOIN_SEED === "7");
      return /seed: (-?\d+)/.exec(output)?.[1];
    };
    expect(await drawn({})).to.equal("1");
    expect(await drawn({ QUOIN_SEED: "7" })).to.equal("7");
  });

  it("lists the slowest files, and says in the last 40 lines what failed, why, and how to repeat it", async () => {
    const names = Array.from({ length: 12 }, (_, at) => `node/src/${at}.spec.ts`);
    const failing = `it("fails", () => {\n  throw new Error("a reason\\nwith details");\n});\n`;
    const { output } = await run({
      ...Object.fromEntries(names.map((name) => [name, failing])),
      "node/test/a.spec.ts": GOOD,
    });
    const last = output.trimEnd().split("\n").slice(-40);
    expect(last.filter((line) => /^slow: \d+\.\d s \S+$/.test(line))).to.have.length(10);
    expect(last.filter((line) => /^FAILED node\/src\/\d+\.spec\.ts: fails$/.test(line))).to.have.length(8);
    expect(last.filter((line) => line === "    Error: a reason")).to.have.length(8);
    expect(last.filter((line) => /^ {4}again: npm test -- node\/src\/\d+\.spec\.ts$/.test(line))).to.have.length(8);
    expect(last).to.include("FAILED 4 more, see above");
  });

  it("repeats more of the message if few tests have failed", async () => {
    const failing = `it("fails", () => {\n  throw new Error("a reason\\nwith details");\n});\n`;
    const { output } = await run({ "node/src/a.spec.ts": failing });
    const at = output.lastIndexOf("FAILED node/src/a.spec.ts");
    expect(output.slice(at).split("\n").slice(1, 3)).to.deep.equal(["    Error: a reason", "    with details"]);
  });

  it("alternates time zone and locale from file to file", async () => {
    const spec =
      `it("says", () => console.log("place", process.env.TZ, ` +
      `Intl.DateTimeFormat().resolvedOptions().timeZone, Intl.DateTimeFormat().resolvedOptions().locale));\n`;
    const { output } = await run({
      "node/test/a.spec.ts": spec,
      "node/test/b.spec.ts": spec,
      "node/src/c.spec.ts": GOOD,
    });
    expect(output).to.contain("place Pacific/Chatham Pacific/Chatham tr-TR");
    expect(output).to.contain("place America/St_Johns America/St_Johns ar-EG");
  });

  it("stops everything on a signal, also processes that left their group", async function () {
    if (process.platform !== "linux") {
      this.skip(); // Other systems cannot find a process that left its group once its parent is gone.
    }
    const lives = await watchLives();
    const spec = `${lives.declareStart}\nit("blocks", async () => {\n  await start();\n  await new Promise(() => {});\n});\n`;
    const child = start(beside(spec));
    child.stdout.resume();
    await lives.begun;
    child.kill("SIGTERM");
    await once(child, "exit");
    expect(child.exitCode).to.equal(143);
    await lives.ended;
    expect(readdirSync(temporary)).to.deep.equal([]);
  });
});
