import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import {
  ConnectProxy,
  failure,
  runQuoinctl,
  runtimeForUnreached,
  ScriptedMember,
  UNTRUSTED_CERTIFICATE,
  UNTRUSTED_KEY,
  until,
} from "../../test/index.ts";
import { createAdminClient, createClient, type QuoinError, type TlsOptions } from "../index.ts";
import { proxyFor } from "./environment-proxy.ts";

describe("the proxy of the environment", () => {
  it("is the first variable that is set, with that of gRPC first, and small letters before capitals", () => {
    const shown = (address: string, environment: NodeJS.ProcessEnv) => proxyFor(address, environment)?.shown;
    const all = { grpc_proxy: "http://g:1", https_proxy: "http://s:2", http_proxy: "http://h:3" };
    expect(shown("q:7400", all)).to.equal("http://g:1 of grpc_proxy");
    expect(shown("q:7400", { ...all, grpc_proxy: "" })).to.equal("http://s:2 of https_proxy");
    expect(shown("q:7400", { http_proxy: "p:3128", HTTP_PROXY: "http://u" })).to.equal("http://p:3128 of http_proxy");
    expect(shown("q:7400", { https_proxy: " ", HTTPS_PROXY: "http://[::1]:8080/" })).to.equal(
      "http://[::1]:8080 of HTTPS_PROXY",
    );
    expect(shown("q:7400", { HTTP_PROXY: "http://p" })).to.equal("http://p:80 of HTTP_PROXY");
    expect(shown("q:7400", { HTTP_PROXY: "http://p", REQUEST_METHOD: "GET" })).to.equal(undefined);
    expect(shown("q:7400", {})).to.equal(undefined);
  });

  it("does not hold for this machine", () => {
    for (const address of ["127.0.0.1:7400", "[::1]:7400", "localhost:7400"]) {
      expect(proxyFor(address, { https_proxy: "http://p:1" }), address).to.equal(undefined);
    }
  });

  it("does not hold for what no_proxy names: names with those below, addresses, networks, or all", () => {
    for (const [list, address, isDirect] of [
      ["example.com", "q.example.com:7400", true],
      ["a.test, .Example.com", "Q.example.COM:7400", true],
      ["*.example.com", "q.example.com:7401", true],
      ["example.com", "badexample.com:7400", false],
      ["10.0.0.0/8,", "10.1.2.3:7400", true],
      ["10.0.0.0/8", "11.1.2.3:7400", false],
      ["10.1.2.3", "10.1.2.3:7401", true],
      ["fd00::/16", "[fd00::1]:7400", true],
      ["fd00::/16", "[fd00:1::1]:7401", true],
      ["10.0.0.0/99,,/,x/y", "10.1.2.3:7400", false],
      ["*", "q:7400", true],
      ["", "q:7400", false],
    ] as const) {
      const found = proxyFor(address, { https_proxy: "http://p:1", NO_PROXY: list });
      expect(found === undefined, `${list} and ${address}`).to.equal(isDirect);
    }
    const grpcOnly = { https_proxy: "http://p:1", no_grpc_proxy: "q", no_proxy: "r" };
    expect(proxyFor("q:7400", grpcOnly)).to.equal(undefined);
    expect(proxyFor("r:7400", grpcOnly)).to.include({ host: "p" });
  });

  it("is refused without its password if it is no http://host:port", () => {
    for (const value of [
      "https://u:secret@p:1",
      "socks5://u:secret@p:1",
      "http://u:secret%zz@p:1",
      "http://u:secret@",
    ]) {
      expect(() => proxyFor("q:7400", { https_proxy: value }), value)
        .to.throw("https_proxy must name a proxy as http://host:port")
        .with.property("message")
        .that.does.not.include("secret");
    }
  });
});

