/** `quoinctl lock run` as a process, with a command that starts processes itself. */

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { LockState } from "@quoin/proto";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import {
  canMakeTerminals,
  LAUNCHER,
  type RunningChild,
  refuse,
  ScriptedMember,
  startQuoinctl,
  TerminalRun,
  until,
} from "../../../test/index.ts";

const GRANTED = { acquired: true, fencingToken: 7n, ttlSeconds: 30n, expiresInMs: 30_000n, state: LockState.HELD };
/** The lock is lost at the first renewal, which is due after a third of a second. */
const LOST_SOON = { ...GRANTED, ttlSeconds: 1n, expiresInMs: 1_000n };
const CTRL_C = "\u0003";

/** Writes its id into the file `worker`, and works until a signal ends it. */
const WORKER = "echo $$ > worker.new; mv worker.new worker; while :; do sleep 0.05; done";
const STUBBORN_WORKER = `trap "" TERM INT; ${WORKER}`;
/** A shell that waits for its worker, which no signal to the shell alone would end. */
const starting = (text: string) => ["sh", "-c", 'sh -c "$1" & wait', "sh", text];

/** Options of Node with which quoinctl stands still for a second when it has started its command. */
const SLOW_START = [
  "--import",
  `data:text/javascript,${encodeURIComponent(`
    import processes from "node:child_process";
    import { syncBuiltinESMExports } from "node:module";
    const { spawn } = processes;
    processes.spawn = (...words) => {
      const child = spawn(...words);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
      return child;
    };
    syncBuiltinESMExports();
  `)}`,
];

/** Whether a process runs: one that has ended may still be in the list of processes. */
function isRunning(pid: string): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", pid], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.trim().startsWith("Z");
}

