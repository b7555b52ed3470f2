/** `npm start` and the first commands of the README, as a newcomer runs them. */

import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { exists, freeBasePort, TestProcess, until } from "../harness/index.ts";

const LAUNCHER = fileURLToPath(new URL("../../local/main.ts", import.meta.url));
const MEMBER = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const QUOINCTL = fileURLToPath(new URL("../../../client/bin/quoinctl.js", import.meta.url));
const PRIVATE_FILE = 0o600;

describe("npm start", function () {
  this.timeout(120_000);
  let directory: string;
  let running: TestProcess[];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "quoin-test-local-"));
    running = [];
  });

  afterEach(async () => {
    for (const child of running) {
      await child.dispose();
    }
    for (const pid of memberPids()) {
      await until(`the end of member ${pid}`, () => !exists(pid));
    }
    rmSync(directory, { recursive: true, force: true });
  });

  /** Process ids that the members have logged. */
  function memberPids(): number[] {
    return running.flatMap(({ stdout }) => [...stdout.matchAll(/process ([0-9]+)/g)].map((match) => Number(match[1])));
  }

  async function launch(...args: string[]): Promise<TestProcess> {
    const base = args.includes("--base-port") ? [] : ["--base-port", String(await freeBasePort())];
    const child = new TestProcess(LAUNCHER, [...base, ...args], { cwd: directory });
    running.push(child);
    return child;
  }

  async function quoinctl(args: string[], input?: string): Promise<TestProcess & { code: number | null }> {
    const child = new TestProcess(QUOINCTL, args, { cwd: directory, ...(input === undefined ? {} : { input }) });
    running.push(child);
    const { code } = await child.ended;
    return Object.assign(child, { code });
  }

  function walFiles(store: string): Map<string, string> {
    const names = readdirSync(store).filter((file) => file.endsWith(".log"));
    return new Map(names.map((name) => [name, readFileSync(join(store, name), "hex")]));
  }

  async function stop(child: TestProcess): Promise<void> {
    child.signal("SIGINT");
    expect(await child.ended).to.deep.equal({ code: 0, signal: null });
  }

  it("is ready, serves the README's first commands, stops on Ctrl-C and keeps everything", async () => {
    const first = await launch();
    await first.untilPrinted("Quoin is ready\n");
    expect(first.stdout.trimEnd().split("\n").at(-1)).to.equal("Quoin is ready");

    const put = await quoinctl(["kv", "put", "default/greeting", "hello"]);
    expect(put.code, put.stderr).to.equal(0);
    const get = await quoinctl(["kv", "get", "default/greeting"]);
    expect(get.stdout).to.equal("hello\n");
    const swap = await quoinctl(["kv", "cas", "default/greeting", "--expect", "nobody", "x"]);
    expect(swap.code, "a compare that fails").to.equal(4);
    const status = await quoinctl(["status", "-o", "json"]);
    expect(status.stdout).to.include("RUNNING").and.to.include("LEADER");

    const endpointsFile = join(directory, ".quoin", "endpoints.json");
    expect(statSync(endpointsFile).mode & 0o777).to.equal(PRIVATE_FILE);
    const endpoints = readFileSync(endpointsFile, "utf8");
    const { apiKey, owner } = JSON.parse(endpoints);
    expect(first.stdout).to.include(apiKey).and.to.include(owner.email).and.to.include(owner.password);
    const log = readFileSync(join(directory, ".quoin", "q-0.log"), "utf8");
    expect(log).to.not.include(apiKey);
    expect(log).to.not.include(owner.password);
    await stop(first);

    const second = await launch();
    await second.untilPrinted("Quoin is ready\n");
    expect(JSON.parse(readFileSync(endpointsFile, "utf8")).apiKey).to.equal(apiKey);
    expect((await quoinctl(["kv", "get", "default/greeting"])).stdout).to.equal("hello\n");
    await stop(second);
  });

  it("names the port that is in use", async () => {
    const base = await freeBasePort();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(base + 1, "127.0.0.1", resolve));
    try {
      const child = await launch("--base-port", String(base));
      expect((await child.ended).code).to.equal(1);
      expect(child.stderr).to.include(`port ${base + 1} (http)`);
    } finally {
      await new Promise((resolve) => taken.close(resolve));
    }
  });

  it("refuses a data directory that another cluster uses", async () => {
    const first = await launch();
    await first.untilPrinted("Quoin is ready\n");
    const second = await launch();
    expect((await second.ended).code).to.equal(1);
    expect(second.stderr).to.match(/another (process|cluster)/);
    expect((await quoinctl(["status"])).code, "the first still serves").to.equal(0);
    await stop(first);
  });

  it("refuses a second process on the directory of a running member", async () => {
    const first = await launch();
    await first.untilPrinted("Quoin is ready\n");
    const member = join(directory, ".quoin", "q-0");
    const second = new TestProcess(MEMBER, [
      ...["--name", "q-0", "--cluster-name", "local", "--data-dir", member],
      ...["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"],
    ]);
    running.push(second);
    expect((await second.ended).code).to.equal(71);
    expect(second.stdout).to.include("another process uses the data directory");
    await stop(first);
  });

  it("reports data that is gone instead of founding anew (P47)", async () => {
    const first = await launch();
    await first.untilPrinted("Quoin is ready\n");
    await stop(first);
    renameSync(join(directory, ".quoin", "q-0"), join(directory, "aside"));
    const second = await launch();
    expect((await second.ended).code).to.equal(1);
    expect(second.stderr).to.match(/the data of cluster .* is gone/);
    rmSync(join(directory, ".quoin", "q-0"), { recursive: true });
    renameSync(join(directory, "aside"), join(directory, ".quoin", "q-0"));
    const third = await launch();
    await third.untilPrinted("Quoin is ready\n");
    await stop(third);
  });

  it("reports a corrupt log, never opens it as if empty, and leaves it as it is", async () => {
    const first = await launch();
    await first.untilPrinted("Quoin is ready\n");
    expect((await quoinctl(["kv", "put", "default/a", "1"])).code).to.equal(0);
    await stop(first);
    const raft = join(directory, ".quoin", "q-0", "raft");
    for (const name of readdirSync(raft).filter((file) => file.endsWith(".log"))) {
      const path = join(raft, name);
      const bytes = readFileSync(path);
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] ?? 0) ^ 0x10;
      writeFileSync(path, bytes);
    }
    const flipped = walFiles(raft);
    const second = await launch();
    expect((await second.ended).code).to.equal(1);
    expect(second.stderr).to.include("MEMBER_DAMAGED").and.to.include("has lost acknowledged data");
    // RocksDB drops what follows the damage from its own files; a person still finds it beside them.
    expect(walFiles(`${raft}-before-recovery`)).to.deep.equal(flipped);
    const third = await launch();
    expect((await third.ended).code, "and again").to.equal(1);
    expect(walFiles(`${raft}-before-recovery`)).to.deep.equal(flipped);
  });

  it("takes its member with it when it is killed", async () => {
    const child = await launch();
    await child.untilPrinted("Quoin is ready\n");
    const pids = memberPids();
    expect(pids).to.have.lengthOf(1);
    child.signal("SIGKILL");
    await child.ended;
    for (const pid of pids) {
      await until("the end of the member", () => !exists(pid));
    }
  });

  it("explains wrong arguments, with exit code 2", async () => {
    for (const [args, message] of [
      [["--members", "0"], /members/],
      [["--base-port", "80"], /1024/],
      [["--nonsense"], /nonsense/],
    ] as const) {
      const child = await launch(...args);
      expect((await child.ended).code).to.equal(2);
      expect(child.stderr).to.match(message);
    }
  });
});
