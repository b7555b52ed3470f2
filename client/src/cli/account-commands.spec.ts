import { execFileSync } from "node:child_process";
import { lstat, open, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import {
  answerInTurn,
  FakeRuntime,
  type ProgramInput,
  type ProgramRun,
  refuse,
  runProgram,
  ScriptedHttpMember,
  ScriptedMember,
  type StatusAndBody,
  withTemporaryDirectory,
} from "../../test/index.ts";
import { run } from "./program.ts";

const ID = "11111111-2222-4333-8444-555555555555";
const KEY = {
  api_key_id: ID,
  name: "ci\u001b[2J",
  key: "qk_1",
  created_at: "2030-01-01T00:00:00.000Z",
  expires_at: null,
};
const USER = {
  user_id: ID,
  email: "ada@example.com",
  role: "member",
  namespaces: ["a", "b"],
  status: "active",
  created_at: "2030-01-01T00:00:00.000Z",
};
const COUNTED = { requests: 7, events_appended: 3, bytes_stored: null, memory_bytes: 9 };
const USAGE = {
  period: { start: "2030-01-01T00:00:00.000Z", end: "2030-02-01T00:00:00.000Z" },
  totals: COUNTED,
  buckets: [{ start: "2030-01-05T00:00:00.000Z", ...COUNTED }],
  by_key: [],
  namespaces: [
    {
      namespace: "team-a",
      quotas: Object.fromEntries(
        ["bytes", "keys", "locks", "memory_bytes", "memory_regions", "event_bytes", "event_logs"].map((quota, at) => [
          quota,
          { used: at, limit: 10 + at },
        ]),
      ),
    },
  ],
  limits: { requests_per_minute: 60 },
  as_of: "2030-02-01T00:00:00.000Z",
};
const NO_PAGE = { next_cursor: null };

describe("quoinctl and accounts", () => {
  let service: ScriptedHttpMember;
  /** The answers to the next requests, in order. */
  let answers: StatusAndBody[];

  beforeEach(async () => {
    answers = [[200, {}]];
    service = await ScriptedHttpMember.start((...call) => answerInTurn(answers)(...call));
  });

  afterEach(() => service.stop());

  /** Runs a command in this process against the scripted interface. */
  function quoinctl(parameters: readonly string[], input: ProgramInput = {}): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: "127.0.0.1:1", QUOIN_HTTP_ENDPOINTS: service.url, QUOIN_TOKEN: "t" };
    return runProgram(run, new FakeRuntime(), parameters, { environment, ...input });
  }

  const lines = () => service.requests.map(({ method, path: asked }) => `${method} ${asked}`);

  async function sent(answer: object, parameters: readonly string[]): Promise<unknown[]> {
    answers = [[200, answer]];
    expect(await quoinctl(parameters), parameters.join(" ")).to.include({ code: 0, err: "" });
    const { body } = service.requests.at(-1) ?? expect.fail("nothing was asked");
    return body.length === 0 ? [lines().at(-1)] : [lines().at(-1), JSON.parse(body.toString())];
  }

  it("sends the request of each command, with the token", async () => {
    const none = { keys: [], users: [], ...NO_PAGE };
    for (const [parameters, answer, expected] of [
      [["key", "create", "ci"], KEY, ["POST /keys", { name: "ci" }]],
      [["key", "create", "ci", "--expires-in-days", "7"], KEY, ["POST /keys", { name: "ci", expires_in_days: 7 }]],
      [["key", "list"], none, ["GET /keys?limit=1000"]],
      [["key", "list", "--all", "--revoked"], none, ["GET /keys?limit=1000&all=true&include_revoked=true"]],
      [["key", "list", "--user", ID], none, [`GET /keys?limit=1000&user_id=${ID}`]],
      [["key", "revoke", ID], { api_key_id: ID, revoked_at: USER.created_at }, [`DELETE /keys/${ID}`]],
      [
        ["user", "create", "a@b", "--namespaces", "x,y"],
        USER,
        ["POST /users", { email: "a@b", role: "member", namespaces: ["x", "y"] }],
      ],
      [["user", "list"], none, ["GET /users?limit=1000"]],
      [["user", "describe", ID], USER, [`GET /users/${ID}`]],
      [["user", "update", ID, "--role", "viewer"], USER, [`PATCH /users/${ID}`, { role: "viewer" }]],
      [["user", "update", ID, "--status", "disabled"], USER, [`PATCH /users/${ID}`, { status: "disabled" }]],
      [["user", "delete", ID], { user_id: ID, deleted: true }, [`DELETE /users/${ID}`]],
      [["usage"], USAGE, ["GET /billing/usage?granularity=day"]],
      [
        ["usage", "--from", "2030-01-01", "--to", "2030-01-02", "--by", "hour"],
        USAGE,
        ["GET /billing/usage?granularity=hour&from=2030-01-01&to=2030-01-02"],
      ],
      [["usage", "--by", "namespace"], USAGE, ["GET /billing/usage?granularity=day"]],
    ] as const) {
      expect(await sent(answer, parameters), parameters.join(" ")).to.deep.equal(expected);
    }
    expect(new Set(service.requests.map(({ headers }) => headers.authorization))).to.deep.equal(new Set(["Bearer t"]));
  });

  it("says whose credentials these are, and what they allow", async () => {
    const claims = { sub: ID, access: ["read"], namespaces: ["a"], exp: 1_893_456_000, key_id: "k-1" };
    const token = `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;
    answers = [[200, USER]];
    const environment = { QUOIN_ENDPOINTS: "h:1", QUOIN_HTTP_ENDPOINTS: service.url, QUOIN_TOKEN: token };
    const { out } = await quoinctl(["whoami", "-o", "json"], { environment });
    expect(JSON.parse(out)).to.deep.equal({
      user_id: ID,
      email: "ada@example.com",
      role: "member",
      access: ["read"],
      namespaces: ["a"],
      api_key_id: "k-1",
      expires_at: "2030-01-01T00:00:00.000Z",
      endpoints: ["h:1"],
    });
    expect(lines()).to.deep.equal([`GET /users/${ID}`]);
    const { code, err } = await quoinctl(["whoami"]);
    expect([code, err.includes("the token is none of Quoin")]).to.deep.equal([2, true]);
  });

  it("changes the user's own password with the current one, each from a file", () =>
    withTemporaryDirectory(async (directory) => {
      const [next, current] = [path.join(directory, "next"), path.join(directory, "current")];
      await writeFile(next, "another horse\n");
      await writeFile(current, " correct horse \r\n");
      const parameters = ["user", "update", ID, "--password-file", next, "--current-password-file", current];
      expect(await sent(USER, parameters)).to.deep.equal([
        `PATCH /users/${ID}`,
        { password: "another horse", current_password: " correct horse " },
      ]);
      answers = [[400, { error: "current_password is not your password", code: "invalid_request" }]];
      const refused = await quoinctl(parameters);
      expect([refused.code, refused.out]).to.deep.equal([2, ""]);
      expect(refused.err).to.include("current_password is not your password").and.not.include("correct horse");

      answers = [
        [503, { error: "no leader", code: "unavailable" }],
        [504, { error: "late", code: "timeout" }],
        [200, USER],
      ];
      const before = service.requests.length;
      const unknown = await quoinctl(parameters);
      expect(unknown.code).to.equal(3);
      expect(unknown.err).to.include("late");
      expect(service.requests.length - before, "a request that may have been executed is not sent again").to.equal(2);

      const asked = service.requests.length;
      const absent = path.join(directory, "absent");
      const missing = await quoinctl([
        "user",
        "update",
        ID,
        "--password-file",
        next,
        "--current-password-file",
        absent,
      ]);
      expect([missing.code, missing.out]).to.deep.equal([2, ""]);
      expect(missing.err).to.include(absent);
      expect(service.requests.length, "nothing is sent without the file").to.equal(asked);
    }));

  it("prints the answer, as a table without control characters, or in full", async () => {
    answers = [[201, KEY]];
    expect((await quoinctl(["key", "create", "ci"])).out).to.equal(
      `API KEY ID                            NAME         KEY   EXPIRES AT\n${ID}  ci\\u{1b}[2J  qk_1  -\n`,
    );
    expect(JSON.parse((await quoinctl(["key", "create", "ci", "-o", "json"])).out)).to.deep.equal({
      api_key_id: ID,
      name: KEY.name,
      key: "qk_1",
      created_at: KEY.created_at,
      expires_at: null,
    });
    answers = [[200, USER]];
    expect((await quoinctl(["user", "describe", ID])).out)
      .to.include("ada@example.com")
      .and.include("a,b")
      .and.include(USER.created_at);
    answers = [[200, USAGE]];
    expect((await quoinctl(["usage"])).out).to.match(
      /^START .* BYTES STORED +MEMORY BYTES\n2030-01-05T00:00:00.000Z +7 +3 .* - +9\n$/,
    );
    const { totals, buckets, ...rest } = JSON.parse((await quoinctl(["usage", "-o", "json"])).out);
    expect((await quoinctl(["usage", "--by", "namespace"])).out).to.match(
      /^NAMESPACE +BYTES +KEYS .* EVENT LOGS\nteam-a +0 B of 10 B +1 of 11 .* 6 of 16\n$/,
    );
    expect([totals.events_appended, buckets[0].start]).to.deep.equal([3, "2030-01-05T00:00:00.000Z"]);
    const { period, by_key, namespaces, limits, as_of } = USAGE;
    expect(rest, "the names and the form of HTTP").to.deep.equal({ period, by_key, namespaces, limits, as_of });
    expect([totals.bytes_stored, buckets[0].bytes_stored]).to.deep.equal([null, null]);
  });

  it("reads listings to their end", async () => {
    answers = [
      [200, { users: [USER], next_cursor: "more=" }],
      [200, { users: [{ ...USER, email: "eve@example.com" }], next_cursor: null }],
    ];
    const { out } = await quoinctl(["user", "list", "-o", "json"]);
    expect(JSON.parse(out).users.map(({ email }: typeof USER) => email)).to.deep.equal([
      ...["ada@example.com", "eve@example.com"],
    ]);
    expect(lines()).to.deep.equal(["GET /users?limit=1000", "GET /users?limit=1000&cursor=more%3D"]);
  });

  it("finds users by e-mail address, and API keys by name or prefix", async () => {
    const other = { ...USER, user_id: "22222222-2222-4333-8444-555555555555", email: "eve@example.com" };
    const users = [200, { users: [other, USER], ...NO_PAGE }] as const;
    for (const [parameters, answer, expected] of [
      [["user", "describe", "Ada@example.com"], USER, `GET /users/${ID}`],
      [["user", "update", "ada@example.com", "--role", "viewer"], USER, `PATCH /users/${ID}`],
      [["user", "delete", "ada@example.com"], { user_id: ID, deleted: true }, `DELETE /users/${ID}`],
      [["key", "list", "--user", "ada@example.com"], { keys: [], ...NO_PAGE }, `GET /keys?limit=1000&user_id=${ID}`],
    ] as const) {
      answers = [users, [200, answer]];
      expect((await quoinctl(parameters)).code, parameters.join(" ")).to.equal(0);
      expect(lines().slice(-2), parameters.join(" ")).to.deep.equal(["GET /users?limit=1000", expected]);
    }
    answers = [users];
    const absent = await quoinctl(["user", "describe", "nowhere@example.com"]);
    expect([absent.code, absent.err]).to.deep.equal([
      1,
      'quoinctl: there is no user "nowhere@example.com" (USER_NOT_FOUND)\n',
    ]);

    const named = { ...KEY, name: "ci", key_prefix: "qk_1" };
    const twin = { ...named, api_key_id: other.user_id, key_prefix: "qk_2" };
    const revoked = [200, { api_key_id: ID, revoked: true, revoked_at: USER.created_at }] as const;
    for (const text of ["ci", "qk_1"]) {
      answers = [[200, { keys: [named], ...NO_PAGE }], revoked];
      expect((await quoinctl(["key", "revoke", text])).code).to.equal(0);
      expect(lines().slice(-2)).to.deep.equal(["GET /keys?limit=1000", `DELETE /keys/${ID}`]);
    }
    answers = [[200, { keys: [], ...NO_PAGE }], [200, { keys: [twin, named], ...NO_PAGE }], revoked];
    expect((await quoinctl(["key", "revoke", "qk_1"])).code).to.equal(0);
    expect(lines().slice(-2), "then those of other users").to.deep.equal([
      "GET /keys?limit=1000&all=true",
      `DELETE /keys/${ID}`,
    ]);
    answers = [
      [200, { keys: [], ...NO_PAGE }],
      [403, { error: "no", code: "insufficient_role" }],
    ];
    expect((await quoinctl(["key", "revoke", "ci"])).err).to.equal(
      'quoinctl: there is no API key "ci" (KEY_NOT_FOUND)\n',
    );
  });

  it("refuses a name that several API keys have, and lists them", async () => {
    const twins = ["qk_1", "qk_2"].map((key_prefix) => ({
      ...KEY,
      api_key_id: `id of ${key_prefix}`,
      name: "ci",
      key_prefix,
    }));
    answers = [[200, { keys: twins, ...NO_PAGE }]];
    const { code, err } = await quoinctl(["key", "revoke", "ci"]);
    expect([code, err]).to.deep.equal([
      2,
      'quoinctl: 2 API keys are called "ci": name one of them\n' +
        `hint: id of qk_1 (qk_1, created ${KEY.created_at}), id of qk_2 (qk_2, created ${KEY.created_at})\n`,
    ]);
    expect(lines(), "nothing is revoked").to.deep.equal(["GET /keys?limit=1000"]);
  });

  it("warn of namespaces of a user that do not exist, if the caller may know", async () => {
    const existing = ["a", "a-longer", "b"];
    const member = await ScriptedMember.start({
      listNamespaces: ({ prefix, pageSize }) => ({
        namespaces: existing
          .filter((name) => name.startsWith(prefix))
          .slice(0, pageSize)
          .map((name) => ({ name })),
      }),
    });
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_HTTP_ENDPOINTS: service.url, QUOIN_TOKEN: "t" };
    const errorsOf = async (...words: string[]) => {
      const { code, err } = await quoinctl(["user", ...words, "-o", "json"], { environment });
      expect(code).to.equal(0);
      return err;
    };
    answers = [[200, USER]];
    try {
      const created = await errorsOf("create", "a@b", "--namespaces", "a,a-long,*");
      expect(created).to.equal(
        "warning: namespace a-long does not exist yet; create it with: quoinctl namespace create a-long\n",
      );
      const changed = await errorsOf("update", ID, "--namespaces", "b,team");
      expect(changed).to.match(/^warning: namespace team does not exist yet; .*\n$/);
      expect(await errorsOf("update", ID, "--role", "viewer")).to.equal("");
      member.scripts.listNamespaces = () => refuse({ code: "PERMISSION_DENIED", reason: "ACCESS_DENIED" });
      expect(await errorsOf("create", "a@b", "--namespaces", "team")).to.equal("");
    } finally {
      member.stop();
    }
  });

  it("prints the reason of a refusal, with the exit code", async () => {
    for (const [status, code, exitCode, reason] of [
      [403, "insufficient_role", 1, "ACCESS_DENIED"],
      [404, "user_not_found", 1, "USER_NOT_FOUND"],
      [409, "last_owner", 1, "LAST_OWNER"],
      [503, "unavailable", 3, "UNAVAILABLE"],
      [504, "timeout", 3, "DEADLINE"],
    ] as const) {
      answers = [[status, { error: "because", code }]];
      const { code: ended, err, out } = await quoinctl(["user", "delete", ID]);
      expect([ended, out]).to.deep.equal([exitCode, ""]);
      expect(err).to.include(`because (${reason})`);
    }
    expect((await quoinctl(["user", "create", "a@b"])).code, "without --namespaces").to.equal(2);
    expect((await quoinctl(["user", "create", "a@b", "--namespaces", "*", "--role", "root"])).code).to.equal(2);
  });

  describe("login", () => {
    const answer = { access_token: "secret-token", expires_in: 3_600, token_type: "Bearer", user: USER };

    const passwords = () => service.requests.map(({ body }) => JSON.parse(body.toString()).password);

    beforeEach(() => {
      answers = [[200, answer]];
    });

    it("takes the password from the standard input, and prints the token alone if that is requested", async () => {
      const ran = await quoinctl(["login", "ada@example.com", "--print-token"], { input: "correct horse\nmore\n" });
      expect(ran).to.include({ code: 0, out: "secret-token\n", err: "" });
      expect(lines()).to.deep.equal(["POST /auth/login"]);
      expect(service.requests[0]?.headers.authorization).to.equal(undefined);
      expect(passwords()).to.deep.equal(["correct horse"]);
    });

    it("takes the password from a file, and saves the token in a file that only its owner can read", () =>
      withTemporaryDirectory(async (directory) => {
        const [passwordFile, file] = [path.join(directory, "password"), path.join(directory, "token")];
        await writeFile(passwordFile, "correct horse\n");
        await writeFile(file, "of before", { mode: 0o644 });
        // Another user has opened the file while it was readable.
        await using opened = await open(file);
        const parameters = ["login", "ada@example.com", "--password-file", passwordFile, "--save", file];
        const { code, out } = await quoinctl(parameters);
        expect([code, out.includes("secret-token")]).to.deep.equal([0, false]);
        expect(passwords()).to.deep.equal(["correct horse"]);
        expect(await readFile(file, "utf8")).to.equal("secret-token\n");
        expect((await stat(file)).mode & 0o777).to.equal(0o600);
        expect(await opened.readFile("utf8")).to.equal("of before");
      }));

    it("saves the token where a link leads, and in a pipe, and says where it cannot", () =>
      withTemporaryDirectory(async (directory) => {
        const passwordFile = path.join(directory, "password");
        await writeFile(passwordFile, "correct horse");
        const link = path.join(directory, "link");
        await writeFile(path.join(directory, "token"), "of before", { mode: 0o644 });
        await symlink("token", link);
        const save = ["login", "ada@example.com", "--password-file", passwordFile, "--save"];
        expect((await quoinctl([...save, link])).code).to.equal(0);
        expect(await readFile(path.join(directory, "token"), "utf8")).to.equal("secret-token\n");
        expect((await stat(path.join(directory, "token"))).mode & 0o777).to.equal(0o600);
        expect((await lstat(link)).isSymbolicLink()).to.equal(true);
        const pipe = path.join(directory, "pipe");
        execFileSync("mkfifo", [pipe]);
        const [read, { code }] = await Promise.all([readFile(pipe, "utf8"), quoinctl([...save, pipe])]);
        expect([code, read]).to.deep.equal([0, "secret-token\n"]);
        const nowhere = path.join(directory, "none", "token");
        expect(await quoinctl([...save, nowhere])).to.deep.include({ code: 2, out: "" });
        expect(await readdir(directory)).to.have.members(["link", "password", "pipe", "token"]);
      }));

    it("retries while no member can decide, within --timeout", async () => {
      const unavailable = [503, { error: "no leader", code: "unavailable" }] as const;
      answers = [unavailable, unavailable, [200, answer]];
      const parameters = ["login", "ada@example.com", "--print-token", "--timeout", "20s"];
      const ran = await quoinctl(parameters, { input: "correct horse\n" });
      expect(ran).to.include({ code: 0, out: "secret-token\n", err: "" });
      expect(passwords()).to.deep.equal(["correct horse", "correct horse", "correct horse"]);
      const environment = { QUOIN_ENDPOINTS: "127.0.0.1:1", QUOIN_HTTP_ENDPOINTS: "http://127.0.0.1:1" };
      const input = { input: "correct horse\n", environment };
      const gone = await quoinctl(["login", "ada@example.com", "--timeout", "300ms"], input);
      expect([gone.code, gone.out]).to.deep.equal([3, ""]);
      expect(gone.err).to.include("ECONNREFUSED").and.not.include("correct horse");
    });

    it("reports a missing and a wrong password", async () => {
      answers = [[401, { error: "not right", code: "invalid_credentials" }]];
      const refused = await quoinctl(["login", "ada@example.com"], { input: "wrong\n" });
      expect([refused.code, refused.out]).to.deep.equal([1, ""]);
      expect(refused.err).to.include("not right (INVALID_CREDENTIALS)").and.not.include("wrong\n");
      const empty = await withTemporaryDirectory(async (directory) =>
        quoinctl(["login", "ada@example.com", "--password-file", path.join(directory, "absent")]),
      );
      expect(empty.code).to.equal(2);
    });
  });
});
