import { expect } from "chai";
import { answerInTurn, FakeRuntime, failure, ScriptedHttpMember, type StatusAndBody } from "../../test/index.ts";
import { type Client, createClient, type UserInfo } from "../index.ts";

const ID = "11111111-2222-4333-8444-555555555555";
const SENT = {
  user_id: ID,
  email: "ada@example.com",
  role: "member",
  namespaces: ["a"],
  status: "unverified",
  created_at: "2030-01-01T00:00:00.000Z",
};
const USER: UserInfo = {
  userId: ID,
  email: "ada@example.com",
  role: "member",
  namespaces: ["a"],
  status: "unverified",
  createdAtMs: Date.parse("2030-01-01"),
};
const UNKNOWN: StatusAndBody = [504, { error: "who knows", code: "timeout" }];

describe("users of the SDK", () => {
  let member: ScriptedHttpMember;
  let client: Client;
  let answers: StatusAndBody[];

  beforeEach(async () => {
    member = await ScriptedHttpMember.start((...call) => answerInTurn(answers)(...call));
    const options = { endpoints: ["127.0.0.1:1"], httpEndpoints: [member.url], credentials: { token: "t" } };
    client = createClient({ ...options, runtime: new FakeRuntime() });
  });

  afterEach(async () => {
    client.close();
    await member.stop();
  });

  /** The requests: method and path, and the body if there is one. */
  const asked = () =>
    member.requests.map(({ method, path, body }) => [
      `${method} ${path}`,
      ...(body.length === 0 ? [] : [JSON.parse(body.toString())]),
    ]);

  it("are created and described", async () => {
    answers = [[201, SENT]];
    const wanted = { role: "member", namespaces: ["a"] } as const;
    expect(await client.users.create("ada@example.com", wanted)).to.deep.equal(USER);
    expect(await client.users.get(ID)).to.deep.equal(USER);
    answers = [UNKNOWN];
    const unknown = await failure(client.users.create("ada@example.com", { ...wanted, password: "correct horse" }));
    expect(unknown).to.include({ code: "DEADLINE_EXCEEDED", outcome: "unknown" });
    expect(asked()).to.deep.equal([
      ["POST /users", { email: "ada@example.com", ...wanted }],
      [`GET /users/${ID}`],
      ["POST /users", { email: "ada@example.com", ...wanted, password: "correct horse" }],
    ]);
  });

  it("are listed page by page", async () => {
    answers = [
      [200, { users: [SENT], next_cursor: "a=" }],
      [200, { users: [SENT], next_cursor: null }],
    ];
    expect(await Array.fromAsync(client.users.pages())).to.deep.equal([[USER], [USER]]);
    expect(asked()).to.deep.equal([["GET /users?limit=100"], ["GET /users?limit=100&cursor=a%3D"]]);
  });

  it("are changed in the given fields, also if the outcome of the first attempt is unknown", async () => {
    answers = [UNKNOWN, [200, { ...SENT, status: "disabled" }]];
    expect((await client.users.update(ID, { status: "disabled" })).status).to.equal("disabled");
    answers = [[409, { error: "the last one", code: "last_owner" }]];
    const refused = await failure(client.users.update(ID, { role: "viewer", namespaces: [] }));
    expect(refused).to.include({ code: "FAILED_PRECONDITION", reason: "LAST_OWNER", outcome: "not-executed" });
    expect(asked()).to.deep.equal([
      [`PATCH /users/${ID}`, { status: "disabled" }],
      [`PATCH /users/${ID}`, { status: "disabled" }],
      [`PATCH /users/${ID}`, { role: "viewer", namespaces: [] }],
    ]);
  });

  it("are deleted, once", async () => {
    answers = [[200, { user_id: ID, deleted: true }]];
    await client.users.delete("a/b");
    answers = [UNKNOWN];
    expect(await failure(client.users.delete(ID))).to.include({ outcome: "unknown" });
    expect(asked()).to.deep.equal([["DELETE /users/a%2Fb"], [`DELETE /users/${ID}`]]);
  });
});
