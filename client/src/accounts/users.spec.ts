import { UserRole, UserStatus } from "@quoin/proto";
import { expect } from "chai";
import { FakeRuntime, failure, refuse, ScriptedMember } from "../../test/index.ts";
import { type Client, createClient, type UserInfo } from "../index.ts";

const ID = "11111111-2222-4333-8444-555555555555";
const SENT = {
  userId: ID,
  email: "ada@example.com",
  role: UserRole.MEMBER,
  namespaces: ["a"],
  status: UserStatus.UNVERIFIED,
  createdAtMs: 1_000n,
};
const USER: UserInfo = {
  userId: ID,
  email: "ada@example.com",
  role: "member",
  namespaces: ["a"],
  status: "unverified",
  createdAtMs: 1_000,
};
const UNKNOWN = { code: "UNAVAILABLE", outcome: "unknown" } as const;

describe("users of the SDK", () => {
  let member: ScriptedMember;
  let client: Client;

  beforeEach(async () => {
    member = await ScriptedMember.start();
    const runtime = new FakeRuntime();
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" }, runtime });
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  const asked = () => member.calls.map(({ method, request }) => [method, request]);

  /** Answers the first attempt with an unknown outcome. */
  function afterUnknown<Answer>(answer: Answer): () => Answer {
    let attempts = 0;
    return () => {
      attempts += 1;
      return attempts === 1 ? refuse(UNKNOWN) : answer;
    };
  }

  it("are created and described, also if the outcome of the first attempt is unknown", async () => {
    member.scripts = { createUser: afterUnknown({ user: SENT }), getUser: () => ({ user: SENT }) };
    const wanted = { role: "member", namespaces: ["a"] } as const;
    expect(await client.users.create("ada@example.com", wanted)).to.deep.equal(USER);
    expect(await client.users.get(ID)).to.deep.equal(USER);
    const requestId = "0123abcd-0000-7000-8000-00000000000f";
    await client.users.create("ada@example.com", { ...wanted, password: "correct horse" }, { requestId });
    const made = { email: "ada@example.com", role: 2, namespaces: ["a"] };
    expect(asked()).to.deep.equal([
      ["createUser", { ...made, password: undefined }],
      ["createUser", { ...made, password: undefined }],
      ["getUser", { userId: ID }],
      ["createUser", { ...made, password: "correct horse" }],
    ]);
    const ids = member.callsOf("createUser").map((call) => call.requestId[0]);
    expect([ids[0] === ids[1], ids[2]]).to.deep.equal([true, requestId]);
  });

  it("are listed page by page", async () => {
    member.scripts = { listUsers: ({ pageToken }) => ({ users: [SENT], nextPageToken: pageToken === "" ? "a" : "" }) };
    expect(await Array.fromAsync(client.users.pages())).to.deep.equal([[USER], [USER]]);
    await client.users.pages({ pageSize: 5 }).next();
    expect(asked()).to.deep.equal([
      ["listUsers", { pageSize: 0, pageToken: "" }],
      ["listUsers", { pageSize: 0, pageToken: "a" }],
      ["listUsers", { pageSize: 5, pageToken: "" }],
    ]);
    expect((await failure(client.users.pages({ pageSize: 0 }).next())).message).to.equal(
      "pageSize must be 1 or more, not 0",
    );
  });

  it("are changed in the given fields, also if the outcome of the first attempt is unknown", async () => {
    member.scripts = { updateUser: afterUnknown({ user: { ...SENT, status: 3 } }) };
    expect((await client.users.update(ID, { status: "disabled" })).status).to.equal("disabled");
    member.scripts = { updateUser: () => refuse({ code: "FAILED_PRECONDITION", reason: "LAST_OWNER" }) };
    const refused = await failure(client.users.update(ID, { role: "viewer", namespaces: [] }));
    expect(refused).to.include({ code: "FAILED_PRECONDITION", reason: "LAST_OWNER", outcome: "not-executed" });
    const unchanged = {
      userId: ID,
      password: undefined,
      currentPassword: undefined,
      role: 0,
      namespaces: undefined,
      status: 0,
    };
    expect(asked()).to.deep.equal([
      ["updateUser", { ...unchanged, status: 3 }],
      ["updateUser", { ...unchanged, status: 3 }],
      ["updateUser", { ...unchanged, role: 1, namespaces: { names: [] } }],
    ]);
  });

  it("are deleted, also if the outcome of the first attempt is unknown", async () => {
    member.scripts = { deleteUser: afterUnknown({}) };
    await client.users.delete(ID);
    expect(asked()).to.deep.equal(Array(2).fill(["deleteUser", { userId: ID }]));
  });

  it("have the number of a role and a status that this release does not know", async () => {
    member.scripts = { getUser: () => ({ user: { ...SENT, role: 77 as never, status: 78 as never } }) };
    expect(await client.users.get(ID)).to.include({ role: "77", status: "78" });
    member.scripts = { getUser: () => ({}) };
    expect(await failure(client.users.get(ID))).to.include({ code: "INTERNAL" });
  });
});