describe("connections through the proxy of the environment", () => {
  const names = ["grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy"].flatMap((name) => [
    name,
    name.toUpperCase(),
  ]);
  /** Those of this machine would change the result. */
  let saved: Map<string, string | undefined>;
  let member: ScriptedMember;
  let proxies: ConnectProxy[];

  beforeEach(async () => {
    saved = new Map(names.map((name) => [name, process.env[name]]));
    for (const name of names) {
      delete process.env[name];
    }
    proxies = [];
    member = await ScriptedMember.start({ getKey: () => ({ revision: 7n }) });
  });

  afterEach(async () => {
    for (const proxy of proxies) {
      proxy.stop();
    }
    member.stop();
    for (const [name, value] of saved) {
      if (value === undefined) {
        delete process.env[name];
      } else {
        process.env[name] = value;
      }
    }
  });

  async function startProxy(endpoint: string, status?: number): Promise<ConnectProxy> {
    const proxy = await ConnectProxy.start(Number(endpoint.slice(endpoint.lastIndexOf(":") + 1)), status);
    proxies.push(proxy);
    return proxy;
  }

  async function revisionBy(endpoint: string, tls?: TlsOptions): Promise<number> {
    const runtime = runtimeForUnreached();
    const client = createClient({ endpoints: [endpoint], credentials: { token: "t" }, tls, runtime });
    try {
      return (await client.keyValue.get("n", "k")).revision;
    } finally {
      client.close();
    }
  }

  async function connectionError(): Promise<QuoinError> {
    const admin = createAdminClient({ endpoint: "q-0.test:7403", credentials: { token: "t" } });
    try {
      return await failure(admin.getStatus());
    } finally {
      admin.close();
    }
  }

  it("carry calls", async () => {
    const proxy = await startProxy(member.endpoint);
    process.env.grpc_proxy = `http://127.0.0.1:${proxy.port}`;
    process.env.HTTPS_PROXY = "http://127.0.0.1:1";
    expect(await revisionBy("q-0.test:7400")).to.equal(7);
    expect([proxy.wanted, proxy.authorization]).to.deep.equal([["q-0.test:7400"], undefined]);
  });

  it("carry TLS from end to end", async () => {
    const tls = { ca: UNTRUSTED_CERTIFICATE };
    const encrypted = await ScriptedMember.start(
      { getKey: () => ({ revision: 8n }) },
      { tls: { certificate: UNTRUSTED_CERTIFICATE, key: UNTRUSTED_KEY } },
    );
    try {
      const proxy = await startProxy(encrypted.endpoint);
      process.env.https_proxy = `http://127.0.0.1:${proxy.port}`;
      const both = { ...tls, certificate: UNTRUSTED_CERTIFICATE, key: UNTRUSTED_KEY };
      expect(await revisionBy("stranger.invalid:7400", both)).to.equal(8);
      expect((await failure(revisionBy("q-0.test:7400", both))).message).to.include("for another address");
      expect(new Set(proxy.wanted)).to.deep.equal(new Set(["stranger.invalid:7400", "q-0.test:7400"]));
    } finally {
      encrypted.stop();
    }
  });

  it("are direct to what no_proxy names, and to this machine", async () => {
    process.env.https_proxy = "http://127.0.0.1:1";
    expect(await revisionBy(member.endpoint)).to.equal(7);
    process.env.no_proxy = "q-0.test";
    expect((await connectionError()).message)
      .to.include("the name has no address")
      .and.to.not.include("proxy");
  });

  it("give the proxy its credentials, and show them to nobody else", async () => {
    const proxy = await startProxy(member.endpoint);
    process.env.https_proxy = `http://ada:s%40cret@127.0.0.1:${proxy.port}`;
    expect(await revisionBy("q-0.test:7400")).to.equal(7);
    expect(proxy.authorization).to.equal(`Basic ${Buffer.from("ada:s@cret").toString("base64")}`);
    const refusing = await startProxy(member.endpoint, 407);
    process.env.https_proxy = `http://ada:s%40cret@127.0.0.1:${refusing.port}`;
    const error = await connectionError();
    const through = `by the proxy http://127.0.0.1:${refusing.port} of https_proxy`;
    expect(error).to.include({ code: "UNAVAILABLE", outcome: "not-executed" });
    expect(error.message).to.include(`${through}: the proxy answered with status 407`);
    expect(error.details.get("connection")).to.equal("proxy");
    expect(JSON.stringify([error.message, ...error.details])).to.not.match(/ada|s@cret|s%40cret/);
  });

  it("name a dead proxy in the error, and with quoinctl the way around it", async () => {
    const directory = temporaryDirectory();
    process.env.http_proxy = "http://127.0.0.1:1";
    const error = await connectionError();
    expect(error.message).to.match(
      /^no connection to \S+ by the proxy http:\/\/127\.0\.0\.1:1 of http_proxy: no process listens there/,
    );
    expect(error.details.get("proxy")).to.equal("http://127.0.0.1:1 of http_proxy");
    const environment = { QUOIN_ENDPOINTS: "q-0.test:7400", QUOIN_TOKEN: "t", http_proxy: "http://a:b@127.0.0.1:1" };
    const words = ["kv", "get", "n/k", "--timeout", "500ms"];
    const { code, stderr } = await runQuoinctl(words, { directory, environment });
    expect(code).to.equal(3);
    expect(stderr).to.include("by the proxy http://127.0.0.1:1 of http_proxy").and.to.not.include("a:b");
    expect(stderr).to.include("hint: to reach the members directly, name them in the variable no_proxy");
  });

  it("end with the client while the proxy has not answered", async () => {
    const proxy = await startProxy(member.endpoint, 0);
    process.env.https_proxy = `http://127.0.0.1:${proxy.port}`;
    const client = createClient({ endpoints: ["q-0.test:7400"], credentials: { token: "t" } });
    const ended = failure(client.keyValue.get("n", "k"));
    await until("the request to the proxy", () => proxy.open > 0);
    client.close();
    await ended;
    await until("the end of the connection", () => proxy.open === 0);
  });
});
