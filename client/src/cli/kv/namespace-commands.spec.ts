import { expect } from "chai";
import {
  FakeRuntime,
  type ProgramInput,
  type ProgramRun,
  refuse,
  runProgram,
  ScriptedMember,
} from "../../../test/index.ts";
import { run } from "../index.ts";

describe("quoinctl namespace list", () => {
  let member: ScriptedMember;

  beforeEach(async () => {
    member = await ScriptedMember.start({
      listNamespaces: ({ pageToken }) =>
        pageToken === ""
          ? {
              namespaces: [
                {
                  name: "default",
                  createRevision: 1n,
                  quotas: [
                    { name: "keys", used: 3n, limit: 10n },
                    { name: "memory_bytes", used: 5n, limit: 6n },
                  ],
                },
              ],
              nextPageToken: "more",
            }
          : { namespaces: [{ name: "team-a", createdAtMs: 1_000n, createRevision: 7n }] },
    });
  });

  afterEach(() => member.stop());

  function quoinctl(...parameters: readonly string[]): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" };
    return runProgram(run, new FakeRuntime(), ["namespace", "list", ...parameters], { environment });
  }

  it("prints all pages, with the use of quotas", async () => {
    expect(await quoinctl()).to.include({
      code: 0,
      out:
        "NAMESPACE  CREATED                   KEYS     BYTES  LOCKS  EVENT LOGS\n" +
        "default    1970-01-01T00:00:00.000Z  3 of 10  -      -      -\n" +
        "team-a     1970-01-01T00:00:01.000Z  -        -      -      -\n",
      err: "",
    });
    expect(member.calls.map(({ request }) => request)).to.have.lengthOf(2);
  });

  it("prints every quota in JSON", async () => {
    const { namespaces } = JSON.parse((await quoinctl("-o", "json")).out);
    expect(namespaces).to.deep.equal([
      {
        name: "default",
        created_at_ms: 0,
        create_revision: 1,
        quotas: [
          { name: "keys", used: 3, limit: 10 },
          { name: "memory_bytes", used: 5, limit: 6 },
        ],
        deleting: false,
      },
      { name: "team-a", created_at_ms: 1_000, create_revision: 7, quotas: [], deleting: false },
    ]);
  });

  it("sends the prefix, and reports a refusal", async () => {
    member.scripts.listNamespaces = ({ prefix }) => ({ namespaces: [{ name: `${prefix}a` }] });
    expect((await quoinctl("team-")).out).to.include("team-a");
    member.scripts.listNamespaces = () =>
      refuse({ code: "PERMISSION_DENIED", reason: "NO_ACCESS", message: "no access" });
    expect(await quoinctl()).to.deep.include({ code: 1, out: "" });
  });
});

describe("quoinctl namespace delete", () => {
  let member: ScriptedMember;
  let answers: object[][];

  beforeEach(async () => {
    answers = [];
    member = await ScriptedMember.start({
      deleteNamespace: () => ({ revision: 9n }),
      listNamespaces: () => ({ namespaces: answers.shift() ?? [] }),
    });
  });

  afterEach(() => member.stop());

  function quoinctl(parameters: readonly string[], input: ProgramInput = {}): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" };
    return runProgram(run, new FakeRuntime(), ["namespace", ...parameters], { environment, ...input });
  }

  function left(...quotas: readonly (readonly [string, number])[]) {
    return [{ name: "a", deleting: true, quotas: quotas.map(([name, used]) => ({ name, used: BigInt(used) })) }];
  }

  it("waits until nothing is left, and shows on a terminal what is", async () => {
    answers = [
      left(["keys", 2], ["locks", 1], ["event_logs", 1], ["memory_regions", 3]),
      left(["event_bytes", 2048]),
      left(["keys", 0]),
    ];
    const { code, out, err } = await quoinctl(["delete", "a", "--recursive"], { isTTY: true });
    expect(code).to.equal(0);
    expect(out).to.include("a          true     9\n");
    expect(err).to.include("1 lock, 2 keys, 3 memory regions, 1 event log left");
    expect(err).to.include("2.0 KiB of events left").and.to.include("its history left");
    const [first] = member.calls;
    expect(first?.request).to.deep.equal({ namespace: "a", recursive: true });
    expect(member.calls).to.have.lengthOf(5);
  });

  it("does not wait with --no-wait, and tells how to", async () => {
    const { out } = await quoinctl(["delete", "a", "--no-wait", "-o", "json"]);
    expect(JSON.parse(out)).to.deep.equal({ namespace: "a", deleted: false, revision: 9 });
    expect((await quoinctl(["delete", "a", "--no-wait"])).err).to.include("quoinctl namespace delete a");
    expect(member.calls).to.have.lengthOf(2);
    expect(member.request).to.deep.equal({ namespace: "a", recursive: false });
  });

  it("reports a refusal, and that a deletion goes on whose end is not seen", async () => {
    member.scripts.listNamespaces = () => refuse({ code: "PERMISSION_DENIED", reason: "ACCESS_DENIED" });
    const unseen = await quoinctl(["delete", "a"]);
    expect(unseen.code).to.equal(1);
    expect(unseen.err).to.include("its deletion goes on");
    member.scripts.deleteNamespace = () =>
      refuse({ code: "FAILED_PRECONDITION", reason: "NOT_EMPTY", message: "it has 1 keys" });
    const refused = await quoinctl(["delete", "a"]);
    expect([refused.code, refused.out]).to.deep.equal([1, ""]);
    expect(refused.err).to.include("it has 1 keys").and.not.to.include("goes on");
  });

  it("marks in a list what is being deleted", async () => {
    answers = [left(["keys", 2])];
    expect((await quoinctl(["list"])).out).to.include("a (being deleted)");
  });
});
