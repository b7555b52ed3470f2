import { expect } from "chai";
import { FakeRuntime, type ProgramRun, refuse, runProgram, ScriptedMember } from "../../../test/index.ts";
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
      },
      { name: "team-a", created_at_ms: 1_000, create_revision: 7, quotas: [] },
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
