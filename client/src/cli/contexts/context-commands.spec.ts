import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import { FakeRuntime, type ProgramRun, runProgram, ScriptedMember } from "../../../test/index.ts";
import { systemRuntime } from "../../index.ts";
import { changeConfiguration } from "../connection/index.ts";
import { run } from "../index.ts";

const EDITED = `# My clusters
current: staging # for now
contexts:
  staging:
    endpoints: [staging:7400]
    token: staging-token
  production:
    endpoints: [production:7400, production:7410]
    email: ada@example.com
    api_key: qk_production
    ca: ca.pem
`;

describe("quoinctl context", () => {
  /** A home directory with a configuration file. */
  interface Place {
    readonly file: string;
    quoinctl(parameters: readonly string[], environment?: Record<string, string>): Promise<ProgramRun>;
    content(): Promise<string>;
  }

  async function withPlace(work: (place: Place) => Promise<void>, initial: string | undefined = EDITED): Promise<void> {
    const directory = temporaryDirectory();
    const file = path.join(directory, "quoin/config.yaml");
    if (initial !== undefined) {
      await mkdir(path.dirname(file));
      await writeFile(file, initial, { mode: 0o600 });
    }
    await work({
      file,
      quoinctl: (parameters, environment = {}) =>
        runProgram(run, new FakeRuntime(), parameters, {
          directory,
          environment: { XDG_CONFIG_HOME: directory, ...environment },
        }),
      content: () => readFile(file, "utf8"),
    });
  }

  it("lists contexts without their secrets, and marks the one that commands use", () =>
    withPlace(async ({ quoinctl }) => {
      expect((await quoinctl(["context", "list"])).out).to.equal(
        [
          "   NAME        ENDPOINTS                        TLS  CREDENTIALS  EMAIL",
          "*  staging     staging:7400                     no   token        -",
          "   production  production:7400,production:7410  yes  api_key      ada@example.com\n",
        ].join("\n"),
      );
      const json = await quoinctl(["context", "list", "-o", "json", "--context", "production"]);
      const { current, contexts } = JSON.parse(json.out);
      expect([current, contexts[1]]).to.deep.equal([
        "production",
        {
          name: "production",
          endpoints: ["production:7400", "production:7410"],
          tls: true,
          credentials: "api_key",
          email: "ada@example.com",
        },
      ]);
      expect(json.out).to.not.include("qk_production");
    }));

  it("uses another context, keeps comments and order, and leaves the file to its owner alone", () =>
    withPlace(async ({ quoinctl, content, file }) => {
      await chmod(file, 0o644);
      expect(await quoinctl(["context", "use", "production"])).to.include({
        code: 0,
        out: "the current context is production\n",
        err: "",
      });
      expect(await content()).to.equal(EDITED.replace("current: staging", "current: production"));
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      expect(await readdir(path.dirname(file)), "nothing else is left").to.deep.equal(["config.yaml"]);
    }));

  it("prints the context that commands use: of --context, else of QUOIN_CONTEXT, else the current one", () =>
    withPlace(async ({ quoinctl }) => {
      expect(await quoinctl(["context", "current"])).to.include({ code: 0, out: "staging\n", err: "" });
      const variable = { QUOIN_CONTEXT: "production" };
      expect((await quoinctl(["context", "current"], variable)).out).to.equal("production\n");
      expect((await quoinctl(["context", "current", "--context", "staging"], variable)).out).to.equal("staging\n");
      const json = await quoinctl(["context", "current", "-o", "json"], variable);
      expect(JSON.parse(json.out)).to.include({ name: "production", selected_by: "QUOIN_CONTEXT" });
      expect((await quoinctl(["context", "current"], { QUOIN_ENDPOINTS: "h:1" })).err).to.equal(
        "warning: commands use QUOIN_ENDPOINTS and not the context staging, because it is set\n",
      );
      expect((await quoinctl(["context", "use", "staging"], variable)).err).to.equal(
        "warning: commands use the context production, because QUOIN_CONTEXT is set\n",
      );
    }));

  it("says what to do if no context is selected", () =>
    withPlace(async ({ quoinctl }) => {
      const { code, err } = await quoinctl(["context", "current"]);
      expect(code).to.equal(2);
      expect(err).to.match(/^quoinctl: no context is selected\nhint: .*context list.*context use\n$/);
      expect((await quoinctl(["context", "list"])).out).to.equal("   NAME  ENDPOINTS  TLS  CREDENTIALS  EMAIL\n");
    }, ""));

  it("refuses an unknown context, and lists the known ones", () =>
    withPlace(async ({ quoinctl, content, file }) => {
      for (const parameters of [
        ["context", "use", "absent"],
        ["context", "delete", "absent"],
        ["kv", "get", "n/k", "--context", "absent"],
        ["logout", "--context", "absent"],
      ]) {
        const { code, err } = await quoinctl(parameters);
        expect([code, err], parameters.join(" ")).to.deep.equal([
          2,
          `quoinctl: ${file} has no context absent\n` +
            "hint: the contexts are staging, production; or create it with: quoinctl context set absent --endpoints host:port\n",
        ]);
      }
      expect((await quoinctl(["kv", "get", "n/k"], { QUOIN_CONTEXT: "absent" })).err).to.include(
        "has no context absent",
      );
      expect(await content()).to.equal(EDITED);
    }));

  it("sets a context from the options of every command, with absolute paths, and the first one is the current one", async () => {
    const directory = temporaryDirectory();
    const quoinctl = (...parameters: string[]) =>
      runProgram(run, new FakeRuntime(), parameters, { directory, environment: { XDG_CONFIG_HOME: directory } });
    expect(await quoinctl("context", "set", "one", "--endpoints", "a:1,b:2", "--api-key-file", "key")).to.include({
      code: 0,
      out: "context one is set, and is the current one\n",
      err: "",
    });
    expect((await quoinctl("context", "set", "two", "--endpoints", "c:3", "--tls")).out).to.equal(
      "context two is set\n",
    );
    await quoinctl("context", "set", "two", "--admin-endpoints", "c:4", "--admin-token-file", "/admin");
    await quoinctl("context", "set", "one", "--token-file", "/token");
    await quoinctl("context", "set", "two", "--ca", "ca.pem", "--cert", "c.pem", "--key", "k.pem");
    expect(await readFile(path.join(directory, "quoin/config.yaml"), "utf8")).to.equal(
      [
        "contexts:",
        "  one:",
        "    endpoints:",
        "      - a:1",
        "      - b:2",
        "    token_file: /token",
        "  two:",
        "    endpoints:",
        "      - c:3",
        "    tls: true",
        "    admin_endpoints:",
        "      - c:4",
        "    admin_token_file: /admin",
        `    ca: ${directory}/ca.pem`,
        `    cert: ${directory}/c.pem`,
        `    key: ${directory}/k.pem`,
        "current: one\n",
      ].join("\n"),
    );
    await quoinctl("context", "set", "two", "--no-tls");
    expect((await quoinctl("context", "list")).out).to.match(/\n {3}two +c:3 +no /);
  });

  it("refuses an incomplete or invalid context, and changes nothing", () =>
    withPlace(async ({ quoinctl, content }) => {
      for (const [parameters, message] of [
        [["new"], "the new context new needs endpoints"],
        [["new", "--endpoints", "http://h:1"], 'an endpoint must be host:port, not "http://h:1"'],
        [["staging", "--admin-endpoints", "h"], 'an endpoint must be host:port, not "h"'],
        [["a b", "--endpoints", "h:1"], "a context has a name without spaces"],
        [["staging", "--cert", "c"], "a certificate and its key belong together"],
        [["staging", "--token-file", "a", "--api-key-file", "b"], "exclude each other"],
      ] as const) {
        const { code, err } = await quoinctl(["context", "set", ...parameters]);
        expect(code, parameters.join(" ")).to.equal(2);
        expect(err).to.include(message);
      }
      expect(await content()).to.equal(EDITED);
    }));

  it("deletes a context, and then there is no current one if it was that", () =>
    withPlace(async ({ quoinctl, content }) => {
      expect((await quoinctl(["context", "delete", "staging"])).out).to.equal("context staging is deleted\n");
      const left = await content();
      expect(left).to.include("# My clusters").and.include("production:").and.not.include("staging");
      expect((await quoinctl(["context", "delete", "production"])).code).to.equal(0);
      expect((await quoinctl(["context", "set", "new", "--endpoints", "h:1"])).code).to.equal(0);
      expect(await content()).to.equal(
        "# My clusters\ncurrent: new # for now\ncontexts:\n  new:\n    endpoints:\n      - h:1\n",
      );
    }));

  it("uses a context of --context before the environment, and that of QUOIN_CONTEXT before the current one", async () => {
    const member = await ScriptedMember.start({ getKey: () => ({ value: Buffer.from("v") }) });
    try {
      await withPlace(async ({ quoinctl }) => {
        await quoinctl(["context", "set", "here", "--endpoints", member.endpoint, "--token-file", "/nonexistent"]);
        const elsewhere = { QUOIN_ENDPOINTS: "127.0.0.1:1", QUOIN_TOKEN: "t" };
        const get = await quoinctl(["kv", "get", "n/k", "--context", "here"], elsewhere);
        expect(get.err, "the token of the context is used, not that of the environment").to.include("NO_TOKEN");
        const named = await quoinctl(["kv", "get", "n/k"], { QUOIN_CONTEXT: "here", QUOIN_TOKEN: "t" });
        expect(named).to.include({ code: 0, out: "v\n" });
      });
    } finally {
      member.stop();
    }
  });

  describe("the configuration file", () => {
    it("loses no change when many commands write it at the same time", () =>
      withPlace(async ({ file, content }) => {
        const place = {
          environment: { XDG_CONFIG_HOME: path.dirname(path.dirname(file)) },
          homeDirectory: "/nonexistent",
          runtime: systemRuntime,
        };
        const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
        await Promise.all(
          names.map((name) =>
            changeConfiguration(place, (document) => document.setIn(["contexts", name], { endpoints: [] })),
          ),
        );
        const written = await content();
        for (const name of names) {
          expect(written).to.include(`  ${name}:\n`);
        }
        expect(await readdir(path.dirname(file))).to.deep.equal(["config.yaml"]);
      }));

    it("takes over the lock of a command that was killed, and waits for one that is not old", () =>
      withPlace(async ({ quoinctl, file }) => {
        await writeFile(`${file}.lock`, "");
        const waited = await quoinctl(["context", "use", "production"]);
        expect(waited.code).to.equal(2);
        expect(waited.err).to.include(`another command holds ${file}.lock`);
        await utimes(`${file}.lock`, 1, 1);
        expect((await quoinctl(["context", "use", "production"])).code).to.equal(0);
        expect(await readdir(path.dirname(file))).to.deep.equal(["config.yaml"]);
      }));

    it("writes through a link, as users make it who keep the file elsewhere", () =>
      withPlace(async ({ quoinctl, file }) => {
        const real = path.join(path.dirname(file), "real.yaml");
        await writeFile(real, EDITED, { mode: 0o600 });
        await rm(file);
        await symlink(real, file);
        expect((await quoinctl(["context", "use", "production"])).code).to.equal(0);
        expect((await lstat(file)).isSymbolicLink()).to.equal(true);
        expect(await readFile(real, "utf8")).to.include("current: production");
      }));

    it("is not changed if it is invalid", () =>
      withPlace(async ({ quoinctl, content }) => {
        const { code, err } = await quoinctl(["context", "set", "a", "--endpoints", "h:1"]);
        expect(code).to.equal(2);
        expect(err).to.include("config.yaml is invalid: contexts must be an object");
        expect(await content()).to.equal("contexts: [a]\n");
      }, "contexts: [a]\n"));
  });
});
