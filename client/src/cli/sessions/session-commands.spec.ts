import { readFileSync } from "node:fs";
import path from "node:path";
import { CreateSessionRequest } from "@quoin/proto";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import {
  FakeRuntime,
  type ProgramInput,
  type ProgramRun,
  refuse,
  runProgram,
  ScriptedMember,
  startQuoinctl,
  until,
} from "../../../test/index.ts";
import { run } from "../index.ts";

const SESSION = {
  sessionId: 7n,
  owner: "web-1",
  subject: "u",
  metadata: Buffer.from("rack 7"),
  ttlSeconds: 10n,
  expiresInMs: 9_000n,
  createdAtMs: 5n,
  objects: 1n,
};
const DOCUMENT = {
  session_id: 7,
  owner: "web-1",
  subject: "u",
  metadata: Buffer.from("rack 7").toString("base64"),
  metadata_text: "rack 7",
  ttl_seconds: 10,
  expires_in_ms: 9_000,
  created_at_ms: 5,
  objects: 1,
};
const HEAD = "SESSION  OWNER  SUBJECT  TTL  EXPIRES IN  OBJECTS  METADATA";
const ROW = "7        web-1  u        10s  9.0s        1        rack 7";

describe("quoinctl session", function () {
  // Processes: a limit for a busy machine.
  this.timeout(60_000);

  let member: ScriptedMember;

  beforeEach(async () => {
    member = await ScriptedMember.start({
      createSession: ({ ttlSeconds }) => ({ sessionId: 7n, expiresInMs: ttlSeconds * 1_000n, revision: 7n }),
      renewSessions: ({ sessions }) => ({ sessions: sessions.map((one) => ({ ...one, expiresInMs: 10_000n })) }),
      endSession: () => ({ endedObjects: 2n, revision: 9n }),
      describeSession: () => ({
        session: SESSION,
        keys: ["a", "b"],
        holds: [{ lockName: "l", fencingToken: 6n, rw: true }],
        revision: 8n,
      }),
      listSessions: ({ pageToken }) => ({ items: [SESSION], nextPageToken: pageToken === "" ? "2" : "" }),
      putKey: () => ({ modRevision: 8n, created: true }),
    });
  });

  afterEach(() => member.stop());

  const environment = () => ({ QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" });

  function quoinctl(parameters: readonly string[], input: ProgramInput = {}): Promise<ProgramRun> {
    return runProgram(run, new FakeRuntime(), parameters, { environment: environment(), ...input });
  }

  it("create", async () => {
    const words = ["session", "create", "n", "--ttl", "1m", "--owner", "web-1", "--metadata", "rack 7"];
    expect(await quoinctl(words)).to.include({ code: 0, out: "SESSION  EXPIRES IN\n7        60.0s\n" });
    const sent = { namespace: "n", ttlSeconds: 60n, owner: "web-1", metadata: Buffer.from("rack 7") };
    expect(member.request).to.deep.equal(sent);
    expect(await quoinctl(["session", "create", "n"])).to.include({ out: "SESSION  EXPIRES IN\n7        30.0s\n" });
    const { out } = await quoinctl(["session", "create", "n", "-o", "json"]);
    expect(JSON.parse(out)).to.deep.equal({ namespace: "n", session_id: 7, expires_in_ms: 30_000, revision: 7 });
    expect(await quoinctl(["session", "create", "n/7"])).to.include({ code: 2 });
  });

  it("renew, with exit code 4 if it has ended", async () => {
    expect(await quoinctl(["session", "renew", "n/7"])).to.include({
      code: 0,
      out: "SESSION  EXPIRES IN\n7        10.0s\n",
    });
    expect(member.request).to.deep.equal({ namespace: "n", sessions: [{ sessionId: 7n }] });
    member.scripts.renewSessions = () => ({ sessions: [{ sessionId: 7n }] });
    const { code, err } = await quoinctl(["session", "renew", "n/7"]);
    expect([code, err]).to.deep.equal([4, "quoinctl: n/7 has ended, or it is not a session of this user\n"]);
  });

  it("end, by force if asked", async () => {
    expect(await quoinctl(["session", "end", "n/7", "--force"])).to.include({
      code: 0,
      out: "SESSION  ENDED OBJECTS  REVISION\n7        2              9\n",
    });
    expect(member.request).to.deep.equal({ namespace: "n", sessionId: 7n, force: true });
    member.scripts.endSession = () => refuse({ code: "NOT_FOUND", reason: "SESSION_NOT_FOUND" });
    const { code, err } = await quoinctl(["session", "end", "n/7"]);
    expect(code).to.equal(1);
    expect(err).to.include("hint: list the sessions with: quoinctl session list NAMESPACE");
    for (const word of ["n/x", "n/0", "n", "n/1e3"]) {
      expect(await quoinctl(["session", "end", word]), word).to.include({ code: 2 });
    }
  });

  it("describe and list", async () => {
    const { out } = await quoinctl(["session", "describe", "n/7"]);
    expect(out).to.equal(`${HEAD}  KEY OR HOLD\n${ROW}    a\n${ROW}    b\n${ROW}    rwlock l (6)\n`);
    const described = await quoinctl(["session", "describe", "n/7", "-o", "json"]);
    expect(JSON.parse(described.out)).to.deep.equal({
      namespace: "n",
      ...DOCUMENT,
      keys: ["a", "b"],
      holds: [{ lock_name: "l", fencing_token: 6, rw: true }],
      revision: 8,
    });
    expect((await quoinctl(["session", "list", "n"])).out).to.equal(`${HEAD}\n${ROW}\n${ROW}\n`);
    const listed = await quoinctl(["session", "list", "n", "--limit", "1", "-o", "json"]);
    expect(JSON.parse(listed.out)).to.deep.equal({ namespace: "n", items: [DOCUMENT] });
  });

  it("has keys by kv put and kv cas", async () => {
    expect(await quoinctl(["kv", "put", "n/k", "v", "--session", "7"])).to.include({ code: 0 });
    expect(member.request).to.deep.include({ sessionId: 7n });
    member.scripts.compareAndSwap = () => ({ success: true });
    expect(await quoinctl(["kv", "cas", "n/k", "v", "--absent", "--session", "7"])).to.include({ code: 0 });
    expect(member.request).to.deep.include({ sessionId: 7n });
    member.scripts.getKey = () => ({ value: Buffer.from("v"), sessionId: 7n });
    const { out } = await quoinctl(["kv", "get", "n/k", "-o", "json"]);
    expect(JSON.parse(out)).to.include({ session_id: 7 });
  });

  it("is completed with its id", async () => {
    const { out } = await quoinctl(["__complete", "zsh", "session", "end", "n/"]);
    expect(out).to.include("n/7");
  });

  describe("run", () => {
    /** Starts the command of a shell in a session, and waits for what it has written. */
    async function start(script: string, ...options: readonly string[]) {
      const directory = temporaryDirectory();
      const words = ["session", "run", "n", ...options, "--", "sh", "-c", script];
      const child = startQuoinctl(words, {
        directory,
        environment: { ...environment(), PATH: process.env.PATH ?? "" },
      });
      const written = () => {
        try {
          return readFileSync(path.join(directory, "out"), "utf8");
        } catch {
          return "";
        }
      };
      return { child, written };
    }

    it("gives the session to the command, and ends it with its exit code and after it", async () => {
      const { child, written } = await start('echo "$QUOIN_NAMESPACE $QUOIN_SESSION_ID" > out; exit 5', "--ttl", "10s");
      expect(await child.ended).to.include({ code: 5, stderr: "" });
      expect(written()).to.equal("n 7\n");
      expect(member.calls.map(({ method }) => method)).to.deep.equal(["createSession", "endSession"]);
      const created = member.callsOf("createSession").map(({ request }) => request as CreateSessionRequest);
      const [{ owner, ttlSeconds } = CreateSessionRequest.create()] = created;
      expect(owner).to.match(/^[^@]+@[^:]+:\d+-[0-9a-f]{12}$/);
      expect(ttlSeconds).to.equal(10n);
    });

    it("renews the session while the command runs", async () => {
      const { child, written } = await start("echo $$ > out; sleep 60", "--ttl", "1s");
      await until("the command", () => written() !== "");
      await until("two renewals", () => member.callsOf("renewSessions").length >= 2);
      child.process.kill("SIGTERM");
      expect((await child.ended).code).to.equal(128 + 15);
      expect(member.calls.at(-1)?.method).to.equal("endSession");
    });

    it("ends the command when the session is lost, with exit code 1", async () => {
      member.scripts.renewSessions = () => ({ sessions: [] });
      const { child } = await start("sleep 60", "--ttl", "1s");
      const { code, stderr } = await child.ended;
      expect(code).to.equal(1);
      expect(stderr).to.include("the session is lost, and the command is terminated").and.include("(SESSION_LOST)");
      expect(member.callsOf("endSession")).to.deep.equal([]);
    });
  });
});
