import { expect } from "chai";
import { UsageError } from "./command-line/index.ts";
import { formatListen, parseConfiguration } from "./configuration.ts";

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

  it("listens on the standard ports of the loopback interface, and on no admin or health port, unless told so", () => {
    const configuration = parse();
    expect(configuration).to.deep.include({
      name: "q-0",
      clusterName: "quoin",
      dataDirectory: "data",
      grpc: { host: "127.0.0.1", port: 7400 },
      http: { host: "127.0.0.1", port: 7401 },
      admin: null,
      health: null,
      advertisePeer: "127.0.0.1:7402",
      acceptMissingFence: false,
      untilStdinEnds: false,
      logLevel: "info",
    });
  });

  it("takes addresses of both families, and any free port", () => {
    expect(parse("--grpc", "[::1]:0", "--http", "localhost:65535")).to.deep.include({
      grpc: { host: "::1", port: 0 },
      http: { host: "localhost", port: 65_535 },
    });
  });

  it("names what is missing or wrong, and the rule", () => {
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
