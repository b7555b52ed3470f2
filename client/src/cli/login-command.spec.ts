import { readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import {
  FakeRuntime,
  type ProgramRun,
  type ReceivedRequest,
  runProgram,
  ScriptedHttpMember,
  type StatusAndBody,
  TEST_CERTIFICATE,
  withTemporaryDirectory,
} from "../../test/index.ts";
import { run } from "./program.ts";

const EXPIRES_AT = "2031-01-31T00:00:00.000Z";
const USER = { user_id: "u", email: "ada@example.com", role: "member", namespaces: ["a"] };

describe("quoinctl login and logout", () => {
  let service: ScriptedHttpMember;
  let answers: Map<string, StatusAndBody>;
  let keys: number;

  beforeEach(async () => {
    keys = 0;
    answers = new Map();
    service = await ScriptedHttpMember.start((response, request) => {
      const [status, body] = answers.get(`${request.method} ${request.path}`) ?? usual(request);
      response.statusCode = status;
      response.end(JSON.stringify(body));
    });
  });

  afterEach(() => service.stop());

  function usual({ method, path: asked }: ReceivedRequest): StatusAndBody {
    if (asked === "/auth/login") {
      return [200, { access_token: "login-token", expires_in: 3_600, user: USER }];
    }
    if (asked === "/auth/token") {
      return [200, { access_token: "key-token", expires_in: 3_600 }];
    }
    if (method === "POST") {
      keys += 1;
      return [
        201,
        {
          api_key_id: `id-${keys}`,
          name: "x",
          key: `qk_secret${keys}`,
          created_at: EXPIRES_AT,
          expires_at: EXPIRES_AT,
        },
      ];
    }
    if (method === "DELETE") {
      return [200, { api_key_id: "id", revoked: true, revoked_at: EXPIRES_AT }];
    }
    return [200, { keys: [], next_cursor: null }];
  }

  /** Gives a test a home directory, and a way to run commands in it, with a password on the standard input. */
  function withHome(
    work: (
      quoinctl: (parameters: readonly string[], environment?: Record<string, string>) => Promise<ProgramRun>,
      file: string,
    ) => Promise<void>,
  ): Promise<void> {
    return withTemporaryDirectory((directory) =>
      work(
        (parameters, environment = {}) =>
          runProgram(run, new FakeRuntime(), parameters, {
            directory,
            input: "correct horse\n",
            environment: { XDG_CONFIG_HOME: directory, QUOIN_HTTP_ENDPOINTS: service.url, ...environment },
          }),
        path.join(directory, "quoin/config.yaml"),
      ),
    );
  }

  const lines = () => service.requests.map(({ method, path: asked }) => `${method} ${asked}`);
  const login = ["login", "ada@example.com", "--endpoints", "127.0.0.1:1"];

  it("saves an API key that ends by itself in a new context, and later commands get their tokens from it", () =>
    withHome(async (quoinctl, file) => {
      expect(await quoinctl(login)).to.include({
        code: 0,
        out: `logged in as ada@example.com (member); the context default has the access, until ${EXPIRES_AT}\n`,
        err: "",
      });
      expect(lines()).to.deep.equal(["POST /auth/login", "POST /keys"]);
      const created = JSON.parse(String(service.requests[1]?.body));
      expect(created.expires_in_days).to.equal(30);
      expect(created.name).to.match(/^quoinctl on ./);
      expect(service.requests[1]?.headers.authorization).to.equal("Bearer login-token");
      expect(await readFile(file, "utf8")).to.equal(
        [
          "contexts:",
          "  default:",
          "    endpoints:",
          "      - 127.0.0.1:1",
          "    http_endpoints:",
          `      - ${service.url}`,
          "    email: ada@example.com",
          "    api_key: qk_secret1",
          "    api_key_id: id-1",
          `    expires_at: ${EXPIRES_AT}`,
          "current: default\n",
        ].join("\n"),
      );
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      expect((await quoinctl(["key", "list"])).code).to.equal(0);
      expect(lines().slice(2)).to.deep.equal(["POST /auth/token", "GET /keys?limit=1000"]);
      expect(JSON.parse(String(service.requests[2]?.body))).to.deep.equal({ api_key: "qk_secret1" });
    }));

  it("logs in again with the e-mail address of the context, and revokes the API key of the last login", () =>
    withHome(async (quoinctl, file) => {
      await quoinctl(login);
      const again = await quoinctl(["login", "--expires-in-days", "7", "-o", "json"]);
      expect(again).to.include({ code: 0, err: "" });
      expect(JSON.parse(again.out)).to.deep.equal({ user: USER, context: "default", expires_at: EXPIRES_AT });
      expect(lines().slice(2)).to.deep.equal(["POST /auth/login", "POST /keys", "DELETE /keys/id-1"]);
      expect(JSON.parse(String(service.requests[3]?.body)).expires_in_days).to.equal(7);
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
        .and.include("  second:\n    endpoints:\n      - 127.0.0.1:1\n");
    }));

  it("refuses a context of another cluster before it asks for the password", () =>
    withHome(async (quoinctl) => {
      await quoinctl(login);
      const before = service.requests.length;
      const { code, err } = await quoinctl(["login", "--endpoints", "127.0.0.1:2"]);
      expect([code, err]).to.deep.equal([
        2,
        "quoinctl: the context default is for 127.0.0.1:1, not for 127.0.0.1:2\n" +
          "hint: name another one, which is then created: --context NAME\n",
      ]);
      expect(service.requests.length).to.equal(before);
    }));

  it("saves the token of a viewer, who may create no API keys, and says so", () =>
    withHome(async (quoinctl, file) => {
      answers.set("POST /keys", [403, { error: "it needs write access", code: "insufficient_role" }]);
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
      expect(lines().at(-1)).to.equal("DELETE /keys/id-2");
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
      expect(lines().slice(2)).to.deep.equal(["POST /auth/token", "DELETE /keys/id-1"]);
      const content = await readFile(file, "utf8");
      expect(content).to.include("endpoints:").and.not.include("api_key").and.not.include("ada@example.com");
      expect((await quoinctl(["logout"])).err).to.include("the context default has no access from login");
    }));

  it("logs out of an access that has ended, and without the cluster only with --local", () =>
    withHome(async (quoinctl, file) => {
      await quoinctl(login);
      answers.set("POST /auth/token", [503, { error: "no leader", code: "unavailable" }]);
      const gone = await quoinctl(["logout", "--timeout", "100ms"]);
      expect(gone.code).to.equal(3);
      expect(await readFile(file, "utf8")).to.include("qk_secret1");
      expect(JSON.parse((await quoinctl(["logout", "--local", "-o", "json"])).out)).to.deep.equal({
        context: "default",
        api_key_id: "id-1",
        revoked: false,
      });
      answers.delete("POST /auth/token");
      await quoinctl(login);
      answers.set("POST /auth/token", [401, { error: "it has ended", code: "invalid_api_key" }]);
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
      expect(service.requests).to.have.length(0);
    }));
});
