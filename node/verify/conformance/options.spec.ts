import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { parseOptions, UsageError } from "./options.ts";

describe("options of npm run conformance", () => {
  let directory: string;

  beforeEach(() => {
    directory = temporaryDirectory();
  });

  function file(name: string, content: string): string {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  }

  it("without endpoints, mean a cluster of this machine", () => {
    expect(parseOptions([], { QUOIN_TOKEN: "t" })).to.deep.equal({ target: null, grep: null, protocol: "grpc" });
    expect(parseOptions(["--grep", "S1[0-9]"], {})).to.deep.equal({ target: null, grep: /S1[0-9]/, protocol: "grpc" });
  });

  it("take tokens from files or the environment, and never as arguments", () => {
    const target = {
      endpoints: ["a:1", "b:2"],
      httpEndpoints: [],
      token: "from the environment",
      otherTokens: [],
      mailLogs: [],
      mayCompact: false,
    };
    const endpoints = ["--endpoint", "a:1", "--endpoint", "b:2"];
    expect(parseOptions(endpoints, { QUOIN_TOKEN: "from the environment" })?.target).to.deep.equal(target);
    const http = ["--http-endpoint", "a:3", "--http-endpoint", "b:4"];
    const files = [
      "--compact",
      ...http,
      ...["--mail-log", "q-0.log"],
      ...["--token-file", file("token", "of the file\n"), "--ca", file("ca", "authority")],
      ...["--other-token-file", file("one", "1"), "--other-token-file", file("two", "2\n")],
    ];
    expect(parseOptions([...endpoints, ...files], { QUOIN_TOKEN: "t" })?.target).to.deep.equal({
      ...target,
      httpEndpoints: ["a:3", "b:4"],
      token: "of the file",
      otherTokens: ["1", "2"],
      mailLogs: ["q-0.log"],
      ca: Buffer.from("authority"),
      mayCompact: true,
    });
    expect(() => parseOptions(["--token", "t"], {})).to.throw(UsageError, /unknown option '--token'/);
  });

  it("refuse what makes no sense, and say why", () => {
    for (const [args, message] of [
      [["--endpoint", "a:1"], /a token is needed: --token-file, or QUOIN_TOKEN/],
      [["--endpoint", "a:1", "--token-file", join(directory, "absent")], /absent cannot be read/],
      [["--token-file", file("token", "t")], /are for --endpoint/],
      [["--ca", file("ca", "c")], /are for --endpoint/],
      [["--http-endpoint", "a:3"], /are for --endpoint/],
      [["--mail-log", "q-0.log"], /are for --endpoint/],
      [["--endpoint", "a:1", "--endpoint", "b:1", "--http-endpoint", "a:3"], /for every --endpoint or for none/],
      [["--grep", "("], /--grep/],
      [["a:1"], /argument/],
    ] as const) {
      expect(() => parseOptions(args, {}), args.join(" ")).to.throw(UsageError, message);
    }
  });
});
