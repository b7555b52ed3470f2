import { expect } from "chai";
import { withEnvironment } from "../../test/index.ts";
import { DEFAULT_RATE_LIMITS } from "../access/index.ts";
import { DEFAULT_CLIENT_LIMITS } from "../api/connections/index.ts";
import { UsageError } from "../command-line/index.ts";
import { type Configuration, formatListen, isLoopback, parseConfiguration } from "./configuration.ts";

const REQUIRED = ["--name", "q-0", "--data-dir", "data"];

describe("parseConfiguration", () => {
  function parse(...args: string[]) {
    return parseConfiguration([...REQUIRED, ...args], "1.2.3");
  }

  function problem(args: string[]): string {
    try {
      parseConfiguration(args, "1.2.3");
    } catch (error) {
      expect(error).to.be.instanceOf(UsageError);
      return (error as Error).message;
    }
    throw new Error(`accepted ${args.join(" ")}`);
  }

  it("listens on the standard ports of the loopback interface, and on no admin or health port, by default", () => {
    const configuration = parse();
    expect(configuration).to.deep.include({
      name: "q-0",
      clusterName: "quoin",
      dataDirectory: "data",
      grpc: { host: "127.0.0.1", port: 7400 },
      http: { host: "127.0.0.1", port: 7401 },
      admin: null,
      health: null,
      peer: { host: "127.0.0.1", port: 7402 },
      peering: null,
      tls: null,
      advertisePeer: null,
      acceptMissingFence: false,
      foundingRecord: null,
      labelPodIn: null,
      hasDiskReserve: true,
      stateCacheBytes: 64 * 1024 * 1024,
      logCatchUpBytes: 1024 * 1024 * 1024,
      limits: DEFAULT_RATE_LIMITS,
      proxies: { trusted: [], speakProxyProtocol: false },
      corsOrigins: [],
      clientLimits: DEFAULT_CLIENT_LIMITS,
      mail: null,
      untilStdinEnds: false,
      logLevel: "info",
      lingerMs: 0,
      slowRequestMs: 1_000,
    });
  });

  it("takes flags about its environment", () => {
    const configuration = parse(
      ...["--founding-record", "identity", "--label-pod-in", "team-a"],
      ...["--join-token-file", "tokens", "--dial-hint", "fd00::7"],
    );
    expect(configuration).to.deep.include({ foundingRecord: "identity", labelPodIn: "team-a" });
    expect(configuration?.peering?.dialHint).to.equal("fd00::7");
    expect(problem([...REQUIRED, "--join-token-file", "tokens", "--dial-hint", "q-0.peers"])).to.include("IP address");
    expect(problem([...REQUIRED, "--dial-hint", "10.0.0.7"])).to.equal("--dial-hint needs --join-token-file");
    expect(problem([...REQUIRED, "--label-pod-in", "Team A"])).to.include("--label-pod-in");
  });

  it("takes certificate and key together, and authorities of clients only with them", () => {
    const both = ["--tls-cert", "a.crt", "--tls-key", "a.key"];
    expect(parse(...both)?.tls).to.deep.equal({ certificate: "a.crt", key: "a.key", clientAuthorities: null });
    expect(parse(...both, "--tls-client-ca", "c.crt")?.tls?.clientAuthorities).to.equal("c.crt");
    expect(problem([...REQUIRED, ...both.slice(0, 2)])).to.equal("--tls-cert needs --tls-key");
    expect(problem([...REQUIRED, ...both.slice(2)])).to.equal("--tls-key needs --tls-cert");
    expect(problem([...REQUIRED, "--tls-client-ca", "c.crt"])).to.include("--tls-cert and --tls-key");
    expect(problem([...REQUIRED, ...both.slice(0, 2), "--tls-client-ca", "c.crt"])).to.include("--tls-key");
  });

  it("takes rate limits by name, the last one of each name, and defaults for omitted parts", () => {
    const limits = ["grpc=0", "http=10", "http=60/30", "token-failures=5/10/2"].flatMap((text) => [
      "--rate-limit",
      text,
    ]);
    expect(parse(...limits)?.limits).to.deep.equal({
      ...DEFAULT_RATE_LIMITS,
      grpc: { requests: 0, windowSecs: 60, burst: 1 },
      http: { requests: 60, windowSecs: 30, burst: 2 },
      tokenFailures: { requests: 5, windowSecs: 10, burst: 2 },
    });
    expect(parse("--rate-limit", "http=1200000")?.limits).to.deep.equal(DEFAULT_RATE_LIMITS);
    for (const text of ["http", "http=", "http=-1", "http=1/0", "http=1/1/0", "ftp=1", "http=1.5", "__proto__=1"]) {
      expect(problem([...REQUIRED, "--rate-limit", text]), text).to.include("token-failures");
    }
  });

  it("takes an empty variable of the environment as none", () => {
    const names = ["TRUSTED_PROXIES", "CORS_ORIGINS", "SMTP_URL_FILE", "MAIL_FROM", "STATE_CACHE_MIB"];
    const more = ["LOG_CATCH_UP_MIB", "TRACE_SLOW_MS", "BACKUP_INTERVAL", "BACKUP_RETENTION", "BACKUP_KEY_FILE"];
    const empty = Object.fromEntries([...names, ...more].map((name) => [`QUOIN_${name}`, ""]));
    expect(withEnvironment(empty, () => parse())).to.deep.equal(parse());
  });

  it("refuses arguments and variables that are not UTF-8, for which Node has put U+FFFD", () => {
    expect(problem([...REQUIRED, "--data-dir", "caf\ufffd"])).to.match(/^argument \d+ is not UTF-8, .*: caf\ufffd$/);
    expect(withEnvironment({ QUOIN_BACKUP_KEY_FILE: "\ufffd" }, () => problem(REQUIRED))).to.match(
      /^QUOIN_BACKUP_KEY_FILE is not UTF-8, or has the character U\+FFFD$/,
    );
    expect(withEnvironment({ HOME_OF_OTHERS: "\ufffd" }, () => parse())).to.deep.equal(parse());
  });

  it("takes trusted proxies, from flags or the environment", () => {
    const flags = ["--trusted-proxies", "10.0.0.0/8, 2001:db8::7", "--proxy-protocol", "on"];
    const proxies = { trusted: ["10.0.0.0/8", "2001:db8::7"], speakProxyProtocol: true };
    expect(parse(...flags)?.proxies).to.deep.equal(proxies);
    const trusting = { QUOIN_TRUSTED_PROXIES: "10.0.0.0/8,2001:db8::7" };
    for (const [value, speakProxyProtocol] of [
      ...[["on", true] as const, ["yes", true] as const, ["TRUE", true] as const],
      ...[["off", false] as const, ["0", false] as const, ["", false] as const],
    ]) {
      const variables = { ...trusting, QUOIN_PROXY_PROTOCOL: value };
      expect(withEnvironment(variables, () => parse()?.proxies)).to.deep.equal({ ...proxies, speakProxyProtocol });
    }
    const wrong = { ...trusting, QUOIN_PROXY_PROTOCOL: "v2" };
    expect(withEnvironment(wrong, () => problem(REQUIRED))).to.include("QUOIN_PROXY_PROTOCOL");
    expect(parse("--trusted-proxies", "")?.proxies.trusted).to.deep.equal([]);
    const named = problem([...REQUIRED, "--trusted-proxies", "10.0.0.0/8,ingress"]);
    expect(named).to.include("--trusted-proxies").and.to.include('"ingress"');
    expect(problem([...REQUIRED, "--proxy-protocol", "on"])).to.include("needs --trusted-proxies");
  });

  it("takes the origins of pages, from a flag or the environment", () => {
    const origins = ["https://console.example.com", "http://localhost:3000"];
    expect(parse("--cors-origins", origins.join(", "))?.corsOrigins).to.deep.equal(origins);
    process.env.QUOIN_CORS_ORIGINS = origins.join(",");
    try {
      expect(parse()?.corsOrigins).to.deep.equal(origins);
    } finally {
      delete process.env.QUOIN_CORS_ORIGINS;
    }
    expect(problem([...REQUIRED, "--cors-origins", "*"]))
      .to.include("--cors-origins")
      .and.to.include('"*" must be');
  });

  it("takes limits of clients by name and scope, and defaults for omitted parts", () => {
    const limits = ["connections=100", "calls=50/40", "streams=7/6/5"].flatMap((text) => ["--client-limit", text]);
    expect(parse(...limits)?.clientLimits).to.deep.equal({
      ...DEFAULT_CLIENT_LIMITS,
      connections: { member: 100, address: 100 },
      calls: { member: 50, address: 40, user: 50 },
      streams: { member: 7, address: 6, user: 5 },
    });
    for (const text of [
      "calls",
      "calls=",
      "calls=0",
      "calls=1/0",
      "calls=1/1/1/1",
      "connections=1/1/1",
      "ftp=1",
      "__proto__=1",
    ]) {
      expect(problem([...REQUIRED, "--client-limit", text]), text).to.include("unverified-calls");
    }
  });

  it("takes the mail server from the environment, unless a flag names it", () => {
    const names = { QUOIN_SMTP_URL_FILE: "/etc/mail/url", QUOIN_MAIL_FROM: "quoin@example.com" };
    Object.assign(process.env, names);
    try {
      expect(parse()?.mail).to.deep.equal({ kind: "smtp", urlFile: "/etc/mail/url", from: "quoin@example.com" });
      expect(parse("--mail-from", "other@example.com")?.mail).to.include({ from: "other@example.com" });
      process.env.QUOIN_MAIL_FROM = "nobody";
      expect(problem(REQUIRED)).to.include("QUOIN_MAIL_FROM");
    } finally {
      for (const name of Object.keys(names)) {
        delete process.env[name];
      }
    }
  });

  it("sends mail in one way, whose flags must be complete", () => {
    const smtp = ["--smtp-url-file", "smtp-url", "--mail-from", "quoin@example.com"];
    expect(parse(...smtp)?.mail).to.deep.equal({ kind: "smtp", urlFile: "smtp-url", from: "quoin@example.com" });
    expect(parse("--mail-to-log")?.mail).to.deep.equal({ kind: "log" });
    expect(problem([...REQUIRED, ...smtp.slice(0, 2)])).to.include("--mail-from");
    expect(problem([...REQUIRED, ...smtp.slice(2)])).to.include("--smtp-url-file");
    expect(problem([...REQUIRED, ...smtp, "--mail-to-log"])).to.include("--mail-to-log");
    expect(problem([...REQUIRED, "--smtp-url-file", "smtp-url", "--mail-from", "nobody"])).to.include("--mail-from");
  });

  it("takes addresses of both families, and any free port", () => {
    expect(parse("--grpc", "[::1]:0", "--http", "localhost:65535")).to.deep.include({
      grpc: { host: "::1", port: 0 },
      http: { host: "localhost", port: 65_535 },
    });
  });

  it("connects to other members only with join tokens, and takes several seeds", () => {
    const { peer, peering } = parse(
      ...["--join-token-file", "tokens", "--peer", "0.0.0.0:7500", "--advertise-peer", "q-0:7500"],
      ...["--seed", "q-1:7402", "--seed", "[::1]:7402"],
    ) as Configuration;
    expect(peer).to.deep.equal({ host: "0.0.0.0", port: 7500 });
    expect(peering).to.deep.equal({
      seeds: ["q-1:7402", "[::1]:7402"],
      joinTokenFile: "tokens",
      dialHint: null,
      tls: null,
    });
    expect(parse("--join-token-file", "tokens")?.peering?.seeds).to.deep.equal([]);
  });

  it("needs an address that others can dial", () => {
    for (const any of ["0.0.0.0:7402", "[::]:7402", "*:7402"]) {
      const flags = [...REQUIRED, "--join-token-file", "tokens", "--peer", any];
      expect(problem(flags)).to.include(any).and.include("--advertise-peer");
    }
  });

  it("listens on every address, and refuses such an address as one to dial", () => {
    expect(parse("--grpc", "*:7400", "--health", "[fd00::7]:7404")).to.deep.include({
      grpc: { host: "*", port: 7400 },
      health: { host: "fd00::7", port: 7404 },
    });
    for (const flag of ["--advertise-grpc", "--advertise-http", "--advertise-peer", "--seed"]) {
      expect(problem([...REQUIRED, "--join-token-file", "tokens", flag, "*:7402"]))
        .to.include(flag)
        .and.include("cannot dial *");
    }
    expect(problem([...REQUIRED, "--grpc", "fd00::7:7400"]))
      .to.include("--grpc")
      .and.include("brackets");
  });

  it("takes all certificate flags or none", () => {
    const whole = new Map([
      ["--peer-cert", "crt"],
      ["--peer-key", "key"],
      ["--peer-ca", "ca"],
      ["--peer-join-name", "*.peers.example"],
    ]);
    const words = (flags: Iterable<readonly [string, string]>) => ["--join-token-file", "tokens", ...[...flags].flat()];
    expect(parse(...words(whole))?.peering?.tls).to.deep.equal({
      certificate: "crt",
      key: "key",
      authorities: "ca",
      joinName: "*.peers.example",
    });
    for (const lacking of whole.keys()) {
      const part = [...whole].filter(([flag]) => flag !== lacking);
      expect(problem([...REQUIRED, ...words(part)]), lacking).to.include(lacking);
    }
  });

  it("needs join tokens for everything that concerns other members", () => {
    for (const [flag, value] of [
      ["--peer", "127.0.0.1:0"],
      ["--seed", "q-1:7402"],
      ["--peer-cert", "file"],
      ["--peer-key", "file"],
      ["--peer-ca", "file"],
      ["--peer-join-name", "name"],
    ] as const) {
      expect(problem([...REQUIRED, flag, value]))
        .to.include(flag)
        .and.include("--join-token-file");
    }
  });

  it("names the missing or wrong flag, and the rule", () => {
    expect(problem(["--data-dir", "data"])).to.include("--name");
    expect(problem(["--name", "q-0"])).to.include("--data-dir");
    expect(problem([...REQUIRED, "--grpc", "7400"]))
      .to.include("--grpc")
      .and.to.include("host:port");
    expect(problem([...REQUIRED, "--http", "localhost:65536"]))
      .to.include("--http")
      .and.to.include("65535");
    expect(problem([...REQUIRED, "--advertise-grpc", "q-0:0"]))
      .to.include("--advertise-grpc")
      .and.to.include("port 0");
    expect(problem([...REQUIRED, "--seed", "q-0:0"]))
      .to.include("--seed")
      .and.to.include("port 0");
    expect(problem([...REQUIRED, "--peer-join-name", "a name"]))
      .to.include("--peer-join-name")
      .and.to.include("DNS");
    for (const size of ["0", "65537", "1e3", "-1", ""]) {
      expect(problem([...REQUIRED, "--state-cache-mib", size]))
        .to.include("--state-cache-mib")
        .and.include("1 to 65536");
    }
    for (const size of ["63", "65537", "1e3", "-64", ""]) {
      expect(problem([...REQUIRED, "--log-catch-up-mib", size]))
        .to.include("--log-catch-up-mib")
        .and.include("64 to 65536");
    }
    expect(problem([...REQUIRED, "--linger-ms", "10001"]))
      .to.include("--linger-ms")
      .and.to.include("at most 10000");
    expect(problem([...REQUIRED, "--log-level", "loud"]))
      .to.include("--log-level")
      .and.to.include("debug");
    expect(problem([...REQUIRED, "--admin", "127.0.0.1:7403"])).to.include("--admin-token-file");
    expect(problem([...REQUIRED, "--nonsense"])).to.include("--nonsense");
    expect(problem([...REQUIRED, "extra"])).to.include("argument");
    expect(problem(["--name", "Q_0", "--data-dir", "data"]))
      .to.include("--name")
      .and.to.include("DNS");
  });
});

describe("formatListen", () => {
  it("puts IPv6 addresses in brackets", () => {
    expect(formatListen({ host: "::1", port: 7400 })).to.equal("[::1]:7400");
    expect(formatListen({ host: "127.0.0.1", port: 7400 })).to.equal("127.0.0.1:7400");
  });
});

describe("isLoopback", () => {
  it("recognizes loopback addresses", () => {
    for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "::1"]) {
      expect(isLoopback({ host, port: 1 }), host).to.equal(true);
    }
    for (const host of ["0.0.0.0", "::", "*", "127.0.0.1.example", "10.0.0.1", "localhost.example"]) {
      expect(isLoopback({ host, port: 1 }), host).to.equal(false);
    }
  });
});
