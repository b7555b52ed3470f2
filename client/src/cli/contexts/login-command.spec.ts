import { readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { UserRole } from "@quoin/proto";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import {
  FakeRuntime,
  type ProgramRun,
  type Refusal,
  refuse,
  runProgram,
  ScriptedMember,
  TEST_CERTIFICATE,
} from "../../../test/index.ts";
import { run } from "../index.ts";

const EXPIRES_AT = "2031-01-31T00:00:00.000Z";
const USER = { userId: "u", email: "ada@example.com", role: UserRole.MEMBER, namespaces: ["a"] };

describe("quoinctl login and logout", () => {
  let member: ScriptedMember;
  let keys: number;
  let login: readonly string[];

  const exchangeToken = () => ({ accessToken: "key-token", expiresInSeconds: 3_600n });

  beforeEach(async () => {
    keys = 0;
    member = await ScriptedMember.start({
      login: () => ({ accessToken: "login-token", expiresInSeconds: 3_600n, user: USER }),
      exchangeToken,
      createApiKey: () => {
        keys += 1;
        const apiKey = { apiKeyId: `id-${keys}`, expiresAtMs: BigInt(Date.parse(EXPIRES_AT)) };
        return { apiKey, key: `qk_secret${keys}` };
      },
      revokeApiKey: () => ({ revokedAtMs: 1n }),
      listApiKeys: () => ({}),
    });
    login = ["login", "ada@example.com", "--endpoints", member.endpoint];
  });

  afterEach(() => member.stop());

  /** Gives a test a home directory, and a way to run commands in it, with a password on the standard input. */
  function withHome(
    work: (
      quoinctl: (parameters: readonly string[], environment?: Record<string, string>) => Promise<ProgramRun>,
      file: string,
    ) => Promise<void>,
  ): Promise<void> {
    const directory = temporaryDirectory();
    return work(
      (parameters, environment = {}) =>
        runProgram(run, new FakeRuntime(), parameters, {
          directory,
          input: "correct horse\n",
          environment: { XDG_CONFIG_HOME: directory, ...environment },
        }),
      path.join(directory, "quoin/config.yaml"),
    );
  }

  /** The methods of the calls, with the API key that each names. */
  const asked = () =>
    member.calls.map(({ method, request }) => {
      const { apiKeyId } = request as { readonly apiKeyId?: string };
      return apiKeyId === undefined ? method : `${method} ${apiKeyId}`;
    });

  it("saves an API key that ends by itself in a new context, and later commands get their tokens from it", () =>
    withHome(async (quoinctl, file) => {
      expect(await quoinctl(login)).to.include({
        code: 0,
        out: `logged in as ada@example.com (member); the context default has the access, until ${EXPIRES_AT}\n`,
        err: "",
      });
      expect(asked()).to.deep.equal(["login", "createApiKey"]);
      const created = member.calls[1]?.request as { readonly name: string; readonly expiresInDays: bigint };
      expect(created.expiresInDays).to.equal(30n);
      expect(created.name).to.match(/^quoinctl on ./);
      expect(member.calls[1]?.authorization).to.deep.equal(["Bearer login-token"]);
      expect(await readFile(file, "utf8")).to.equal(
        [
          "contexts:",
          "  default:",
          "    endpoints:",
          `      - ${member.endpoint}`,
          "    email: ada@example.com",
          "    api_key: qk_secret1",
          "    api_key_id: id-1",
          `    expires_at: ${EXPIRES_AT}`,
          "current: default\n",
        ].join("\n"),
      );
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      expect((await quoinctl(["key", "list"])).code).to.equal(0);
      expect(asked().slice(2)).to.deep.equal(["exchangeToken", "listApiKeys"]);
      expect(member.calls[2]?.request).to.include({ apiKey: "qk_secret1" });
    }));

  it("logs in again with the e-mail address of the context, and revokes the API key of the last login", () =>
    withHome(async (quoinctl, file) => {
      await quoinctl(login);
      const again = await quoinctl(["login", "--expires-in-days", "7", "-o", "json"]);
      expect(again).to.include({ code: 0, err: "" });
      const user = { user_id: "u", email: "ada@example.com", role: "member", namespaces: ["a"] };
      expect(JSON.parse(again.out)).to.deep.equal({ user, context: "default", expires_at: EXPIRES_AT });
      expect(asked().slice(2)).to.deep.equal(["login", "createApiKey", "revokeApiKey id-1"]);
      expect(member.calls[3]?.request).to.include({ expiresInDays: 7n });
      const content = await readFile(file, "utf8");
      expect(content).to.include("qk_secret2").and.include("id-2").and.not.include("secret1");
    }));

  it("saves into the context of --context or QUOIN_CONTEXT, creates it, and leaves the current one", () =>
    withHome(async (quoinctl, file) => {
      await quoinctl(login);
      expect((await quoinctl([...login, "--context", "second"])).out).to.include("the context second has the access");
      expect((await quoinctl(["login", "ada@example.com"], { QUOIN_CONTEXT: "second" })).code).to.equal(0);
      const content = await readFile(file, "utf8");
      expect(content)
        .to.match(/current: default\n$/)
        .and.include(`  second:\n    endpoints:\n      - ${member.endpoint}\n`);
    }));

  it("refuses a context of another cluster before it asks for the password", () =>
    withHome(async (quoinctl) => {
      await quoinctl(login);
      const before = member.calls.length;
      const { code, err } = await quoinctl(["login", "--endpoints", "127.0.0.1:2"]);
      expect([code, err]).to.deep.equal([
        2,
        `quoinctl: the context default is for ${member.endpoint}, not for 127.0.0.1:2\n` +
          "hint: name another one, which is then created: --context NAME\n",
      ]);
      expect(member.calls.length).to.equal(before);
    }));

  it("saves the token of a viewer, who may create no API keys, and says so", () =>
    withHome(async (quoinctl, file) => {
      member.scripts.createApiKey = () => refuse({ code: "PERMISSION_DENIED", reason: "ACCESS_DENIED" });
      const { code, err } = await quoinctl(login);
      expect([code, err]).to.deep.equal([0, "the role member may not create API keys: log in again after that\n"]);
      expect(await readFile(file, "utf8"))
        .to.include("token: login-token")
        .and.not.include("api_key");
      expect((await quoinctl(["logout"])).code).to.equal(0);
      expect(await readFile(file, "utf8")).to.not.include("login-token");
    }));

  it("revokes the new API key if the configuration cannot be written", () =>
    withHome(async (quoinctl, file) => {
      await quoinctl(login);
      await writeFile(`${file}.lock`, "");
      const { code, err } = await quoinctl(["login"]);
      expect(code).to.equal(2);
      expect(err).to.include("another command holds");
      expect(asked().at(-1)).to.equal("revokeApiKey id-2");
      expect(await readFile(file, "utf8")).to.include("qk_secret1");
    }));

  it("logs out: revokes the API key with itself, and keeps the context", () =>
    withHome(async (quoinctl, file) => {
      await quoinctl(login);
      expect(await quoinctl(["logout"])).to.include({
        code: 0,
        out: "logged out; the context default has no access any more\n",
        err: "",
      });
      expect(asked().slice(2)).to.deep.equal(["exchangeToken", "revokeApiKey id-1"]);
      const content = await readFile(file, "utf8");
      expect(content).to.include("endpoints:").and.not.include("api_key").and.not.include("ada@example.com");
      expect((await quoinctl(["logout"])).err).to.include("the context default has no access from login");
    }));

  it("logs out of an access that has ended, and without the cluster only with --local", () =>
    withHome(async (quoinctl, file) => {
      await quoinctl(login);
      member.scripts.exchangeToken = () => refuse({ code: "UNAVAILABLE", reason: "NO_LEADER" });
      const gone = await quoinctl(["logout", "--timeout", "100ms"]);
      expect(gone.code).to.equal(3);
      expect(await readFile(file, "utf8")).to.include("qk_secret1");
      expect(JSON.parse((await quoinctl(["logout", "--local", "-o", "json"])).out)).to.deep.equal({
        context: "default",
        api_key_id: "id-1",
        revoked: false,
      });
      member.scripts.exchangeToken = exchangeToken;
      await quoinctl(login);
      const ended: Refusal = { code: "UNAUTHENTICATED", reason: "INVALID_API_KEY", message: "it has ended" };
      member.scripts.exchangeToken = () => refuse(ended);
      expect((await quoinctl(["kv", "get", "n/k"])).err).to.include("quoinctl login");
      expect((await quoinctl(["logout"])).code).to.equal(0);
      expect(await readFile(file, "utf8")).to.not.include("qk_secret");
    }));

  it("wants an e-mail address for the first login, and files instead of the authorities of the environment", () =>
    withHome(async (quoinctl) => {
      expect((await quoinctl(["login", "--endpoints", "h:1"])).err).to.include("name the user: quoinctl login EMAIL");
      expect((await quoinctl([...login, "--save", "f", "--print-token"])).code).to.equal(2);
      for (const environment of [{ QUOIN_CA_PEM: TEST_CERTIFICATE }, { QUOIN_CA_FILE: "ca.crt" }]) {
        expect((await quoinctl(login, environment)).err).to.include("use --ca FILE instead");
      }
      expect(member.calls).to.have.length(0);
    }));
});