describe("quoinctl lock run, with a command that starts processes", function () {
  // Processes: a limit for a busy machine.
  this.timeout(60_000);

  let member: ScriptedMember;
  let folder: string;
  let nodeArguments: readonly string[];
  /** Whether the worker ran when the lock was released; empty without a release. */
  let runningAtRelease: boolean[];
  let stops: (() => void)[];

  beforeEach(async () => {
    runningAtRelease = [];
    stops = [];
    member = await ScriptedMember.start({
      acquireLock: () => GRANTED,
      releaseLock: () => {
        runningAtRelease.push(isRunning(workerId()));
        return { released: true };
      },
    });
  });

  afterEach(() => {
    for (const stop of stops) {
      stop();
    }
    member.stop();
  });

  /** Runs the test in a folder of its own, with these options of Node. No worker outlives it. */
  async function inFolder(work: () => Promise<void>, options: readonly string[] = []): Promise<void> {
    const directory = temporaryDirectory();
    folder = directory;
    nodeArguments = options;
    try {
      await work();
    } finally {
      const pid = readWorker();
      if (pid !== "" && isRunning(pid)) {
        process.kill(Number(pid), "SIGKILL");
      }
    }
  }

  function readWorker(): string {
    try {
      return readFileSync(path.join(folder, "worker"), "utf8").trim();
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") {
        return "";
      }
      throw error;
    }
  }

  function workerId(): string {
    const pid = readWorker();
    if (pid === "") {
      throw new Error("there is no worker");
    }
    return pid;
  }

  const environment = () => ({ QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t", PATH: process.env.PATH ?? "" });

  /** Starts `lock run`, and waits for its worker. */
  async function start(...words: readonly string[]): Promise<RunningChild> {
    const options = { directory: folder, environment: environment(), nodeArguments };
    const child = startQuoinctl(["lock", "run", "n/l", ...words], options);
    stops.push(child.stop);
    await until("the worker", () => readWorker() !== "");
    return child;
  }

  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    it(`ends all of them at ${signal}, and releases the lock then`, () =>
      inFolder(async () => {
        // A shell makes the processes that it starts in the background ignore SIGINT.
        const child = await start("--", ...starting(WORKER));
        child.process.kill(signal);
        expect((await child.ended).code).to.be.greaterThan(128);
        expect(isRunning(workerId())).to.equal(false);
        expect(runningAtRelease).to.deep.equal([false]);
      }));
  }

  it("kills what is left of them after --kill-after, and releases the lock only then", () =>
    inFolder(async () => {
      const child = await start("--kill-after", "300ms", "--", ...starting(STUBBORN_WORKER));
      child.process.kill("SIGTERM");
      const { code, stderr } = await child.ended;
      expect(code).to.equal(128 + 15);
      expect(stderr).to.equal("quoinctl: the command has ended, and the processes that it has left are terminated\n");
      expect(runningAtRelease).to.deep.equal([false]);
    }));

  it("ends all of them at a signal that comes while the command starts", () =>
    inFolder(async () => {
      const child = await start("--kill-after", "300ms", "--", ...starting(STUBBORN_WORKER));
      child.process.kill("SIGTERM");
      expect((await child.ended).code).to.equal(128 + 15);
      expect(runningAtRelease).to.deep.equal([false]);
    }, SLOW_START));

  it("waits as long as the command itself needs to end", () =>
    inFolder(async () => {
      const words = ["sh", "-c", `trap "sleep 1; exit 5" TERM; ${WORKER}`];
      const child = await start("--kill-after", "100ms", "--", ...words);
      child.process.kill("SIGTERM");
      const { code, stderr } = await child.ended;
      expect(code).to.equal(5);
      expect(stderr).to.not.include("quoinctl");
      expect(runningAtRelease).to.deep.equal([false]);
    }));

  for (const [what, text] of [
    ["ends", WORKER],
    ["kills", STUBBORN_WORKER],
  ] as const) {
    it(`${what} all of them when the lock is lost`, () =>
      inFolder(async () => {
        member.scripts.acquireLock = ({ fencingToken }) =>
          fencingToken === 0n ? LOST_SOON : refuse({ code: "FAILED_PRECONDITION", reason: "LOCK_LOST" });
        const child = await start("--kill-after", "300ms", "--", ...starting(text));
        const { code, stderr } = await child.ended;
        expect(code).to.equal(1);
        expect(stderr).to.include("the lock is lost, and the command is terminated").and.to.include("(LOCK_LOST)");
        expect(isRunning(workerId())).to.equal(false);
        expect(runningAtRelease).to.deep.equal([]);
      }));
  }

  it("goes on with its own lock inside of a lock run that is killed by SIGKILL, which ends nothing", () =>
    inFolder(async () => {
      const inner = [process.execPath, LAUNCHER, "lock", "run", "n/inner", "--", "sh", "-c", WORKER];
      const child = await start("--", ...inner);
      child.process.kill("SIGKILL");
      // The streams of the killed process end only with those of its command.
      await until("the end of the outer one", () => child.process.signalCode !== null);
      expect(isRunning(workerId())).to.equal(true);
      expect(runningAtRelease).to.deep.equal([]);
      process.kill(Number(workerId()), "SIGKILL");
      expect((await child.ended).signal).to.equal("SIGKILL");
      const released = member.callsOf("releaseLock").map(({ request }) => request);
      expect(released).to.have.length(1);
      expect(released[0]).to.include({ name: "inner" });
    }));

  it("leaves alone what a command has started that ends by itself", () =>
    inFolder(async () => {
      const words = ["sh", "-c", 'sh -c "$1" < /dev/null > /dev/null 2>&1 & until [ -e worker ]; do sleep 0.05; done'];
      const child = await start("--", ...words, "sh", WORKER);
      expect(await child.ended).to.include({ code: 0, stderr: "" });
      expect(runningAtRelease).to.deep.equal([true]);
    }));

  it("passes SIGUSR1 and SIGUSR2 to the command alone, and opens no debugger", () =>
    inFolder(async () => {
      const program = 'trap "echo one" USR1; trap "echo two; exit 6" USR2; sh -c "$1" & while :; do sleep 0.05; done';
      const child = await start("--", "sh", "-c", program, "sh", WORKER);
      let told = "";
      child.process.stdout?.on("data", (chunk: Buffer) => {
        told += chunk.toString();
      });
      child.process.kill("SIGUSR1");
      await until("the first signal", () => told.includes("one"));
      child.process.kill("SIGUSR2");
      // The worker has the output too, so that ends only with the worker.
      await until("the second signal", () => told.includes("two"));
      await until("the release", () => runningAtRelease.length > 0);
      expect(runningAtRelease).to.deep.equal([true]);
      process.kill(Number(workerId()), "SIGKILL");
      expect(await child.ended).to.include({ code: 6, stderr: "" });
    }));

  describe("on a terminal", () => {
    before(function () {
      if (canMakeTerminals()) {
        return;
      }
      console.log("      skipped: there is no script of util-linux, which makes terminals");
      this.skip();
    });

    /** Starts `lock run` on a terminal, with a file as its program. */
    function startOnTerminal(program: string, options = ""): TerminalRun {
      writeFileSync(path.join(folder, "program"), program);
      writeFileSync(path.join(folder, "work"), program.includes("stubborn") ? STUBBORN_WORKER : WORKER);
      const command = `"${process.execPath}" "${LAUNCHER}" lock run n/l ${options} -- sh program`;
      const run = new TerminalRun(command, { directory: folder, environment: environment() });
      stops.push(() => run.stop());
      return run;
    }

    it("lets the command read from it, also as /dev/tty", () =>
      inFolder(async () => {
        member.scripts.releaseLock = () => ({ released: true });
        const program = 'echo ask; read first; read second < /dev/tty; echo "got $first $second"; exit 3';
        const run = startOnTerminal(program);
        await until("the question", () => run.shown.includes("ask"));
        run.type("one\rtwo\r");
        expect(await run.ended, run.shown).to.equal(3);
        expect(run.shown).to.include("got one two");
        expect(member.callsOf("releaseLock")).to.have.length(1);
      }));

    for (const kind of ["usual", "stubborn"]) {
      it(`ends all ${kind} processes at Ctrl-C, and releases the lock then`, () =>
        inFolder(async () => {
          const run = startOnTerminal(`sh work & wait # ${kind}`, "--kill-after 300ms");
          await until("the worker", () => readWorker() !== "");
          run.type(CTRL_C);
          expect(await run.ended, run.shown).to.equal(128 + 2);
          expect(isRunning(workerId())).to.equal(false);
          expect(runningAtRelease).to.deep.equal([false]);
        }));

      it(`ends all ${kind} processes when the lock is lost, and nothing else of the terminal`, () =>
        inFolder(async () => {
          member.scripts.acquireLock = ({ fencingToken }) =>
            fencingToken === 0n ? LOST_SOON : refuse({ code: "FAILED_PRECONDITION", reason: "LOCK_LOST" });
          const run = startOnTerminal(`sh work & wait # ${kind}`, "--kill-after 300ms");
          await until("the worker", () => readWorker() !== "");
          // The shell of the terminal is in the same process group, and must see the exit code.
          expect(await run.ended, run.shown).to.equal(1);
          expect(run.shown).to.include("(LOCK_LOST)");
          expect(isRunning(workerId())).to.equal(false);
        }));
    }
  });
});
