import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import { canMakeTerminals, ScriptedMember, TerminalRun, until } from "../../../test/index.ts";
import { UsageError } from "../errors/index.ts";
import { askPassword } from "./password.ts";

const ANSWER = { accessToken: "secret-token", expiresInSeconds: 3_600n, user: { userId: "u" } };
const LAUNCHER = fileURLToPath(new URL("../../../bin/quoinctl.js", import.meta.url));
const PASSWORD = "correct horse";
const ENTER = "\r";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

describe("a password prompt", () => {
  it("reads the first line of an input that is not a terminal, without a prompt", async () => {
    const [stdin, stderr] = [new PassThrough(), new PassThrough()];
    stdin.end(`${PASSWORD}\nmore\n`);
    expect(await askPassword({ stdin, stderr })).to.equal(PASSWORD);
    expect(stderr.read()).to.equal(null);
  });

  it("fails if the input ends before the first line", async () => {
    const stdin = new PassThrough();
    stdin.end();
    const thrown = await askPassword({ stdin, stderr: new PassThrough() }).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(UsageError);
  });

  it("appears on a terminal only when echo is off, and echo is on again afterwards", async () => {
    const done: string[] = [];
    const stdin = Object.assign(new PassThrough(), {
      isTTY: true,
      setRawMode: (isRaw: boolean) => done.push(isRaw ? "echo off" : "echo on"),
    });
    const stderr = new PassThrough().on("data", (chunk: Buffer) => {
      done.push(chunk.toString());
      stdin.write(`${PASSWORD}${ENTER}`);
    });
    expect(await askPassword({ stdin, stderr })).to.equal(PASSWORD);
    expect(done.slice(0, 3)).to.deep.equal(["echo off", "Password: ", "echo on"]);
  });

  describe("on a terminal", function () {
    // Node starts twice or three times: a limit for a busy machine.
    this.timeout(60_000);

    let member: ScriptedMember;
    const runs: TerminalRun[] = [];

    before(function () {
      if (canMakeTerminals()) {
        return;
      }
      console.log("      skipped: there is no script of util-linux, which makes terminals");
      this.skip();
    });

    beforeEach(async () => {
      member = await ScriptedMember.start({ login: () => ANSWER });
    });

    afterEach(() => {
      for (const run of runs.splice(0)) {
        run.stop();
      }
      member.stop();
    });

    /** Runs `quoinctl login` on a terminal with echo, answers its prompt at once, and reads the terminal settings. */
    async function answer(directory: string, keys: string): Promise<TerminalRun> {
      const login = `"${process.execPath}" "${LAUNCHER}" login ada@example.com --print-token`;
      const environment = { QUOIN_ENDPOINTS: member.endpoint };
      const run = new TerminalRun(`stty echo; ${login}; echo "ended: $?"; stty -a`, { directory, environment });
      runs.push(run);
      await until("the question", () => run.shown.includes("Password: "));
      run.type(keys);
      expect(await run.ended, run.shown).to.equal(0);
      expect(run.shown, "the echo is back")
        .to.match(/ echo /)
        .and.match(/ icanon /);
      return run;
    }

    it("does not show the password, even if it is typed at once, and gets a token", async () => {
      const directory = temporaryDirectory();
      const { shown } = await answer(directory, `${PASSWORD}${ENTER}`);
      expect(shown).to.match(/^Password: \r\nsecret-token\r\nended: 0\r\n/);
      expect(member.calls.map(({ request }) => request)).to.deep.equal([
        { email: "ada@example.com", password: PASSWORD },
      ]);
    });

    it("ends after Ctrl-C, with the command, as after SIGINT", async () => {
      const directory = temporaryDirectory();
      const { shown } = await answer(directory, `half of it${CTRL_C}`);
      expect(shown).to.match(/^Password: \r\nended: 130\r\n/);
      expect(member.calls).to.have.length(0);
    });

    it("ends after Ctrl-D, which ends the input", async () => {
      const directory = temporaryDirectory();
      const { shown } = await answer(directory, CTRL_D);
      expect(shown).to.match(/^Password: \r\nquoinctl: there is no password: .*\r\nended: 2\r\n/);
    });
  });
});
