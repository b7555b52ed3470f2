import { execFileSync } from "node:child_process";
import { lstat, open, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { UserRole, UserStatus } from "@quoin/proto";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import {
  FakeRuntime,
  type ProgramInput,
  type ProgramRun,
  type Refusal,
  refuse,
  runProgram,
  ScriptedMember,
} from "../../../test/index.ts";
import { run } from "../index.ts";

const ID = "11111111-2222-4333-8444-555555555555";
const OTHER_ID = "22222222-2222-4333-8444-555555555555";
const CREATED_AT = "2030-01-01T00:00:00.000Z";
const createdAtMs = BigInt(Date.parse(CREATED_AT));
const KEY = { apiKeyId: ID, name: "ci\u001b[2J", keyPrefix: "qk_1", createdAtMs };
const USER = {
  userId: ID,
  email: "ada@example.com",
  role: UserRole.MEMBER,
  namespaces: ["a", "b"],
  status: UserStatus.ACTIVE,
  createdAtMs,
};
const COUNTED = { requests: 7n, eventsAppended: 3n, memoryBytes: 9n };
const QUOTAS = ["bytes", "keys", "locks", "memory_bytes", "memory_regions", "event_bytes", "event_logs", "sessions"];
const USAGE = {
  startMs: createdAtMs,
  endMs: BigInt(Date.parse("2030-02-01")),
  totals: COUNTED,
  buckets: [{ startMs: BigInt(Date.parse("2030-01-05")), counts: COUNTED }],
  namespaces: [
    {
      namespace: "team-a",
      quotas: QUOTAS.map((name, at) => ({ name, used: BigInt(at), limit: BigInt(10 + at) })),
    },
  ],
  requestsPerMinute: 60n,
  asOfMs: BigInt(Date.parse("2030-02-01")),
};
const LOGIN = { accessToken: "secret-token", expiresInSeconds: 3_600n, user: USER };

describe("quoinctl and accounts", () => {
  let member: ScriptedMember;

  beforeEach(async () => {
    member = await ScriptedMember.start({
      login: () => LOGIN,
      createApiKey: () => ({ apiKey: KEY, key: "qk_1" }),
      listApiKeys: () => ({}),
      revokeApiKey: () => ({ revokedAtMs: createdAtMs }),
      createUser: () => ({ user: USER }),
      listUsers: () => ({}),
      getUser: () => ({ user: USER }),
      updateUser: () => ({ user: USER }),
      deleteUser: () => ({}),
      getUsage: () => USAGE,
      listNamespaces: ({ prefix }) => ({ namespaces: [{ name: prefix }] }),
    });
  });

  afterEach(() => member.stop());

  /** Runs a command in this process against the scripted member. */
  function quoinctl(parameters: readonly string[], input: ProgramInput = {}): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" };
    return runProgram(run, new FakeRuntime(), parameters, { environment, ...input });
  }

  /** The methods of the calls, with the id that each names. */
  const asked = () =>
    member.calls.map(({ method, request }) => {
      const { userId, apiKeyId } = request as { readonly userId?: string; readonly apiKeyId?: string };
      return [method, userId ?? apiKeyId].filter((word) => word !== undefined && word !== "").join(" ");
    });

  it("sends the request of each command, with the token", async () => {
    const ofList = { userId: "", all: false, includeRevoked: false, pageSize: 1_000, pageToken: "" };
    const unchanged = {
      userId: ID,
      password: undefined,
      currentPassword: undefined,
      role: 0,
      namespaces: undefined,
      status: 0,
    };
    const ofUsage = { fromMs: 0n, toMs: 0n, granularity: 0 };
    for (const [parameters, method, request] of [
      [["key", "create", "ci"], "createApiKey", { name: "ci", expiresInDays: 0n }],
      [["key", "create", "ci", "--expires-in-days", "7"], "createApiKey", { name: "ci", expiresInDays: 7n }],
      [["key", "list"], "listApiKeys", ofList],
      [["key", "list", "--all", "--revoked"], "listApiKeys", { ...ofList, all: true, includeRevoked: true }],
      [["key", "list", "--user", ID], "listApiKeys", { ...ofList, userId: ID }],
      [["key", "revoke", ID], "revokeApiKey", { apiKeyId: ID }],
      [
        ["user", "create", "a@b", "--namespaces", "x,y"],
        "createUser",
        { email: "a@b", role: 2, namespaces: ["x", "y"], password: undefined },
      ],
      [["user", "list"], "listUsers", { pageSize: 1_000, pageToken: "" }],
      [["user", "describe", ID], "getUser", { userId: ID }],
      [["user", "update", ID, "--role", "viewer"], "updateUser", { ...unchanged, role: 1 }],
      [["user", "update", ID, "--status", "disabled"], "updateUser", { ...unchanged, status: 3 }],
      [["user", "delete", ID], "deleteUser", { userId: ID }],
      [["usage"], "getUsage", ofUsage],
      [
        ["usage", "--from", "2030-01-01", "--to", "2030-02-01T00:00:00Z", "--by", "hour"],
        "getUsage",
        { fromMs: createdAtMs, toMs: USAGE.endMs, granularity: 1 },
      ],
      [["usage", "--by", "namespace"], "getUsage", ofUsage],
    ] as const) {
      expect(await quoinctl(parameters), parameters.join(" ")).to.include({ code: 0, err: "" });
      expect(member.callsOf(method).at(-1)?.request, parameters.join(" ")).to.deep.equal(request);
    }
    expect(new Set(member.calls.map(({ authorization }) => authorization[0]))).to.deep.equal(new Set(["Bearer t"]));
    const { code, err } = await quoinctl(["usage", "--from", "yesterday"]);
    expect([code, err]).to.deep.equal([
      2,
      "quoinctl: from must be a date or a time in ISO 8601 after 1970 began, such as 2030-01-31T12:00:00Z (BAD_FIELD)\n",
    ]);
  });

  it("uses mailed tokens without a login", async () => {
    const password = path.join(temporaryDirectory(), "password");
    await writeFile(password, "correct horse\n");
    member.scripts.verifyEmail = () => ({});
    member.scripts.requestPasswordReset = () => ({});
    const place = ["--endpoints", member.endpoint];
    const verify = ["user", "verify", "t.1", "--password-file", password, ...place];
    expect(await runProgram(run, new FakeRuntime(), verify, {})).to.include({
      code: 0,
      out: "the user can log in\n",
      err: "",
    });
    const reset = ["user", "reset-password", "a@b", "--output", "json", ...place];
    const asked = await runProgram(run, new FakeRuntime(), reset, {});
    expect([asked.code, JSON.parse(asked.out)]).to.deep.equal([0, { requested: true }]);
    expect(member.calls.map(({ method, request, authorization }) => [method, request, authorization])).to.deep.equal([
      ["verifyEmail", { token: "t.1", password: "correct horse" }, []],
      ["requestPasswordReset", { email: "a@b" }, []],
    ]);
  });

  it("says whose credentials these are, and what they allow", async () => {
    const claims = { sub: ID, access: ["read"], namespaces: ["a"], exp: 1_893_456_000, key_id: "k-1" };
    const token = `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: token };
    const { out } = await quoinctl(["whoami", "-o", "json"], { environment });
    expect(JSON.parse(out)).to.deep.equal({
      user_id: ID,
      email: "ada@example.com",
      role: "member",
      access: ["read"],
      namespaces: ["a"],
      api_key_id: "k-1",
      expires_at: "2030-01-01T00:00:00.000Z",
      endpoints: [member.endpoint],
    });
    expect(asked()).to.deep.equal([`getUser ${ID}`]);
    const { code, err } = await quoinctl(["whoami"]);
    expect([code, err.includes("the token is none of Quoin")]).to.deep.equal([2, true]);
  });

  it("changes the user's own password with the current one, each from a file", async () => {
    const directory = temporaryDirectory();
    const [next, current] = [path.join(directory, "next"), path.join(directory, "current")];
    await writeFile(next, "another horse\n");
    await writeFile(current, " correct horse \r\n");
    const parameters = ["user", "update", ID, "--password-file", next, "--current-password-file", current];
    expect((await quoinctl(parameters)).code).to.equal(0);
    expect(member.calls.at(-1)?.request).to.include({
      password: "another horse",
      currentPassword: " correct horse ",
    });
    const refusal: Refusal = { code: "INVALID_ARGUMENT", reason: "BAD_FIELD", message: "it is not your password" };
    member.scripts.updateUser = () => refuse(refusal);
    const refused = await quoinctl(parameters);
    expect([refused.code, refused.out]).to.deep.equal([1, ""]);
    expect(refused.err).to.include("it is not your password").and.not.include("correct horse");

    const before = member.calls.length;
    const absent = path.join(directory, "absent");
    const missing = await quoinctl(["user", "update", ID, "--password-file", next, "--current-password-file", absent]);
    expect([missing.code, missing.out]).to.deep.equal([2, ""]);
    expect(missing.err).to.include(absent);
    expect(member.calls.length, "nothing is sent without the file").to.equal(before);
  });

  it("prints the answer, as a table without control characters, or in full", async () => {
    expect((await quoinctl(["key", "create", "ci"])).out).to.equal(
      `API KEY ID                            NAME         KEY   EXPIRES AT\n${ID}  ci\\u{1b}[2J  qk_1  -\n`,
    );
    expect(JSON.parse((await quoinctl(["key", "create", "ci", "-o", "json"])).out)).to.deep.equal({
      api_key_id: ID,
      name: KEY.name,
      key: "qk_1",
      created_at: CREATED_AT,
      expires_at: null,
    });
    expect((await quoinctl(["user", "describe", ID])).out)
      .to.include("ada@example.com")
      .and.include("a,b")
      .and.include(CREATED_AT);
    expect((await quoinctl(["usage"])).out).to.match(
      /^START .* BYTES STORED +MEMORY BYTES\n2030-01-05T00:00:00.000Z +7 +3 .* - +9\n$/,
    );
    const { totals, buckets, ...rest } = JSON.parse((await quoinctl(["usage", "-o", "json"])).out);
    expect((await quoinctl(["usage", "--by", "namespace"])).out).to.match(
      /^NAMESPACE +BYTES +KEYS .* EVENT LOGS +SESSIONS\nteam-a +0 B of 10 B +1 of 11 .* 6 of 16 +7 of 17\n$/,
    );
    expect([totals.events_appended, buckets[0].start]).to.deep.equal([3, "2030-01-05T00:00:00.000Z"]);
    const end = "2030-02-01T00:00:00.000Z";
    expect(rest, "the names and the form of HTTP").to.deep.equal({
      period: { start: CREATED_AT, end },
      by_key: [],
      namespaces: [
        {
          namespace: "team-a",
          quotas: Object.fromEntries(QUOTAS.map((quota, at) => [quota, { used: at, limit: 10 + at }])),
        },
      ],
      limits: { requests_per_minute: 60 },
      as_of: end,
    });
    expect([totals.bytes_stored, buckets[0].bytes_stored]).to.deep.equal([null, null]);
  });

  it("names the API key that was created if the answer with the key was lost", async () => {
    member.scripts.createApiKey = () => ({ apiKey: KEY });
    const { code, out, err } = await quoinctl(["key", "create", "ci"]);
    expect([code, out]).to.deep.equal([1, ""]);
    expect(err).to.include(`the API key ${ID} was created, but`).and.include("(API_KEY_LOST)");
  });

  it("reads listings to their end", async () => {
    member.scripts.listUsers = ({ pageToken }) =>
      pageToken === "" ? { users: [USER], nextPageToken: "more" } : { users: [{ ...USER, email: "eve@example.com" }] };
    const { out } = await quoinctl(["user", "list", "-o", "json"]);
    expect(JSON.parse(out).users.map(({ email }: typeof USER) => email)).to.deep.equal([
      ...["ada@example.com", "eve@example.com"],
    ]);
    expect(member.calls.map(({ request }) => request)).to.deep.equal([
      { pageSize: 1_000, pageToken: "" },
      { pageSize: 1_000, pageToken: "more" },
    ]);
  });

  it("finds users by e-mail address, and API keys by name or prefix", async () => {
    const other = { ...USER, userId: OTHER_ID, email: "eve@example.com" };
    member.scripts.listUsers = () => ({ users: [other, USER] });
    for (const [parameters, expected] of [
      [["user", "describe", "Ada@example.com"], `getUser ${ID}`],
      [["user", "update", "ada@example.com", "--role", "viewer"], `updateUser ${ID}`],
      [["user", "delete", "ada@example.com"], `deleteUser ${ID}`],
      [["key", "list", "--user", "ada@example.com"], `listApiKeys ${ID}`],
    ] as const) {
      expect((await quoinctl(parameters)).code, parameters.join(" ")).to.equal(0);
      expect(asked().slice(-2), parameters.join(" ")).to.deep.equal(["listUsers", expected]);
    }
    const absent = await quoinctl(["user", "describe", "nowhere@example.com"]);
    expect([absent.code, absent.err]).to.deep.equal([
      1,
      'quoinctl: there is no user "nowhere@example.com" (USER_NOT_FOUND)\n',
    ]);

    const named = { ...KEY, name: "ci" };
    const twin = { ...named, apiKeyId: OTHER_ID, keyPrefix: "qk_2" };
    member.scripts.listApiKeys = () => ({ keys: [named] });
    for (const text of ["ci", "qk_1"]) {
      expect((await quoinctl(["key", "revoke", text])).code).to.equal(0);
      expect(asked().slice(-2)).to.deep.equal(["listApiKeys", `revokeApiKey ${ID}`]);
    }
    member.scripts.listApiKeys = ({ all }) => (all ? { keys: [twin, named] } : {});
    expect((await quoinctl(["key", "revoke", "qk_1"])).code).to.equal(0);
    expect(asked().slice(-3), "then those of other users").to.deep.equal([
      "listApiKeys",
      "listApiKeys",
      `revokeApiKey ${ID}`,
    ]);
    member.scripts.listApiKeys = ({ all }) =>
      all ? refuse({ code: "PERMISSION_DENIED", reason: "ACCESS_DENIED" }) : {};
    expect((await quoinctl(["key", "revoke", "ci"])).err).to.equal(
      'quoinctl: there is no API key "ci" (API_KEY_NOT_FOUND)\n',
    );
  });

  it("refuses a name that several API keys have, and lists them", async () => {
    const keys = ["qk_1", "qk_2"].map((keyPrefix) => ({
      ...KEY,
      apiKeyId: `id of ${keyPrefix}`,
      name: "ci",
      keyPrefix,
    }));
    member.scripts.listApiKeys = () => ({ keys });
    const { code, err } = await quoinctl(["key", "revoke", "ci"]);
    expect([code, err]).to.deep.equal([
      2,
      'quoinctl: 2 API keys are called "ci": name one of them\n' +
        `hint: id of qk_1 (qk_1, created ${CREATED_AT}), id of qk_2 (qk_2, created ${CREATED_AT})\n`,
    ]);
    expect(asked(), "nothing is revoked").to.deep.equal(["listApiKeys"]);
  });

  it("warn of namespaces of a user that do not exist, if the caller may know", async () => {
    const existing = ["a", "a-longer", "b"];
    member.scripts.listNamespaces = ({ prefix, pageSize }) => ({
      namespaces: existing
        .filter((name) => name.startsWith(prefix))
        .slice(0, pageSize)
        .map((name) => ({ name })),
    });
    const errorsOf = async (...words: string[]) => {
      const { code, err } = await quoinctl(["user", ...words, "-o", "json"]);
      expect(code).to.equal(0);
      return err;
    };
    const created = await errorsOf("create", "a@b", "--namespaces", "a,a-long,*");
    expect(created).to.equal(
      "warning: namespace a-long does not exist yet; create it with: quoinctl namespace create a-long\n",
    );
    const changed = await errorsOf("update", ID, "--namespaces", "b,team");
    expect(changed).to.match(/^warning: namespace team does not exist yet; .*\n$/);
    expect(await errorsOf("update", ID, "--role", "viewer")).to.equal("");
    member.scripts.listNamespaces = () => refuse({ code: "PERMISSION_DENIED", reason: "ACCESS_DENIED" });
    expect(await errorsOf("create", "a@b", "--namespaces", "team")).to.equal("");
  });

  it("prints the reason of a refusal, with the exit code", async () => {
    for (const [code, exitCode, reason] of [
      ["PERMISSION_DENIED", 1, "ACCESS_DENIED"],
      ["NOT_FOUND", 1, "USER_NOT_FOUND"],
      ["FAILED_PRECONDITION", 1, "LAST_OWNER"],
      ["UNAVAILABLE", 3, "NO_LEADER"],
      ["DEADLINE_EXCEEDED", 3, "DEADLINE"],
    ] as const) {
      member.scripts.deleteUser = () => refuse({ code, reason, message: "because" });
      const { code: ended, err, out } = await quoinctl(["user", "delete", ID]);
      expect([ended, out]).to.deep.equal([exitCode, ""]);
      expect(err).to.include(`because (${reason})`);
    }
    expect((await quoinctl(["user", "create", "a@b"])).code, "without --namespaces").to.equal(2);
    expect((await quoinctl(["user", "create", "a@b", "--namespaces", "*", "--role", "root"])).code).to.equal(2);
  });

  describe("login", () => {
    const passwords = () =>
      member.callsOf("login").map(({ request }) => (request as { readonly password: string }).password);

    it("takes the password from the standard input, and prints the token alone if that is requested", async () => {
      const ran = await quoinctl(["login", "ada@example.com", "--print-token"], { input: "correct horse\nmore\n" });
      expect(ran).to.include({ code: 0, out: "secret-token\n", err: "" });
      expect(member.calls.map(({ method, authorization }) => [method, authorization])).to.deep.equal([["login", []]]);
      expect(passwords()).to.deep.equal(["correct horse"]);
    });

    it("takes the password from a file, and saves the token in a file that only its owner can read", async () => {
      const directory = temporaryDirectory();
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
    });

    it("saves the token where a link leads, and in a pipe, and says where it cannot", async () => {
      const directory = temporaryDirectory();
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
    });

    it("retries while no member can decide, within --timeout", async () => {
      member.scripts.login = () =>
        passwords().length < 3 ? refuse({ code: "UNAVAILABLE", reason: "NO_LEADER" }) : LOGIN;
      const parameters = ["login", "ada@example.com", "--print-token", "--timeout", "20s"];
      const ran = await quoinctl(parameters, { input: "correct horse\n" });
      expect(ran).to.include({ code: 0, out: "secret-token\n", err: "" });
      expect(passwords()).to.deep.equal(["correct horse", "correct horse", "correct horse"]);
      const environment = { QUOIN_ENDPOINTS: "127.0.0.1:1" };
      const input = { input: "correct horse\n", environment };
      // On a busy machine the time may be over before the first connection is refused: then there is more of it.
      for (let timeoutMs = 300, isRefused = false; !isRefused; timeoutMs *= 2) {
        const gone = await quoinctl(["login", "ada@example.com", "--timeout", `${timeoutMs}ms`], input);
        expect([gone.code, gone.out]).to.deep.equal([3, ""]);
        expect(gone.err)
          .to.match(/ECONNREFUSED|in time/)
          .and.not.include("correct horse");
        isRefused = gone.err.includes("ECONNREFUSED");
      }
    });

    it("reports a missing and a wrong password", async () => {
      const refusal: Refusal = { code: "UNAUTHENTICATED", reason: "INVALID_CREDENTIALS", message: "not right" };
      member.scripts.login = () => refuse(refusal);
      const refused = await quoinctl(["login", "ada@example.com"], { input: "wrong\n" });
      expect([refused.code, refused.out]).to.deep.equal([1, ""]);
      expect(refused.err).to.include("not right (INVALID_CREDENTIALS)").and.not.include("wrong\n");
      const absent = path.join(temporaryDirectory(), "absent");
      const empty = await quoinctl(["login", "ada@example.com", "--password-file", absent]);
      expect(empty.code).to.equal(2);
    });
  });
});
