/** `npm start` and the first commands of the README, as a newcomer runs them. */

import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { claimedBasePort, exists, QUOINCTL_PROGRAM, segmentsOf, TestProcess, until } from "../harness/index.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const LAUNCHER = fileURLToPath(new URL("../../local/main.ts", import.meta.url));
const MEMBER = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const PRIVATE_FILE = 0o600;

/** A row of the table of members. */
interface Row {
  readonly name: string;
  readonly pid: number;
  readonly grpc: string;
  readonly state: string;
}

/** The table in the output of a launcher. */
function membersOf({ stdout }: TestProcess): Row[] {
  const rows = stdout.matchAll(/^ {2}(q-[0-9]) +([0-9]+) +(\S+) +http:\S+ +(.+)$/gm);
  return [...rows].map(([, name = "", pid, grpc = "", state = ""]) => ({ name, pid: Number(pid), grpc, state }));
}

/** The arguments of a printed command, as a shell reads them after pasting. */
function argumentsOf(command: string): string[] {
  const prefix = "npm start -- ";
  expect(command.startsWith(prefix), command).to.equal(true);
  const words = execFileSync("sh", ["-c", `printf '%s\\n' ${command.slice(prefix.length)}`], { encoding: "utf8" });
  return words.trimEnd().split("\n");
}

