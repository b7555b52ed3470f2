import { KeyEvent_Type, LockEvent_Action, LockEvent_Reason, RWMode } from "@quoin/proto";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { FakeRuntime, type ProgramRun, refuse, runProgram, ScriptedMember } from "../../../test/index.ts";
import { run } from "../index.ts";

function entry(key: string, modRevision: bigint, value = "v") {
  return { key, value: Buffer.from(value), createRevision: 1n, modRevision, version: 1n };
}

describe("quoinctl watch", () => {
  let member: ScriptedMember;

  beforeEach(async () => {
    member = await ScriptedMember.start();
    member.streams.watchKeys = (_request, stream) => {
      stream.send({ created: true, revision: 10n });
      const put = { type: KeyEvent_Type.PUT, kv: entry("p/a", 11n, "one\ntwo"), previous: entry("p/a", 9n, "old") };
      stream.send({ events: [put], revision: 11n });
      stream.send({ progress: true, revision: 12n });
      const removal = { type: KeyEvent_Type.DELETE, kv: entry("p/b", 13n) };
      stream.send({ events: [removal, { type: KeyEvent_Type.EXPIRE, kv: entry("p/c", 13n) }], revision: 13n });
    };
    member.streams.watchLocks = (_request, stream) => {
      stream.send({ created: true, revision: 10n });
      const hold = { lockKey: "l", owner: "me", fencingToken: 11n };
      const acquired = { ...hold, action: LockEvent_Action.ACQUIRED, revision: 11n };
      const expired = { action: LockEvent_Action.RELEASED, reason: LockEvent_Reason.EXPIRED, revision: 12n };
      stream.send({ events: [acquired, { ...hold, ...expired, rw: true, mode: RWMode.WRITE }], revision: 12n });
    };
  });

  afterEach(() => member.stop());

  function quoinctl(...parameters: string[]): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" };
    return runProgram(run, new FakeRuntime(), ["watch", ...parameters], { environment });
  }

  it("prints changes of keys, one per line, up to the limit", async () => {
    expect(await quoinctl("keys", "n/p/*", "--from-revision", "11", "--prev", "--limit", "3")).to.include({
      code: 0,
      out: ["11  PUT       p/a  one\\ntwo  (before: old)", "13  DELETE    p/b", "13  EXPIRE    p/c\n"].join("\n"),
      err: "watching n/p/* from revision 11 on\n",
    });
    expect(member.calls[0]?.request).to.deep.include({
      namespace: "n",
      prefix: "p/",
      startRevision: 11n,
      includePrevious: true,
      keysOnly: false,
    });
  });

  it("prints JSON lines and YAML documents, and nothing else", async () => {
    const { out, err } = await quoinctl("keys", "n", "-o", "json", "--limit", "2");
    expect(err).to.equal("");
    const history = { create_revision: 1, version: 1, expires_in_ms: 0 };
    const documents = [
      {
        namespace: "n",
        type: "PUT",
        kv: { key: "p/a", value: "b25lCnR3bw==", value_text: "one\ntwo", ...history, mod_revision: 11 },
        previous: { key: "p/a", value: "b2xk", value_text: "old", ...history, mod_revision: 9 },
      },
      {
        namespace: "n",
        type: "DELETE",
        kv: { key: "p/b", value: "dg==", value_text: "v", ...history, mod_revision: 13 },
      },
    ];
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).to.deep.equal(documents);
    const yaml = await quoinctl("keys", "n", "-o", "yaml", "--limit", "2");
    expect(parseAllDocuments(yaml.out).map((document) => document.toJS())).to.deep.equal(documents);
  });

  it("prints only one key or lock without an asterisk, and says so", async () => {
    expect(await quoinctl("keys", "n/p/b", "--limit", "1")).to.include({
      code: 0,
      out: "13  DELETE    p/b\n",
      err: "watching only n/p/b from revision 11 on\n",
    });
    expect(member.calls[0]?.request).to.include({ key: "p/b", prefix: "" });
    expect((await quoinctl("locks", "n/l", "--limit", "2")).out).to.include("12  RELEASED  l");
    member.streams.watchKeys = (_request, stream) => {
      stream.send({ created: true, revision: 10n });
      for (const key of ["p", "p/", "p/*", "p/*x"]) {
        stream.send({ events: [{ type: KeyEvent_Type.DELETE, kv: { key, modRevision: 11n } }], revision: 11n });
      }
    };
    const starred = await quoinctl("keys", "n/p/\\*", "--limit", "1");
    expect(starred).to.include({ out: "11  DELETE    p/*\n", err: "watching only n/p/* from revision 11 on\n" });
    const below = await quoinctl("keys", "n/p/", "--limit", "1");
    expect(below.out).to.equal("11  DELETE    p/\n");
    expect(below.err).to.equal("watching only n/p/ (to watch all below it: 'n/p/*') from revision 11 on\n");
    expect((await quoinctl("keys", "n", "--limit", "1")).err).to.equal("watching all of n from revision 11 on\n");
  });

  it("omits values", async () => {
    const { out } = await quoinctl("keys", "n", "--keys-only", "--limit", "1", "-o", "json");
    expect(JSON.parse(out).kv).to.not.have.property("value");
    expect((await quoinctl("keys", "n", "--keys-only", "--limit", "1")).out).to.equal(
      "11  PUT       p/a  (before: 9)\n",
    );
    expect(member.calls[0]?.request).to.include({ keysOnly: true });
  });

  it("prints changes of locks", async () => {
    expect((await quoinctl("locks", "n/l*", "--limit", "2")).out).to.equal(
      "11  ACQUIRED  l  token 11  me\n12  RELEASED  l  token 11  me  WRITE  EXPIRED\n",
    );
    expect(member.calls[0]?.request).to.include({ namespace: "n", namePrefix: "l", startRevision: 0n });
    const { out } = await quoinctl("locks", "n", "--limit", "2", "-o", "json");
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))[1],
    ).to.deep.equal({
      namespace: "n",
      lock_key: "l",
      rw: true,
      action: "RELEASED",
      reason: "EXPIRED",
      mode: "WRITE",
      owner: "me",
      fencing_token: 11,
      revision: 12,
    });
  });

  it("names the next step if the history is gone", async () => {
    member.streams.watchKeys = () => refuse({ code: "OUT_OF_RANGE", reason: "COMPACTED", message: "too old" });
    const { code, err } = await quoinctl("keys", "n", "--from-revision", "1");
    expect(code).to.equal(1);
    expect(err).to.match(/^quoinctl: too old \(COMPACTED\)\nhint: list the current state/);
  });
});
