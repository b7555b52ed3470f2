/**
 * Runs the script of every commit, with the npm of this machine, on a small repository with prepared scripts. No
 * failure in one of them may end as a success.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../testing/index.ts";
import { repositoryRoot } from "./command.ts";

const TEST_LIMIT_MS = 60_000; // npm takes half a second four times, on cores that other tests keep busy.

const CHECK = "echo '4 passed, 0 failed'";
const TEST = "echo '100 passed, 0 failed, 2 skipped'";
const COMPUTED = "echo '30 passed, 0 failed'";
const REST = "echo '7 passed, 0 failed'";
const CLUSTER = "echo '20 passed, 0 failed, 1 skipped'";

describe("the script of every commit", function () {
  this.timeout(TEST_LIMIT_MS);
  let root: string;

  beforeEach(async () => {
    root = temporaryDirectory();
    mkdirSync(path.join(root, "tmp"));
    await cp(path.join(repositoryRoot, ".ci"), path.join(root, ".ci"), { recursive: true });
    mkdirSync(path.join(root, "scripts"));
    writeFileSync(path.join(root, "scripts/setup.mjs"), "");
  });

  function prepare(check: string, test: string, rest: string, e2e = CLUSTER): void {
    writeFileSync(
      path.join(root, "package.json"),
      JSON.stringify({ scripts: { check, test, e2e, "test:computed": COMPUTED, "test:rest": rest } }),
    );
  }

  function environment(): NodeJS.ProcessEnv {
    return { ...process.env, TMPDIR: path.join(root, "tmp"), npm_config_cache: path.join(root, "cache") };
  }

  function print(
    check: string,
    test: string,
    rest: string,
    e2e = CLUSTER,
    args: readonly string[] = [],
  ): { stdout: string; status: number | null } {
    prepare(check, test, rest, e2e);
    return spawnSync(path.join(root, ".ci/run"), args, { cwd: root, env: environment(), encoding: "utf8" });
  }

  function run(...scripts: Parameters<typeof print>): { last: string; status: number | null } {
    const { stdout, status } = print(...scripts);
    return { last: stdout.trimEnd().split("\n").at(-1) ?? "", status };
  }

  it("adds up checks, tests, both rests of them, and those in a cluster", () => {
    expect(run(CHECK, TEST, REST)).to.deep.equal({ last: "161 passed, 0 failed", status: 0 });
  });

  it("runs the tests in a cluster beside all but the rest, which comes last", () => {
    const check = "until [ -e begun ]; do sleep 0.01; done; echo '4 passed, 0 failed'";
    const tests = "touch tested; echo '100 passed, 0 failed'";
    const cluster =
      "touch begun; until [ -e tested ]; do sleep 0.01; done; sleep 0.2; rm tested; echo '20 passed, 0 failed'";
    expect(run(check, tests, `[ ! -e tested ] && ${REST}`, cluster)).to.deep.equal({
      last: "161 passed, 0 failed",
      status: 0,
    });
  });

  it("takes the last count of each, because the output may contain others", () => {
    const tests = "echo '5 passed, 9 failed'; echo '100 passed, 0 failed'";
    expect(run(CHECK, tests, REST)).to.deep.equal({ last: "161 passed, 0 failed", status: 0 });
  });

  it("continues after a failure, and fails at the end", () => {
    const tests = "echo '98 passed, 2 failed'; exit 1";
    const rest = "echo '5 passed, 3 failed'; exit 1";
    expect(run(CHECK, tests, rest)).to.deep.equal({ last: "157 passed, 5 failed", status: 1 });
  });

  it("fails if one of them fails silently, or counts nothing", () => {
    expect(run(CHECK, TEST, "echo '7 passed, 0 failed'; exit 1")).to.deep.equal({
      last: "161 passed, 1 failed",
      status: 1,
    });
    expect(run(CHECK, TEST, "exit 0")).to.deep.equal({ last: "154 passed, 1 failed", status: 1 });
    expect(run(CHECK, TEST, "echo '0 passed, 0 failed'")).to.deep.equal({ last: "154 passed, 1 failed", status: 1 });
    expect(run(CHECK, TEST, REST, "echo 'A Kubernetes cluster is needed'; exit 1")).to.deep.equal({
      last: "141 passed, 1 failed",
      status: 1,
    });
    expect(run(CHECK, TEST, REST, "echo '0 passed, 0 failed, 9 skipped'")).to.deep.equal({
      last: "141 passed, 1 failed",
      status: 1,
    });
    expect(run(CHECK, "echo '0 passed, 0 failed'; exit 1", REST)).to.deep.equal({
      last: "61 passed, 1 failed",
      status: 1,
    });
  });

  it("prints what failed, why, and how to repeat it once more, in the last 40 lines", () => {
    const lines = (name: string, output: readonly string[]): string => {
      writeFileSync(path.join(root, name), `${output.join("\n")}\n`);
      return `cat ${name}; exit 1`;
    };
    const check = lines("check", [
      "ok types (1.0 s)",
      "FAILED lint (2.0 s)",
      "    a.ts:1 is not right",
      "1 passed, 1 failed",
    ]);
    const failure = ["FAILED a.spec.ts: adds", "    Error: 1 is not 2", "    again: npm test -- a.spec.ts"];
    const tests = lines("tests", ["specs | FAILED a.spec.ts: adds", "", ...failure, "9 s", "3 passed, 1 failed"]);
    const { stdout } = print(check, tests, "echo gone; exit 1", CLUSTER);
    expect(stdout.slice(stdout.indexOf("Failed in npm run check"))).to.equal(
      [
        ...["Failed in npm run check:", "FAILED lint (2.0 s)", "    a.ts:1 is not right"],
        ...["Failed in npm run test:", ...failure],
        ...["Failed in npm run test:rest:", "gone"],
        ...["54 passed, 3 failed", ""],
      ].join("\n"),
    );
    expect(print(CHECK, TEST, REST).stdout).not.to.contain("Failed in");
    const many = Array.from({ length: 100 }, (_, at) => `FAILED ${at}.spec.ts: fails`);
    const long = print(CHECK, lines("many", [...many, "0 passed, 100 failed"]), REST)
      .stdout.trimEnd()
      .split("\n");
    expect(long.slice(-40)).to.include("FAILED 0.spec.ts: fails");
  });

  it("runs the whole suite with any arguments", () => {
    writeFileSync(path.join(root, "tests.mjs"), "console.log(3 + process.argv.length + ' passed, 0 failed');\n");
    expect(run(CHECK, "node tests.mjs", REST, CLUSTER, ["--quick"])).to.deep.equal({
      last: "66 passed, 0 failed",
      status: 0,
    });
  });

  it("lets the cluster end when it is interrupted", async () => {
    const cluster = `import { writeFileSync } from "node:fs";
    process.on("SIGINT", () => { console.log("removed"); writeFileSync("removed", ""); process.exit(); });
    setInterval(() => console.log("running"), 10);`;
    writeFileSync(path.join(root, "cluster.mjs"), `${cluster}\n`);
    prepare(CHECK, TEST, REST, "exec node cluster.mjs");
    const child = spawn(path.join(root, ".ci/run"), { cwd: root, env: environment(), detached: true });
    let output = "";
    let isInterrupted = false;
    for await (const text of child.stdout.setEncoding("utf8")) {
      output += text;
      if (!isInterrupted && output.includes("running")) {
        // A terminal interrupts all of them.
        isInterrupted = process.kill(-(child.pid ?? 0), "SIGINT");
      }
    }
    if (child.exitCode === null && child.signalCode === null) {
      await once(child, "exit");
    }
    expect(child.exitCode).to.equal(130);
    expect(output).to.contain("removed");
    expect(existsSync(path.join(root, "removed"))).to.equal(true);
  });

  it("fails if the setup fails", () => {
    writeFileSync(path.join(root, "scripts/setup.mjs"), "process.exit(1);\n");
    expect(run(CHECK, TEST, REST)).to.deep.equal({ last: "0 passed, 1 failed", status: 1 });
  });
});