describe("npm start", function () {
  this.timeout(120_000);
  let directory: string;
  let running: TestProcess[];
  /** The environment of quoinctl. */
  let surroundings: NodeJS.ProcessEnv;

  beforeEach(() => {
    surroundings = {};
    directory = temporaryDirectory();
    running = [];
  });

  afterEach(async () => {
    for (const child of running) {
      await child.dispose();
    }
    for (const pid of memberPids()) {
      await until(`the end of member ${pid}`, () => !exists(pid));
    }
  });

  /** Process ids of all members that launchers have printed. */
  function memberPids(): number[] {
    return running.flatMap((child) => [
      ...membersOf(child).map(({ pid }) => pid),
      ...[...child.stdout.matchAll(/is process ([0-9]+)/g)].map((match) => Number(match[1])),
    ]);
  }

  async function launch(...args: string[]): Promise<TestProcess> {
    const base = args.includes("--base-port") ? [] : ["--base-port", String(await claimedBasePort())];
    return launchAs(...base, ...args);
  }

  /** With no other arguments: at the ports of the run before. */
  function launchAs(...args: string[]): TestProcess {
    const child = new TestProcess(LAUNCHER, args, { cwd: directory });
    running.push(child);
    return child;
  }

  async function quoinctl(args: string[], env?: NodeJS.ProcessEnv): Promise<TestProcess & { code: number | null }> {
    const child = new TestProcess(QUOINCTL_PROGRAM, args, {
      cwd: directory,
      env: { ...process.env, ...surroundings, ...env },
    });
    running.push(child);
    const { code } = await child.ended;
    return Object.assign(child, { code });
  }

  /** The answer for the key of the member at this endpoint, after any retries. */
  async function read(key: string, endpoint: string, token: string): Promise<string> {
    const args = ["--endpoints", endpoint, "--timeout", "60s", "kv", "get", key];
    const answer = await quoinctl(args, { QUOIN_TOKEN: token });
    expect(answer.code, answer.stderr).to.equal(0);
    return answer.stdout;
  }

  async function newToken(): Promise<string> {
    return (await quoinctl(["token"])).stdout.trim();
  }

  async function write(key: string, value: string): Promise<void> {
    const answer = await quoinctl(["kv", "put", key, value, "--timeout", "60s"]);
    expect(answer.code, answer.stderr).to.equal(0);
  }

  async function stop(child: TestProcess): Promise<void> {
    child.signal("SIGINT");
    expect(await child.ended).to.deep.equal({ code: 0, signal: null });
  }

  async function tryOut(members: readonly Row[], token: string): Promise<void> {
    await write("default/greeting", "hello");
    for (const { grpc } of members) {
      expect(await read("default/greeting", grpc, token)).to.equal("hello\n");
    }
    const swap = await quoinctl(["kv", "cas", "default/greeting", "--expect", "nobody", "x"]);
    expect(swap.code, "a compare that fails").to.equal(4);
    const status = await quoinctl(["status", "-o", "json"]);
    expect(status.stdout.match(/"RUNNING"/g)).to.have.lengthOf(3);
    expect(status.stdout.match(/"LEADER"/g)).to.have.lengthOf(1);
  }

  /** Lets a member refuse the calls of its launcher for a while: it reads the file with the token for each call. */
  async function refuseCalls(launcher: TestProcess, data: string, member: string): Promise<void> {
    const token = join(data, "admin-token");
    renameSync(token, `${token}-aside`);
    await until(`${member} to refuse two calls of its launcher`, () => {
      expect(launcher.hasEnded, launcher.stderr).to.equal(false);
      const log = readFileSync(join(data, `${member}.log`), "utf8");
      return log.split("the admin token file cannot be read").length > 2;
    });
    renameSync(`${token}-aside`, token);
  }

  function expectSecrets(launcher: TestProcess, endpointsFile: string): void {
    const data = dirname(endpointsFile);
    const { apiKey, owner } = JSON.parse(readFileSync(endpointsFile, "utf8"));
    expect(launcher.stdout).to.include(apiKey).and.to.include(owner.email).and.to.include(owner.password);
    const tokens = ["admin-token", "join-token"].map((name) => readFileSync(join(data, name), "utf8").trim());
    for (const name of ["endpoints.json", "admin-token", "join-token"]) {
      expect(statSync(join(data, name)).mode & 0o777, name).to.equal(PRIVATE_FILE);
    }
    for (const name of ["q-0.log", "q-1.log", "q-2.log"]) {
      const log = readFileSync(join(data, name), "utf8");
      for (const secret of [apiKey, owner.password, ...tokens]) {
        expect(log.includes(secret), `a secret in ${name}`).to.equal(false);
      }
    }
  }

  async function expectRefusal(args: string[], message: RegExp): Promise<TestProcess> {
    const child = new TestProcess(LAUNCHER, args, { cwd: directory });
    running.push(child);
    expect((await child.ended).code).to.equal(1);
    expect(child.stderr).to.match(message);
    return child;
  }

  /** The README's commands for backups, at members that have a store. */
  async function tryBackups(): Promise<void> {
    // Each member may need a while on a busy machine.
    const patiently = ["--timeout", "60s"];
    const status = JSON.parse((await quoinctl([...patiently, "backup", "status", "-o", "json"])).stdout);
    const store = join(realpathSync(directory), "store");
    expect(status.members.map((member: { store: string }) => member.store)).to.deep.equal([store, store, store]);
    const created = await quoinctl([...patiently, "backup", "create", "state.qsnap"]);
    expect([created.code, created.stderr]).to.deep.equal([
      ...[
        0,
        "warning: the backup is not encrypted, and holds signing keys and hashes of passwords; encrypt it with --key-file FILE\n",
      ],
    ]);
    const verified = await quoinctl([...patiently, "backup", "verify", "state.qsnap"]);
    expect([verified.code, verified.stdout.split("\n").length], verified.stderr).to.deep.equal([0, 3]);
    expect(verified.stderr).to.include("not checked: that the state can be rebuilt");
    const started = await quoinctl([...patiently, "backup", "start", "--wait", "-o", "json"]);
    expect(JSON.parse(started.stdout)).to.include({ phase: "BACKUP_SUCCEEDED", leaderless: false });
    const listed = JSON.parse((await quoinctl([...patiently, "backup", "list", "store", "-o", "json"])).stdout);
    expect(listed.backups.map(({ id }: { id: string }) => id)).to.include(JSON.parse(started.stdout).id);
  }

  const launcherFile = () => join(directory, ".quoin", "launcher.json");

  function readLauncherFile(): { readonly pid: number; readonly basePort: number } {
    return JSON.parse(readFileSync(launcherFile(), "utf8"));
  }

  it("serves the README's first commands, goes on when a member is killed or refuses calls, and keeps everything", async () => {
    // A shell splits this directory unless the printed commands quote it.
    const data = join(directory, "it's data");
    const base = String(await claimedBasePort());
    const first = await launch("--data-dir", data, "--base-port", base, "--backup-store", "store");
    await first.untilPrinted("Quoin is ready\n");
    expect(first.stdout.trimEnd().split("\n").at(-1)).to.equal("Quoin is ready");
    const members = membersOf(first);
    expect(members.map(({ name }) => name)).to.deep.equal(["q-0", "q-1", "q-2"]);
    expect(members.map(({ state }) => state).sort()).to.deep.equal(["RUNNING", "RUNNING", "RUNNING, leader"]);
    const endpointsFile = join(data, "endpoints.json");
    surroundings = { QUOIN_ENDPOINTS_FILE: endpointsFile };
    const token = await newToken();
    await tryOut(members, token);
    expectSecrets(first, endpointsFile);

    const leader = members.find(({ state }) => state === "RUNNING, leader");
    if (leader === undefined) {
      throw new Error("there is no leader");
    }
    process.kill(leader.pid, "SIGKILL");
    await first.untilPrinted(`${leader.name} ended (SIGKILL)`);
    await write("default/greeting", "still here");
    const printed = [...first.stdout.matchAll(/^ {2}(npm start -- --member .+)$/gm)].map(([, command = ""]) => command);
    expect(new Set(printed).size, "commands, in the greeting and now, for the same member").to.equal(1);
    const again = new TestProcess(LAUNCHER, argumentsOf(printed[0] ?? ""), { cwd: ROOT });
    running.push(again);
    await again.untilPrinted(`${leader.name} is RUNNING, ready\n`);
    expect(await read("default/greeting", leader.grpc, token)).to.equal("still here\n");
    await expectRefusal(["--member", leader.name, "--data-dir", data], /is q-[0-9] already running/);
    await expectRefusal(["--member", "q-7", "--data-dir", data], /no member q-7; it has q-0, q-1, q-2/);
    await tryBackups();
    await refuseCalls(again, data, leader.name);

    await stop(first);
    expect(await again.ended, "of the member that was started again").to.deep.equal({ code: 0, signal: null });
    for (const pid of memberPids()) {
      expect(exists(pid)).to.equal(false);
    }
    await expectRefusal(["--member", "q-1", "--data-dir", data], /no cluster runs/);
    await expectRefusal(["--members", "1", "--data-dir", data, "--base-port", base], /q-1, q-2 .*--members 3/);
    const elsewhere = String(await claimedBasePort());
    await expectRefusal(["--data-dir", data, "--base-port", elsewhere], new RegExp(`--base-port ${base}`));

    rmSync(join(data, "q-1"), { recursive: true });
    const second = launchAs("--data-dir", data);
    await second.untilPrinted("Quoin is ready\n");
    expect(membersOf(second)[1]?.state, "with its directory gone").to.match(/MEMBER_DATA_LOST: .*remove member [0-9]+/);
    expect(await read("default/greeting", members[2]?.grpc ?? "", token)).to.equal("still here\n");
    for (const { name, pid } of membersOf(second)) {
      process.kill(pid, "SIGKILL");
      await second.untilPrinted(`${name} ended (SIGKILL)`);
    }
    await stop(second);
  });

  it("grows a cluster of one to three, also when it is killed on the way", async () => {
    const base = ["--base-port", String(await claimedBasePort())];
    const alone = await launch("--members", "1", ...base);
    await alone.untilPrinted("Quoin is ready\n");
    await write("default/greeting", "hello");
    // As if the growth had been interrupted right after this.
    expect((await quoinctl(["member", "add", "q-1"])).code).to.equal(0);
    await stop(alone);

    const killed = await launch("--members", "3", ...base);
    const log = (name: string) => readFileSync(join(directory, ".quoin", `${name}.log`), "utf8");
    await until("q-1 to claim its slot", () => {
      expect(killed.hasEnded, killed.stderr).to.equal(false);
      return (
        readdirSync(join(directory, ".quoin")).includes("q-1.log") && log("q-1").includes("this member got a slot")
      );
    });
    killed.signal("SIGKILL");
    await killed.ended;
    for (const name of readdirSync(join(directory, ".quoin")).filter((file) => /^q-[0-9]$/.test(file))) {
      await until(`the end of ${name}`, () => log(name).trimEnd().endsWith('"msg":"stopped"}'));
    }

    const grown = await launch("--members", "3", ...base);
    await grown.untilPrinted("Quoin is ready\n");
    const status = JSON.parse((await quoinctl(["member", "list", "-o", "json"])).stdout);
    expect(status.members.map(({ name, voter }: { name: string; voter: boolean }) => [name, voter])).to.deep.equal([
      ["q-0", true],
      ["q-1", true],
      ["q-2", true],
    ]);
    expect(await read("default/greeting", membersOf(grown)[1]?.grpc ?? "", await newToken())).to.equal("hello\n");
    await stop(grown);
  });

  it("names the port that is in use", async () => {
    const base = await claimedBasePort();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(base + 1, "127.0.0.1", resolve));
    try {
      const child = await launch("--base-port", String(base), "--backup-store", "backups");
      expect((await child.ended).code).to.equal(1);
      expect(child.stderr).to.include(`port ${base + 1} (http)`);
      expect(readdirSync(directory), "it leaves nothing behind").to.deep.equal([]);
    } finally {
      await new Promise((resolve) => taken.close(resolve));
    }
  });

  it("removes what it has made if the backup cannot be used, and nothing else", async () => {
    writeFileSync(join(directory, "garbage"), "no snapshot");
    mkdirSync(join(directory, "there"));
    for (const [dataDirectory, left] of [
      ["new/data", ["garbage", "there"]],
      ["there/data", ["garbage", "there"]],
    ] as const) {
      const child = await launch("--restore", "garbage", "--data-dir", dataDirectory, "--members", "1");
      expect((await child.ended).code).to.equal(1);
      expect(child.stderr).to.include("it is not a snapshot");
      expect(readdirSync(directory)).to.deep.equal(left);
    }
    expect(readdirSync(join(directory, "there"))).to.deep.equal([]);
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

  async function launchMember(...args: string[]): Promise<TestProcess> {
    const launcher = await launch("--members", "1", ...args);
    await launcher.untilPrinted("Quoin is ready\n");
    return launcher;
  }

  it("refuses the data of a running cluster, ends with its member, and starts where its number belongs to another process", async () => {
    const first = await launchMember();
    await refuseLaunchers(first);
    await refuseSecondProcess();
    await endMemberWith(first);
    const killed = readLauncherFile();
    writeFileSync(launcherFile(), JSON.stringify({ ...killed, pid: process.pid }));
    const second = await launchMember("--base-port", String(killed.basePort));
    expect(readLauncherFile().pid).to.equal(second.pid);
    await endWithMember(second);
  });

  /** Other launchers say which process runs the cluster already, and still refuse its data without that record. */
  async function refuseLaunchers(launcher: TestProcess): Promise<void> {
    const running = `already running here, process ${launcher.pid}, with the data in ${join(realpathSync(directory), ".quoin")}`;
    const base = readLauncherFile().basePort;
    const again = await expectRefusal(
      ["--members", "1", "--base-port", String(base)],
      new RegExp(`^npm start: ${running}\n`),
    );
    expect(again.stdout, "it starts nothing").to.equal("");
    await expectRefusal(["--members", "3", "--base-port", String(await claimedBasePort())], new RegExp(running));
    renameSync(launcherFile(), join(directory, "aside"));
    await expectRefusal(["--members", "1", "--base-port", String(base)], new RegExp(`port ${base} \\(grpc\\)`));
    const second = await launch("--members", "1");
    expect((await second.ended).code).to.equal(1);
    expect(second.stderr).to.match(/another (process|cluster)/);
    expect((await quoinctl(["status"])).code, "the first still serves").to.equal(0);
    renameSync(join(directory, "aside"), launcherFile());
  }

  async function refuseSecondProcess(): Promise<void> {
    const member = join(directory, ".quoin", "q-0");
    const second = new TestProcess(MEMBER, [
      ...["--name", "q-0", "--cluster-name", "local", "--data-dir", member],
      ...["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"],
    ]);
    running.push(second);
    expect((await second.ended).code).to.equal(71);
    expect(second.stdout).to.include("another process uses the data directory");
  }

  /** A killed launcher takes its member with it. */
  async function endMemberWith(launcher: TestProcess): Promise<void> {
    const pids = membersOf(launcher).map(({ pid }) => pid);
    expect(pids).to.have.lengthOf(1);
    launcher.signal("SIGKILL");
    await launcher.ended;
    for (const pid of pids) {
      await until("the end of the member", () => !exists(pid));
    }
  }

  /** A launcher ends with its only member. */
  async function endWithMember(launcher: TestProcess): Promise<void> {
    process.kill(membersOf(launcher)[0]?.pid ?? 0, "SIGKILL");
    expect((await launcher.ended).code).to.equal(1);
    expect(launcher.stderr).to.include("member q-0 ended (SIGKILL)");
  }

  it("reports lost data instead of founding again (P47), and a corrupt log, which it leaves as it is", async () => {
    await stop(await launchMember());
    await loseData();
    const launcher = await launchMember();
    expect((await quoinctl(["kv", "put", "default/a", "1"])).code).to.equal(0);
    await stop(launcher);
    const [segment] = segmentsOf(join(directory, ".quoin", "q-0")) as [string];
    const flipped = readFileSync(segment);
    flipped[200] = (flipped[200] ?? 0) ^ 0x10;
    writeFileSync(segment, flipped);
    const second = await launch("--members", "1");
    expect((await second.ended).code).to.equal(1);
    expect(second.stderr).to.include("MEMBER_DAMAGED").and.to.include("has lost acknowledged data");
    expect(readFileSync(segment)).to.deep.equal(flipped);
    const third = await launch("--members", "1");
    expect((await third.ended).code, "and again").to.equal(1);
    expect(readFileSync(segment)).to.deep.equal(flipped);
  });

  /** Lets it start without the data, and gives the data back. */
  async function loseData(): Promise<void> {
    renameSync(join(directory, ".quoin", "q-0"), join(directory, "aside"));
    const failed = await launch("--members", "1");
    expect((await failed.ended).code).to.equal(1);
    expect(failed.stderr).to.match(/the data of cluster .* is gone/);
    rmSync(join(directory, ".quoin", "q-0"), { recursive: true });
    renameSync(join(directory, "aside"), join(directory, ".quoin", "q-0"));
  }
});
