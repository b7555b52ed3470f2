import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../../../test/index.ts";
import { UsageError } from "../errors/index.ts";
import { type AdminConnection, type Connection, findAdminConnection, findConnection } from "./connection.ts";
import type { ConnectionOptions } from "./option-source.ts";

const LOCAL_ENDPOINTS = {
  grpc: ["127.0.0.1:7400", "127.0.0.1:7410"],
  http: ["http://127.0.0.1:7401"],
  admin: ["127.0.0.1:7403"],
  owner: { email: "owner@example.com", password: "password" },
  api_key: "qk_local",
  apiKey: "qk_local",
};

const CONTEXT = `
current: staging
contexts:
  staging:
    endpoints: [staging:7400]
    http_endpoints: ["https://staging:8443"]
    api_key: qk_staging
    tls: true
  production:
    endpoints: [production:7400]
    token: production-token
  __proto__:
    endpoints: [proto:7400]
    token: proto-token
  files:
    endpoints: [files:7400]
    api_key_file: key.txt
    ca: ca.pem
    cert: cert.pem
    key: key.pem
`;

describe("findConnection", () => {
  /** An empty home directory, with the files of a test. */
  interface Place {
    readonly directory: string;
    find(options?: ConnectionOptions, environment?: Record<string, string>, below?: string): Promise<Connection>;
    findAdmin(options?: ConnectionOptions, environment?: Record<string, string>): Promise<AdminConnection>;
    write(file: string, content: string | object, mode?: number): Promise<string>;
  }

  function withPlace(work: (place: Place) => Promise<void>): Promise<void> {
    const directory = temporaryDirectory();
    return work({
      directory,
      find: (options = {}, environment = {}, below = ".") =>
        findConnection(
          { environment, homeDirectory: directory, workingDirectory: path.join(directory, below) },
          options,
        ),
      findAdmin: (options = {}, environment = {}) =>
        findAdminConnection({ environment, homeDirectory: directory, workingDirectory: directory }, options),
      write: async (name, content, mode = 0o600) => {
        const file = path.join(directory, name);
        await mkdir(path.dirname(file), { recursive: true });
        await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
        await chmod(file, mode);
        return file;
      },
    });
  }

  async function usageError(work: Promise<unknown>): Promise<UsageError> {
    const failure = await work.catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(UsageError);
    return failure as UsageError;
  }

  it("says how to start or name a cluster when there is none", () =>
    withPlace(async ({ find }) => {
      const error = await usageError(find());
      expect(error.message).to.equal("no cluster is known here");
      expect(error.hint).to.include("npm start").and.to.include("--endpoints host:port");
    }));

  it("finds the local cluster of the directory or of one above", () =>
    withPlace(async ({ find, write, directory }) => {
      await write(".quoin/endpoints.json", LOCAL_ENDPOINTS);
      await mkdir(path.join(directory, "a", "b"), { recursive: true });
      for (const below of [".", "a", "a/b"]) {
        expect(await find({}, {}, below)).to.deep.equal({
          endpoints: LOCAL_ENDPOINTS.grpc,
          credentials: { apiKey: "qk_local" },
          tls: undefined,
        });
      }
    }));

  it("takes the API key of the local cluster by its name, and by the deprecated one of older launchers", () =>
    withPlace(async ({ find, write }) => {
      const { api_key, apiKey, ...addresses } = LOCAL_ENDPOINTS;
      for (const key of [{ api_key }, { apiKey }, { api_key, apiKey: "qk_old" }]) {
        await write(".quoin/endpoints.json", { ...addresses, ...key });
        expect((await find()).credentials).to.deep.equal({ apiKey: "qk_local" });
      }
    }));

  it("takes each part from the first place that names it: options, environment, context", () =>
    withPlace(async ({ find, write }) => {
      const tokenFile = await write("token", "option-token");
      await write(".quoin/endpoints.json", LOCAL_ENDPOINTS);
      const environment = { QUOIN_ENDPOINTS: "env-1:7400, env-2:7400", QUOIN_TOKEN: "env-token" };
      expect(await find({ endpoints: ["option:7400"], tokenFile }, environment)).to.deep.include({
        endpoints: ["option:7400"],
        credentials: { tokenFile },
      });
      expect(await find({}, environment)).to.deep.include({
        endpoints: ["env-1:7400", "env-2:7400"],
        credentials: { token: "env-token" },
      });
      await write(".config/quoin/config.yaml", CONTEXT);
      expect(await find()).to.deep.equal({
        endpoints: ["staging:7400"],
        credentials: { apiKey: "qk_staging" },
        tls: {},
      });
      expect(await find({}, { QUOIN_TOKEN: "env-token" })).to.deep.include({
        credentials: { token: "env-token" },
      });
    }));

  it("prefers a token in the environment to an API key there", () =>
    withPlace(async ({ find }) => {
      const environment = { QUOIN_ENDPOINTS: "h:7400,i:7410", QUOIN_API_KEY: "qk_env" };
      expect((await find({}, environment)).credentials).to.deep.equal({ apiKey: "qk_env" });
      expect((await find({}, { ...environment, QUOIN_TOKEN: "t" })).credentials).to.deep.equal({ token: "t" });
    }));

  it("takes the certificate authorities of the environment, as a text or a file", () =>
    withPlace(async ({ find }) => {
      const environment = { QUOIN_ENDPOINTS: "h:7400", QUOIN_API_KEY: "qk_env" };
      const secure = await find({}, { ...environment, QUOIN_CA_PEM: TEST_CERTIFICATE });
      expect(secure.tls?.ca).to.equal(TEST_CERTIFICATE.trim());
      const byFile = await find({}, { ...environment, QUOIN_CA_FILE: "ca.crt" });
      expect(byFile.tls).to.deep.equal({ ca: undefined, caFile: "ca.crt" });
      const both = { ...environment, QUOIN_CA_FILE: "ca.crt", QUOIN_CA_PEM: TEST_CERTIFICATE };
      expect((await usageError(find({}, both))).message).to.equal("give QUOIN_CA_PEM or QUOIN_CA_FILE, not both");
    }));

  it("prefers the local cluster of QUOIN_ENDPOINTS_FILE to a context that is not named, and endpoints to both", () =>
    withPlace(async ({ find, write }) => {
      const file = await write("elsewhere/endpoints.json", LOCAL_ENDPOINTS);
      await write(".config/quoin/config.yaml", CONTEXT);
      for (const environment of [
        { QUOIN_ENDPOINTS_FILE: file },
        { QUOIN_ENDPOINTS_FILE: "elsewhere/endpoints.json" },
      ]) {
        expect(await find({}, environment)).to.deep.equal({
          endpoints: LOCAL_ENDPOINTS.grpc,
          credentials: { apiKey: "qk_local" },
          tls: undefined,
        });
        expect((await find({ context: "production" }, environment)).endpoints).to.deep.equal(["production:7400"]);
        expect((await find({ endpoints: ["h:1"] }, environment)).credentials).to.deep.include({ apiKey: "qk_staging" });
      }
      expect((await usageError(find({}, { QUOIN_ENDPOINTS_FILE: "absent.json" }))).message).to.match(
        /absent\.json does not exist$/,
      );
    }));

  it("never gives the key of the local cluster to another cluster", () =>
    withPlace(async ({ find, write }) => {
      await write(".quoin/endpoints.json", LOCAL_ENDPOINTS);
      const error = await usageError(find({ endpoints: ["other:7400"] }));
      expect(error.message).to.equal("there is no token or API key for other:7400");
      await usageError(find({}, { QUOIN_ENDPOINTS: "other:7400" }));
    }));

  it("finds the key and the other ports of the local cluster by any of its endpoints", () =>
    withPlace(async ({ find, findAdmin, write, directory }) => {
      await write(".quoin/endpoints.json", LOCAL_ENDPOINTS);
      await write(".config/quoin/config.yaml", CONTEXT);
      const credentials = { apiKey: "qk_local" };
      for (const endpoints of [["127.0.0.1:7410"], ["localhost:7410"], LOCAL_ENDPOINTS.grpc]) {
        const found = { endpoints, credentials, tls: undefined };
        expect(await find({ endpoints }), endpoints.join()).to.deep.equal(found);
        expect(await find({}, { QUOIN_ENDPOINTS: endpoints.join() })).to.deep.equal(found);
      }
      const elsewhere = { ...LOCAL_ENDPOINTS, grpc: ["127.0.0.1:9400"], api_key: "qk_elsewhere" };
      const QUOIN_ENDPOINTS_FILE = await write("elsewhere/endpoints.json", elsewhere);
      expect((await find({ endpoints: ["127.0.0.1:9400"] }, { QUOIN_ENDPOINTS_FILE })).credentials).to.include({
        apiKey: "qk_elsewhere",
      });
      const tokenFile = path.join(directory, ".quoin/admin-token");
      for (const endpoints of [["127.0.0.1:7400"], ["127.0.0.1:7403"]]) {
        expect(await findAdmin({ endpoints })).to.deep.include({
          endpoints: ["127.0.0.1:7403"],
          credentials: { tokenFile },
        });
      }
      expect((await find({ endpoints: ["127.0.0.1:7410", "h:7400"] })).credentials, "not all are its own").to.include({
        apiKey: "qk_staging",
      });
      expect((await find({ endpoints: ["127.0.0.1:7410"] }, { QUOIN_TOKEN: "t" })).credentials).to.deep.equal({
        token: "t",
      });
    }));

  it("takes a context of --context before the environment", () =>
    withPlace(async ({ find, write }) => {
      await write(".config/quoin/config.yaml", CONTEXT);
      const environment = { QUOIN_ENDPOINTS: "env:7400", QUOIN_TOKEN: "env-token" };
      expect(await find({ context: "staging" }, environment)).to.deep.equal({
        endpoints: ["staging:7400"],
        credentials: { apiKey: "qk_staging" },
        tls: {},
      });
      expect((await find({ context: "production" }, environment)).endpoints).to.deep.equal(["production:7400"]);
      expect((await find({}, { QUOIN_CONTEXT: "production" })).endpoints).to.deep.equal(["production:7400"]);
      expect((await find({}, { ...environment, QUOIN_CONTEXT: "production" })).endpoints).to.deep.equal(["env:7400"]);
    }));

  it("refuses files with secrets that other users may use", () =>
    withPlace(async ({ find, write }) => {
      for (const mode of [0o640, 0o604, 0o620, 0o602, 0o644]) {
        const file = await write(".quoin/endpoints.json", LOCAL_ENDPOINTS, mode);
        const error = await usageError(find());
        expect(error.message).to.equal(`${file} holds secrets, and other users may use it`);
        expect(error.hint).to.equal(`chmod 600 ${file}`);
      }
      const configuration = await write(".config/quoin/config.yaml", CONTEXT, 0o644);
      expect((await usageError(find())).message).to.equal(`${configuration} holds secrets, and other users may use it`);
      // Every user may read a context without a secret.
      const tokenFile = await write("token", "t");
      await write(
        ".config/quoin/config.yaml",
        `current: c\ncontexts: { c: { endpoints: ["h:1"], token_file: ${tokenFile} } }`,
        0o644,
      );
      expect((await find()).credentials).to.deep.equal({ tokenFile });
    }));

  it("uses the named context, even with a name such as __proto__ (S19)", () =>
    withPlace(async ({ find, write }) => {
      await write(".config/quoin/config.yaml", CONTEXT);
      expect((await find({ context: "production" })).endpoints).to.deep.equal(["production:7400"]);
      expect((await find({ context: "__proto__" })).endpoints).to.deep.equal(["proto:7400"]);
      for (const name of ["absent", "constructor", "toString"]) {
        expect((await usageError(find({ context: name }))).message).to.match(new RegExp(`has no context ${name}$`));
      }
    }));

  it("looks for contexts in XDG_CONFIG_HOME, and says where it looked", () =>
    withPlace(async ({ find, write, directory }) => {
      await write("xdg/quoin/config.yaml", CONTEXT);
      const environment = { XDG_CONFIG_HOME: path.join(directory, "xdg") };
      expect((await find({}, environment)).endpoints).to.deep.equal(["staging:7400"]);
      const error = await usageError(find({ context: "staging" }, { XDG_CONFIG_HOME: "relative/ignored" }));
      expect(error.message).to.include(path.join(directory, ".config", "quoin", "config.yaml"));
    }));

  it("finds the files of a context relative to it", () =>
    withPlace(async ({ find, write, directory }) => {
      await write(".config/quoin/config.yaml", CONTEXT);
      await write(".config/quoin/key.txt", "qk_file\n");
      await write(".config/quoin/ca.pem", TEST_CERTIFICATE);
      await write(".config/quoin/cert.pem", TEST_CERTIFICATE);
      await write(".config/quoin/key.pem", TEST_KEY);
      const { credentials, tls } = await find({ context: "files" });
      expect(credentials).to.deep.equal({ apiKey: "qk_file" });
      const at = (name: string): string => path.join(directory, ".config", "quoin", name);
      expect(tls).to.deep.equal({ caFile: at("ca.pem"), certificateFile: at("cert.pem"), keyFile: at("key.pem") });
    }));

  it("takes certificates of options, and refuses half a pair, a missing file and two secrets", () =>
    withPlace(async ({ find, write, directory }) => {
      const file = await write("pem", TEST_CERTIFICATE);
      const key = await write("key", TEST_KEY);
      const secret = await write("secret", "s");
      const base = { endpoints: ["h:7400"], tokenFile: secret };
      const tls = { caFile: file, certificateFile: file, keyFile: key };
      expect((await find({ ...base, ca: file, cert: file, key })).tls).to.deep.equal(tls);
      for (const options of [
        { ...base, cert: file },
        { ...base, key },
        { ...base, ca: path.join(directory, "absent") },
        { ...base, apiKeyFile: secret },
        { endpoints: base.endpoints, apiKeyFile: path.join(directory, "absent") },
        { endpoints: base.endpoints, apiKeyFile: await write("empty", " \n") },
      ]) {
        await usageError(find(options));
      }
    }));

  it("names an invalid file, and repeats nothing of it", () =>
    withPlace(async ({ find, write }) => {
      const secret = "qk_very_secret";
      for (const content of [
        `{"apiKey":"${secret}"`,
        "[]",
        "{}",
        "3",
        { grpc: "h:1" },
        { grpc: [7400] },
        { grpc: ["h:1"], api_key: 1 },
        { grpc: ["h:1"], apiKey: 1 },
      ]) {
        const file = await write(".quoin/endpoints.json", content);
        const error = await usageError(find());
        expect(error.message).to.include(file).and.to.not.include(secret);
      }
      for (const content of [
        `api_key: "${secret}`,
        `current: [${secret}`,
        "- list",
        "current: 3",
        "current: c\ncontexts: []",
        "current: c\ncontexts: { c: text }",
        "current: c\ncontexts: { c: { endpoints: text } }",
        "current: c\ncontexts: { c: { endpoints: [a], tls: maybe } }",
      ]) {
        const file = await write(".config/quoin/config.yaml", content);
        const error = await usageError(find());
        expect(error.message, content).to.include(file).and.to.not.include(secret);
      }
    }));

  it("refuses a context with a misspelt field, or with two credentials", () =>
    withPlace(async ({ find, write }) => {
      for (const [fields, message] of [
        ["token: t, tsl: true", "context c, is invalid: tsl is unknown; did you mean tls?"],
        ["token: t, colour: red", "context c, is invalid: colour is unknown: a context has endpoints, "],
        ["token: t, api_key: k", "the context has token and api_key: keep one of them"],
        ["api_key: k, api_key_file: f", "the context has api_key and api_key_file: keep one of them"],
      ] as const) {
        await write(".config/quoin/config.yaml", `current: c\ncontexts: { c: { endpoints: ["h:1"], ${fields} } }`);
        expect((await usageError(find())).message).to.include(message);
      }
    }));

  it("refuses invalid endpoints", () =>
    withPlace(async ({ find }) => {
      for (const endpoint of ["http://h:7400", "h", ":7400"]) {
        const error = await usageError(find({ endpoints: [endpoint] }, { QUOIN_TOKEN: "t" }));
        expect(error.message).to.equal(`an endpoint must be host:port, not "${endpoint}"`);
      }
    }));

  it("finds the admin ports of the same source, with its admin token and never with an API key", () =>
    withPlace(async ({ findAdmin, write, directory }) => {
      await write(".quoin/endpoints.json", LOCAL_ENDPOINTS);
      const tokenFile = path.join(directory, ".quoin/admin-token");
      expect(await findAdmin()).to.deep.equal({
        endpoints: ["127.0.0.1:7403"],
        credentials: { tokenFile },
        tls: undefined,
      });
      const named = { QUOIN_ADMIN_ENDPOINTS: "a:7403, b:7403", QUOIN_ADMIN_TOKEN: "t" };
      expect(await findAdmin({}, named)).to.deep.include({
        endpoints: ["a:7403", "b:7403"],
        credentials: { token: "t" },
      });
      const admin = `${CONTEXT}  administered:
    endpoints: [c:7400]
    admin_endpoints: [c:7403]
    admin_token_file: token
    tls: true
`;
      await write(".config/quoin/config.yaml", admin);
      expect(await findAdmin({ context: "administered" })).to.deep.equal({
        endpoints: ["c:7403"],
        credentials: { tokenFile: path.join(directory, ".config/quoin/token") },
        tls: {},
      });
      const given = await findAdmin({ endpoints: ["d:7403"], tokenFile: "f" }, named);
      expect(given).to.deep.include({ endpoints: ["d:7403"], credentials: { tokenFile: "f" } });
      expect((await findAdmin({ endpoints: ["d:7403"] }, { QUOIN_TOKEN: "u" })).credentials).to.deep.equal({
        token: "u",
      });
    }));

  it("names the missing part for administration, and uses no port of another cluster instead", () =>
    withPlace(async ({ findAdmin, write }) => {
      expect((await usageError(findAdmin())).message).to.equal("no cluster is known here");
      await write(".quoin/endpoints.json", LOCAL_ENDPOINTS);
      const elsewhere = await usageError(findAdmin({}, { QUOIN_ENDPOINTS: "h:7400", QUOIN_TOKEN: "t" }));
      expect(elsewhere.message).to.equal("the admin ports of h:7400 are not known");
      expect(elsewhere.hint)
        .to.include("--endpoints host:7403 --token-file FILE")
        .and.to.include("QUOIN_ADMIN_ENDPOINTS");
      for (const environment of [{ QUOIN_API_KEY: "qk" }, {}]) {
        const error = await usageError(findAdmin({ endpoints: ["h:7403"] }, environment));
        expect(error.message).to.include("there is no admin token for h:7403");
      }
      const mode = await write(".config/quoin/config.yaml", "current: c\ncontexts: { c: { admin_token: t } }", 0o644);
      expect((await usageError(findAdmin())).message).to.include(mode);
    }));
});
