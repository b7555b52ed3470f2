import { once } from "node:events";
import { chmod, copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { KeyValue } from "@quoin/proto";
import { expect } from "chai";
import { BlackHole, temporaryDirectory } from "../../../testing/index.ts";
import {
  type ChildResult,
  issueTokens,
  LAUNCHER,
  type RunningChild,
  refuse,
  runQuoinctl,
  ScriptedMember,
  startProgram,
  startQuoinctl,
  until,
} from "../../test/index.ts";

const API_KEY = "qk_localkey";
/** It has its own address, which nothing else uses. */
const BLACK_HOLE_PORT = 7400;

/** Loaded before the launcher, this makes Node say that it is version 20, which cannot run TypeScript. */
const OLD_NODE = `data:text/javascript,${encodeURIComponent(
  'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } });',
)}`;
const AS_OLD_NODE = ["--import", OLD_NODE];

describe("quoinctl, the process", function () {
  // A child takes about half a second: a limit for a busy machine.
  this.timeout(60_000);

  let member: ScriptedMember;
  let stored: Map<string, Pick<KeyValue, "value">>;
  const children: RunningChild[] = [];

  beforeEach(async () => {
    stored = new Map();
    member = await ScriptedMember.start({
      putKey: ({ namespace, key, value }) => {
        stored.set(`${namespace}/${key}`, { value });
        return { created: true, modRevision: BigInt(stored.size), revision: BigInt(stored.size) };
      },
      getKey: ({ namespace, key }) => {
        const found = stored.get(`${namespace}/${key}`);
        return found ?? refuse({ code: "NOT_FOUND", reason: "KEY_NOT_FOUND", message: `there is no key ${key}` });
      },
      compareAndSwap: () => ({ success: false, currentExists: false }),
      exchangeToken: issueTokens(),
    });
  });

  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.stop();
    }
    member.stop();
  });

  /** Gives a test a directory with a local cluster, as the launcher of clusters creates it. */
  async function withLocalCluster(work: (directory: string) => Promise<void>): Promise<void> {
    const directory = temporaryDirectory();
    const file = path.join(directory, ".quoin", "endpoints.json");
    await mkdir(path.dirname(file));
    await writeFile(file, JSON.stringify({ grpc: [member.endpoint], http: ["http://127.0.0.1:1"], apiKey: API_KEY }));
    await chmod(file, 0o600);
    await work(directory);
  }

  function start(...parameters: Parameters<typeof startQuoinctl>): RunningChild {
    const child = startQuoinctl(...parameters);
    children.push(child);
    return child;
  }

  /** Starts a command of a shell, which can make arguments of any bytes. */
  function startShell(command: string, directory: string): RunningChild {
    const child = startProgram("sh", ["-c", command], {
      directory,
      environment: { NODE: process.execPath, QUOINCTL: LAUNCHER },
    });
    children.push(child);
    return child;
  }

  function assertSucceeded(result: ChildResult): void {
    expect(result, result.stderr).to.include({ code: 0, signal: null, stderr: "" });
  }

  it("runs a command under a lock on its own standard streams, ends it by a signal, and releases the lock", () =>
    withLocalCluster(async (directory) => {
      member.scripts.acquireLock = () => ({ acquired: true, fencingToken: 7n, ttlSeconds: 30n, expiresInMs: 30_000n });
      member.scripts.releaseLock = () => ({ released: true });
      const program =
        'trap "echo ended; exit 5" TERM; cat; echo "token $QUOIN_FENCING_TOKEN"; while :; do sleep 0.05; done';
      const parameters = ["lock", "run", "default/l", "--", "sh", "-c", program];
      const child = start(parameters, { directory, input: "input\n" });
      let told = "";
      child.process.stdout?.on("data", (chunk: Buffer) => {
        told += chunk.toString();
      });
      await until("the command to run", () => told.includes("input\ntoken 7\n"));
      child.process.kill("SIGTERM");
      const { code, signal } = await child.ended;
      expect({ code, signal }).to.deep.equal({ code: 5, signal: null });
      expect(member.callsOf("releaseLock")).to.have.length(1);
    }));

  it("puts and gets with the local cluster, also from a subdirectory, and without a proxy", () =>
    withLocalCluster(async (directory) => {
      const put = await runQuoinctl(["kv", "put", "default/greeting", "hello"], { directory });
      assertSucceeded(put);
      expect(put.stdout.toString()).to.equal("KEY               CREATED  MOD REVISION\ndefault/greeting  true     1\n");
      const below = path.join(directory, "a", "b");
      await mkdir(below, { recursive: true });
      const get = await runQuoinctl(["kv", "get", "default/greeting"], { directory: below });
      assertSucceeded(get);
      expect(get.stdout.toString()).to.equal("hello\n");
      const proxied = await runQuoinctl(["kv", "get", "default/greeting"], {
        directory,
        environment: { http_proxy: "http://127.0.0.1:1", grpc_proxy: "http://127.0.0.1:1" },
      });
      assertSucceeded(proxied);
      const exchanges = member.callsOf("exchangeToken");
      expect(exchanges.map(({ request }) => request)).to.deep.equal(
        Array(3).fill({ apiKey: API_KEY, expiresInSeconds: 0n }),
      );
      const used = member.calls.filter((call) => !exchanges.includes(call));
      expect(used.map((call) => call.authorization[0])).to.deep.equal([
        "Bearer token-1",
        "Bearer token-2",
        "Bearer token-3",
      ]);
    }));

  it("refuses an argument that is not UTF-8, by its number, and takes U+FFFD that is", () =>
    withLocalCluster(async (directory) => {
      const given = async (command: string, nodeArguments: readonly string[] = []) => {
        const child = startShell(
          `exec "$NODE" ${nodeArguments.map((word) => `'${word}'`).join(" ")} "$QUOINCTL" ${command}`,
          directory,
        );
        return await child.ended;
      };
      for (const bytes of ["\\376", "\\377", "\\355\\240\\200"]) {
        const result = await given(`kv put "$(printf 'default/x${bytes}')" value`);
        const shown = bytes.replaceAll(
          /\\([0-7]{3})/g,
          (_, octal: string) => `\\x${Number.parseInt(octal, 8).toString(16)}`,
        );
        expect(result).to.include({ code: 2 });
        expect(result.stderr).to.include(`quoinctl: argument 3 of quoinctl is not UTF-8: default/x${shown}\n`);
      }
      expect((await given(`lock run default/l -- echo "$(printf '\\200')"`)).stderr).to.include(
        "argument 6 of quoinctl",
      );
      expect(stored.size).to.equal(0);
      const replaced = "\\357\\277\\275";
      assertSucceeded(await given(`kv put "$(printf 'default/x${replaced}')" "$(printf '${replaced}')"`));
      expect(Buffer.from(stored.get("default/x\ufffd")!.value).toString()).to.equal("\ufffd");
      const old = await given(`kv put default/old "$(printf '\\376')"`, AS_OLD_NODE);
      expect(old.code).to.equal(2);
      expect(old.stderr).to.include("must not have the character U+FFFD");
      expect(stored.size).to.equal(1);
    }));

  it("writes - as a value with --text", () =>
    withLocalCluster(async (directory) => {
      assertSucceeded(await runQuoinctl(["kv", "put", "n/dash", "--text", "-"], { directory, input: "unread" }));
      expect(Buffer.from(stored.get("n/dash")!.value).toString()).to.equal("-");
      const both = await runQuoinctl(["kv", "put", "n/both", "-", "--text", "-"], { directory, input: "unread" });
      expect(both.code).to.equal(2);
      expect(both.stderr).to.include("a value, --text and --file exclude each other");
    }));

  it("carries every byte from the standard input, a file and - to the standard output", () =>
    withLocalCluster(async (directory) => {
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const file = path.join(directory, "value");
      await writeFile(file, bytes);
      const results = await Promise.all([
        runQuoinctl(["kv", "put", "n/stdin"], { directory, input: bytes }),
        runQuoinctl(["kv", "put", "n/dash", "-"], { directory, input: bytes }),
        runQuoinctl(["kv", "put", "n/file", "--file", file], { directory }),
      ]);
      for (const result of results) {
        assertSucceeded(result);
      }
      for (const key of ["n/stdin", "n/dash", "n/file"]) {
        expect(stored.get(key)?.value, key).to.deep.equal(bytes);
      }
      const got = await runQuoinctl(["kv", "get", "n/file", "--raw"], { directory });
      assertSucceeded(got);
      expect([...got.stdout]).to.deep.equal([...bytes]);
    }));

  it("ends with the exit code of the result, and one line on the standard error", () =>
    withLocalCluster(async (directory) => {
      const [refused, usage, unavailable, compareFailed] = await Promise.all([
        runQuoinctl(["kv", "get", "n/absent"], { directory }),
        runQuoinctl(["kv", "get", "n"], { directory }),
        runQuoinctl(["kv", "get", "n/k"], {
          directory,
          environment: { QUOIN_ENDPOINTS: "127.0.0.1:1", QUOIN_TOKEN: "t" },
        }),
        runQuoinctl(["kv", "cas", "n/k", "--expect", "a", "b"], { directory }),
      ]);
      expect(refused).to.include({ code: 1, stderr: "quoinctl: there is no key absent (KEY_NOT_FOUND)\n" });
      expect(usage).to.include({ code: 2, stderr: 'quoinctl: give the key as NAMESPACE/KEY, not "n"\n' });
      expect(unavailable.code).to.equal(3);
      expect(unavailable.stderr).to.match(
        /^quoinctl: no connection to 127.0.0.1:1: no process listens there \(connect ECONNREFUSED [\d.:]+\) \(UNAVAILABLE\)\nhint: is the cluster running\? .*\n$/,
      );
      expect(compareFailed).to.include({ code: 4, stderr: "quoinctl: n/k is not as expected\n" });
    }));

  it("ends after its output, even while it connects to a machine that does not exist", async function () {
    if (process.platform !== "linux") {
      this.skip();
    }
    const directory = temporaryDirectory();
    const hole = await BlackHole.open("127.86.0.2", BLACK_HOLE_PORT);
    try {
      const result = await runQuoinctl(["kv", "get", "n/k", "--timeout", "1s"], {
        directory,
        environment: { QUOIN_ENDPOINTS: `127.86.0.2:${BLACK_HOLE_PORT}`, QUOIN_TOKEN: "t" },
      });
      expect(result).to.include({ code: 3, signal: null });
      expect(result.stderr).to.match(
        /^quoinctl: no connection to 127.86.0.2:\d+: no answer in time \(UNAVAILABLE\)\nhint: is the machine up.*\n$/,
      );
    } finally {
      await hole.close();
    }
  });

  it("names the next step if there is no cluster", async () => {
    const directory = temporaryDirectory();
    const result = await runQuoinctl(["kv", "get", "n/k"], { directory });
    expect(result.code).to.equal(2);
    expect(result.stdout.toString()).to.equal("");
    expect(result.stderr).to.match(/^quoinctl: no cluster is known here\nhint: .*npm start.*--endpoints host:port\n$/);
  });

  it("prints secrets only in the output of token", () =>
    withLocalCluster(async (directory) => {
      const results = await Promise.all([
        runQuoinctl(["kv", "put", "n/k", "v", "-o", "json"], { directory }),
        runQuoinctl(["status"], { directory }),
        runQuoinctl(["kv", "get", "n/absent"], { directory }),
      ]);
      for (const { stdout, stderr } of results) {
        expect(`${stdout}${stderr}`).to.not.match(/token-\d|qk_localkey/);
      }
      const token = await runQuoinctl(["token"], { directory });
      assertSucceeded(token);
      expect(token.stdout.toString()).to.match(/^token-\d\n$/);
    }));

  it("loads the SDK only for a command that reaches a cluster, and never the fetch of Node, to start quickly", () =>
    withLocalCluster(async (directory) => {
      stored.set("n/k", { value: Buffer.from("v") });
      const modules = ["http2", "internal/deps/undici/undici"].map((name) => `NativeModule ${name}`);
      const list = `process.moduleLoadList.filter((name) => ${JSON.stringify(modules)}.includes(name))`;
      const report = `process.on("exit", () => process.stderr.write(JSON.stringify(${list})));`;
      const nodeArguments = ["--import", `data:text/javascript,${encodeURIComponent(report)}`];
      for (const [parameters, loaded] of [
        [["--version"], []],
        [["kv", "get", "--help"], []],
        [["__complete", "zsh", "kv", "g"], []],
        [["context", "list"], []],
        [["kv", "get", "n/k"], ["NativeModule http2"]],
      ] as const) {
        const { code, stderr } = await runQuoinctl(parameters, { directory, nodeArguments });
        expect([code, JSON.parse(stderr)], parameters.join(" ")).to.deep.equal([0, loaded]);
      }
    }));

  it("keeps its compiled code in the checkout, so that the next start is quick", async () => {
    const directory = temporaryDirectory();
    const report = `import module from "node:module";
      process.on("exit", () => process.stderr.write(String(module.getCompileCacheDir())));`;
    const nodeArguments = ["--import", `data:text/javascript,${encodeURIComponent(report)}`];
    const { stderr } = await runQuoinctl(["--version"], { directory, nodeArguments });
    const kept = fileURLToPath(new URL("../../../node_modules/.cache/quoinctl/", import.meta.url));
    expect(stderr.startsWith(kept), stderr).to.equal(true);
    expect(await readdir(stderr)).to.have.lengthOf.at.least(1);
  });

  it("ends quietly when the reader of its output ends", () =>
    withLocalCluster(async (directory) => {
      const item = { key: "k".repeat(1_000), value: Buffer.alloc(100) };
      // More than any pipe can hold.
      const items = Array.from({ length: 1_000 }, () => item);
      member.scripts.listKeys = () => ({ items });
      const child = start(["kv", "list", "n", "-o", "json"], { directory });
      await once(child.process.stdout!, "data");
      child.process.stdout!.destroy();
      expect(await child.ended).to.include({ code: 0, signal: null, stderr: "" });
    }));

  describe("started by an old Node", () => {
    it("restarts with the Node of npm, with arguments, standard streams and exit code", () =>
      withLocalCluster(async (directory) => {
        const options = { directory, nodeArguments: AS_OLD_NODE };
        const value = "two words, $HOME and 'quotes'";
        assertSucceeded(await runQuoinctl(["kv", "put", "n/k", value], options));
        assertSucceeded(await runQuoinctl(["kv", "put", "n/stdin"], { ...options, input: "piped" }));
        const [get, absent] = await Promise.all([
          runQuoinctl(["kv", "get", "n/k"], options),
          runQuoinctl(["kv", "get", "n/absent"], options),
        ]);
        assertSucceeded(get);
        expect(get.stdout.toString()).to.equal(`${value}\n`);
        expect(Buffer.from(stored.get("n/stdin")!.value).toString()).to.equal("piped");
        expect(absent).to.include({ code: 1, stderr: "quoinctl: there is no key absent (KEY_NOT_FOUND)\n" });
      }));

    it("runs a command under a lock that starts quoinctl again with that old Node", () =>
      withLocalCluster(async (directory) => {
        member.scripts.acquireLock = () => ({
          acquired: true,
          fencingToken: 7n,
          ttlSeconds: 30n,
          expiresInMs: 30_000n,
        });
        member.scripts.releaseLock = () => ({ released: true });
        const inner = [process.execPath, ...AS_OLD_NODE, LAUNCHER, "kv", "put", "n/inner", "written"];
        const options = { directory, nodeArguments: AS_OLD_NODE };
        assertSucceeded(await runQuoinctl(["lock", "run", "n/l", "--", ...inner], options));
        expect(Buffer.from(stored.get("n/inner")!.value).toString()).to.equal("written");
      }));

    it("forwards signals, and ends as the program ended", () =>
      withLocalCluster(async (directory) => {
        let arrived = () => {};
        const asked = new Promise<void>((resolve) => {
          arrived = resolve;
        });
        let gaveUp = () => {};
        const cancelled = new Promise<void>((resolve) => {
          gaveUp = resolve;
        });
        member.scripts.getKey = (_request, call) => {
          arrived();
          return new Promise((_resolve, reject) => {
            call.cancelled.addEventListener("abort", () => {
              gaveUp();
              reject(new Error("given up"));
            });
          });
        };
        const child = start(["kv", "get", "n/k", "--timeout", "1m"], { directory, nodeArguments: AS_OLD_NODE });
        await asked;
        child.process.kill("SIGTERM");
        expect(await child.ended).to.include({ code: null, signal: "SIGTERM", stderr: "" });
        await cancelled;
      }));

    it("reports that Node is too old if there is no other", async () => {
      const directory = temporaryDirectory();
      const lonely = path.join(directory, "quoinctl.js");
      await copyFile(fileURLToPath(new URL("../../bin/quoinctl.js", import.meta.url)), lonely);
      await writeFile(path.join(directory, "package.json"), '{"type":"module"}');
      const result = await runQuoinctl(["status"], { directory, nodeArguments: AS_OLD_NODE, launcher: lonely });
      expect(result.code).to.equal(1);
      expect(result.stderr).to.match(
        /^quoinctl: Node 24 or newer is needed, and this is Node 20\.1\.0\nhint: .*npm ci.*\n$/,
      );
    });
  });
});
