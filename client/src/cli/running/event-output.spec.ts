/** `quoinctl watch … -- COMMAND`, as a process where signals matter. */

import { spawnSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { KeyEvent_Type, LockEvent_Action, LockEvent_Reason } from "@quoin/proto";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import {
  canMakeTerminals,
  FakeRuntime,
  LAUNCHER,
  type ProgramInput,
  type ProgramRun,
  runProgram,
  ScriptedMember,
  startQuoinctl,
  TerminalRun,
  until,
} from "../../../test/index.ts";
import { run } from "../index.ts";

function put(key: string, modRevision: bigint, value = "v") {
  const kv = { key, value: Buffer.from(value), createRevision: 1n, modRevision, version: 1n };
  return { type: KeyEvent_Type.PUT, kv };
}

/** Writes what it was given, one line for each event, into the file `told`. */
const TELL = 'echo "$QUOIN_EVENT $QUOIN_EVENT_NAMESPACE/$QUOIN_EVENT_KEY $QUOIN_EVENT_REVISION $(cat)" >> told';

describe("quoinctl watch, with a command", function () {
  // Processes: a limit for a busy machine.
  this.timeout(60_000);

  let member: ScriptedMember;

  beforeEach(async () => {
    member = await ScriptedMember.start();
    sends(put("p/a", 11n, "one"), put("p/b", 12n, ""), {
      type: KeyEvent_Type.EXPIRE,
      // As members send it, with the last value.
      kv: { ...put("p/a", 11n, "one").kv, modRevision: 13n },
    });
  });

  afterEach(() => member.stop());

  function sends(...events: object[]): void {
    member.streams.watchKeys = (_request, stream) => {
      stream.send({ created: true, revision: 10n });
      stream.send({ events, revision: 13n });
    };
  }

  const environment = () => ({ QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t", PATH: process.env.PATH ?? "" });

  function watch(parameters: readonly string[], input: ProgramInput): Promise<ProgramRun> {
    return runProgram(run, new FakeRuntime(), ["watch", ...parameters], { environment: environment(), ...input });
  }

  async function inDirectory(work: (directory: string, told: () => string) => Promise<void>): Promise<void> {
    const directory = temporaryDirectory();
    const file = path.join(directory, "told");
    writeFileSync(file, "");
    await work(directory, () => readFileSync(file, "utf8"));
  }

  it("runs it for each change in order, with the change in its environment and the value as its input", () =>
    inDirectory(async (directory, told) => {
      // A later command would overtake the first one.
      const program = `[ $QUOIN_EVENT_REVISION != 11 ] || sleep 0.3; ${TELL}`;
      expect(await watch(["keys", "n/p/*", "--limit", "3", "--", "sh", "-c", program], { directory })).to.include({
        code: 0,
        out: "",
        err: "watching n/p/* from revision 11 on\n",
      });
      expect(told()).to.equal("PUT n/p/a 11 one\nPUT n/p/b 12 \nEXPIRE n/p/a 13 \n");
    }));

  it("runs it for locks too, without the variables of lock run", () =>
    inDirectory(async (directory, told) => {
      member.streams.watchLocks = (_request, stream) => {
        const hold = { lockKey: "l", owner: "me", fencingToken: 11n };
        const released = { action: LockEvent_Action.RELEASED, reason: LockEvent_Reason.EXPIRED, revision: 12n };
        stream.send({ created: true, revision: 10n });
        stream.send({ events: [{ ...hold, ...released }], revision: 12n });
      };
      const names = ["", "_NAMESPACE", "_LOCK", "_REVISION", "_OWNER", "_TOKEN", "_REASON", "_MODE"];
      const program = `echo ${names.map((name) => `"$QUOIN_EVENT${name}"`).join(",")},$QUOIN_LOCK > told`;
      await watch(["locks", "n", "--limit", "1", "--", "sh", "-c", program], { directory });
      expect(told()).to.equal("RELEASED,n,l,12,me,11,EXPIRED,,\n");
    }));

  it("gives it the document of -o json", () =>
    inDirectory(async (directory, told) => {
      const words = ["keys", "n/p/a", "--limit", "1", "-o", "json", "--", "sh", "-c", "cat > told"];
      expect(await watch(words, { directory })).to.include({ code: 0, out: "", err: "" });
      expect(JSON.parse(told())).to.deep.include({ namespace: "n", type: "PUT" });
    }));

  it("reports a command that fails, and goes on", () =>
    inDirectory(async (directory, told) => {
      const words = ["keys", "n", "--limit", "3", "--", "sh", "-c", `${TELL}; exit $((QUOIN_EVENT_REVISION - 11))`];
      const { code, err } = await watch(words, { directory });
      expect(code).to.equal(0);
      expect(err.split("\n").slice(1)).to.deep.equal([
        "warning: the command for n/p/b at revision 12 has failed with exit code 1",
        "warning: the command for n/p/a at revision 13 has failed with exit code 2",
        "",
      ]);
      expect(told().split("\n")).to.have.length(4);
    }));

  it("ends with the exit code of the first command that fails, with --exit-on-failure", () =>
    inDirectory(async (directory, told) => {
      const program = `${TELL}; exit $((QUOIN_EVENT_REVISION - 11))`;
      const { code } = await watch(["keys", "n", "--exit-on-failure", "--", "sh", "-c", program], { directory });
      expect(code).to.equal(1);
      expect(told()).to.equal("PUT n/p/a 11 one\nPUT n/p/b 12 \n");
    }));

  it("goes on after a command that does not read its input, or cannot be run for an event", () =>
    inDirectory(async (directory, told) => {
      sends(put("p/large", 11n, "x".repeat(1_000_000)), put("p/nul\0", 12n), put("p/c", 13n, "three"));
      const program = `[ $QUOIN_EVENT_KEY = p/large ] || ${TELL}`;
      const { code, err } = await watch(["keys", "n", "--limit", "3", "--", "sh", "-c", program], { directory });
      expect(code).to.equal(0);
      expect(err)
        .to.match(/sh cannot be run: .*QUOIN_EVENT_KEY.*null bytes/)
        .and.to.include("exit code 126");
      expect(told()).to.equal("PUT n/p/c 13 three\n");
      const missing = ["keys", "n", "--exit-on-failure", "--", "no-such-program"];
      expect(await watch(missing, { directory })).to.include({ code: 127 });
    }));

  it("wants the command behind --, because a shell that replaces an asterisk makes more words too", async () => {
    for (const words of [["n/p/b"], ["n/p/b", "--", "true"]]) {
      const { code, err } = await watch(["keys", "n/p/a", ...words], {});
      expect(code).to.equal(2);
      expect(err).to.include("too many arguments, beginning with n/p/b\nhint: quote the asterisk");
    }
    expect(member.calls).to.have.length(0);
  });

  it("ends at a signal while no command runs", () =>
    inDirectory(async (directory, told) => {
      const signals = new EventEmitter();
      const ended = watch(["keys", "n", "--", "sh", "-c", TELL], { directory, signals });
      await until("the last command", () => told().includes("EXPIRE"));
      signals.emit("SIGHUP", "SIGHUP");
      expect((await ended).code).to.equal(128 + 1);
    }));

  it("passes a signal to the command and its processes, and ends when all of them have ended", () =>
    inDirectory(async (directory, told) => {
      const worker =
        'trap "sleep 0.3; echo worker >> told; exit 0" TERM; echo begun >> told; while :; do sleep 0.05; done';
      const words = ["sh", "-c", 'trap "echo command >> told; exit 5" TERM; sh -c "$1" & wait', "sh", worker];
      const child = startQuoinctl(["watch", "keys", "n", "--", ...words], { directory, environment: environment() });
      try {
        await until("the worker", () => told() !== "");
        child.process.kill("SIGTERM");
        expect((await child.ended).code).to.equal(128 + 15);
        expect(told().trimEnd().split("\n")).to.have.members(["begun", "command", "worker"]);
      } finally {
        child.stop();
      }
    }));

  it("ends at Ctrl-C on a terminal, together with its command", function () {
    if (!canMakeTerminals()) {
      console.log("      skipped: there is no script of util-linux, which makes terminals");
      this.skip();
    }
    return inDirectory(async (directory, told) => {
      writeFileSync(path.join(directory, "program"), "echo $$ >> told; sleep 30 & wait");
      const command = `"${process.execPath}" "${LAUNCHER}" watch keys n -- sh program`;
      const terminal = new TerminalRun(command, { directory, environment: environment() });
      try {
        await until("the command", () => told() !== "");
        terminal.type("\u0003");
        expect(await terminal.ended, terminal.shown).to.equal(128 + 2);
        const pids = told().trim().split("\n");
        expect(pids).to.have.length(1);
        expect(spawnSync("ps", ["-o", "stat=", "-p", pids[0]!], { encoding: "utf8" }).stdout.trim()).to.match(/^Z?$/);
      } finally {
        terminal.stop();
      }
    });
  });
});
