import { expect } from "chai";
import { ScriptedMember } from "../test/index.ts";
import { type AdminClient, type Client, createAdminClient, createClient, QuoinError } from "./index.ts";

describe("calls that show the inside of a cluster", () => {
  let member: ScriptedMember;
  let client: Client;
  let admin: AdminClient;

  beforeEach(async () => {
    member = await ScriptedMember.start();
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" } });
    admin = createAdminClient({ endpoint: member.endpoint, credentials: { token: "t" } });
  });

  afterEach(() => {
    client.close();
    admin.close();
    member.stop();
  });

  /** The field that the SDK refuses before it sends anything. */
  async function refusedField(work: Promise<unknown>): Promise<string | undefined> {
    const before = member.calls.length;
    const error = await work.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(QuoinError);
    expect(member.calls.length).to.equal(before);
    return (error as QuoinError).details.get("field");
  }

  it("list the versions of a key, with the names of the changes", async () => {
    const kv = { key: "k", value: Buffer.from("v"), createRevision: 1n, modRevision: 2n, version: 2n, expiresInMs: 0n };
    member.scripts.listKeyVersions = () => ({
      versions: [
        { type: 2, kv, ageMs: 5n },
        { type: 77 as 1, kv },
      ],
      nextPageToken: "next",
      searchedRevision: 2n,
      compactRevision: 1n,
      revision: 9n,
    });
    const page = await client.keyValue.versions("n", "k", { pageSize: 2, pageToken: "p", keysOnly: true });
    expect(page).to.deep.include({ nextPageToken: "next", searchedRevision: 2, compactRevision: 1, revision: 9 });
    expect(page.versions.map(({ type, ageMs }) => [type, ageMs])).to.deep.equal([
      ["DELETE", 5],
      ["77", undefined],
    ]);
    expect(page.versions[0]?.kv).to.deep.include({ key: "k", modRevision: 2 });
    const fields = { pageSize: 2, pageToken: "p", keysOnly: true, consistency: 0 };
    expect(member.request).to.deep.equal({ namespace: "n", key: "k", ...fields });
    expect(await refusedField(client.keyValue.versions("n", "k", { pageSize: 0.5 }))).to.equal("pageSize");
  });

  it("list the open streams of a member, with the names of their kinds", async () => {
    member.scripts.listStreams = () => ({
      streams: [{ id: "3", kind: 3, logId: "l", userId: "u", behind: 4n, sending: true }],
      memberId: "2",
      revision: 9n,
    });
    const page = await client.watch.streams({ namespace: "n", memberId: "2", pageSize: 7 });
    expect(page).to.deep.include({ nextPageToken: "", memberId: "2", revision: 9 });
    expect(page.streams[0]).to.include({ id: "3", kind: "EVENTS", logId: "l", userId: "u", behind: 4, sending: true });
    expect(member.request).to.deep.equal({ namespace: "n", memberId: "2", pageSize: 7, pageToken: "" });
    const unknown = { memberID: "2" } as object;
    expect(await refusedField(client.watch.streams(unknown))).to.equal("memberID");
  });

  it("return the counters of members, also of one that did not answer", async () => {
    const requests = [{ kind: 2 as const, ok: 5, refused: 1, failed: 0, p50Us: 900n, p99Us: 4_000n }];
    member.scripts.getMemberCounters = () => ({
      members: [
        { id: "1", name: "a", status: { id: "1", state: 3, role: 1 }, samples: [{ atMs: 5n, role: 2, requests }] },
        { id: "2", name: "b", problem: "away" },
      ],
      answeredBy: "1",
    });
    const { members, answeredBy } = await admin.memberCounters({ ids: ["1", "2"], windowSeconds: 60 });
    expect(answeredBy).to.equal("1");
    const [first, second] = members;
    expect(first?.status).to.include({ state: "RUNNING", role: "LEADER" });
    expect(first?.samples[0]).to.deep.include({ atMs: 5, role: "FOLLOWER", loopDelayUs: 0 });
    expect(first?.samples[0]?.requests).to.deep.equal([
      { kind: "KEY_WRITE", ok: 5, refused: 1, failed: 0, p50Us: 900, p99Us: 4_000 },
    ]);
    expect(second).to.deep.equal({ id: "2", name: "b", problem: "away", status: undefined, samples: [] });
    expect(member.request).to.deep.equal({ ids: ["1", "2"], windowSeconds: 60 });
    expect(await refusedField(admin.memberCounters({ windowSeconds: 0.5 }))).to.equal("windowSeconds");
  });

  it("return the settings", async () => {
    const setting = { name: "token.lifetime_secs", value: "", defaultValue: "3600" };
    member.scripts.getSettings = () => ({ settings: [{ ...setting, min: 1n, max: 9n }], settingsRevision: 4n });
    expect(await admin.settings()).to.deep.equal({ settings: [{ ...setting, min: 1, max: 9 }], settingsRevision: 4 });
  });
});
