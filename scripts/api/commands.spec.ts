import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { curlCommand, grpcurlCommand } from "./commands.ts";
import { EXAMPLES, type GrpcExample, type HttpExample } from "./index.ts";

const SETTINGS = { API: "http://member", TOKEN: "t", ADMIN_TOKEN: "a", GRPC: "member:1", ADMIN: "member:2" };
/** In place of the programs, these functions print their arguments, with a NUL after each. */
const PROGRAMS =
  'print() { printf \'%s\\0\' "$@"; }; grpcurl() { print "$@"; }; curl() { print "$@"; }; uuidgen() { echo u; }';

function argumentsOf(command: string): string[] {
  const env = { ...process.env, ...SETTINGS };
  return execFileSync("sh", ["-euc", `${PROGRAMS}\n${command}`], { encoding: "utf8", env })
    .split("\0")
    .slice(0, -1);
}

/** The values that follow this option. */
function valuesOf(option: string, given: readonly string[]): string[] {
  return given.filter((_, at) => given[at - 1] === option);
}

describe("commands of examples", () => {
  it("give grpcurl the message, the metadata, the port and the method", () => {
    const examples = EXAMPLES.filter((example): example is GrpcExample => example.kind === "grpc");
    expect(examples).to.have.lengthOf.at.least(30);
    for (const example of examples) {
      const given = argumentsOf(grpcurlCommand(example));
      const isAdmin = example.port === "admin";
      expect(valuesOf("-H", given)).to.deep.equal([
        `authorization: Bearer ${isAdmin ? "a" : "t"}`,
        "api-version: v1",
        "request-id: u",
      ]);
      expect(JSON.parse(valuesOf("-d", given)[0] ?? "{}")).to.deep.equal(example.request);
      expect(given.slice(-2)).to.deep.equal([isAdmin ? "member:2" : "member:1", `coordination.v1.${example.method}`]);
      expect(given.includes("-protoset")).to.equal(isAdmin);
    }
  });

  it("give curl the method, the address, the headers and the body", () => {
    const examples = EXAMPLES.filter((example): example is HttpExample => example.kind === "http");
    expect(examples).to.have.lengthOf.at.least(20);
    for (const example of examples) {
      const { method, target, isAuthorized, headers = {}, json, text } = example;
      const given = argumentsOf(curlCommand(example));
      const [body] = [...valuesOf("-d", given), ...valuesOf("--data-binary", given)];
      expect(given).to.include(`http://member${target}`);
      expect(valuesOf("-X", given)[0] ?? (body === undefined ? "GET" : "POST")).to.equal(method);
      expect(valuesOf("-H", given)).to.have.members([
        ...(isAuthorized ? ["Authorization: Bearer t"] : []),
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        ...(json === undefined ? [] : ["Content-Type: application/json"]),
      ]);
      if (json === undefined) {
        expect(body).to.equal(text);
      } else {
        expect(JSON.parse(String(body))).to.deep.equal(json);
      }
    }
  });

  it("quote what a shell would change", () => {
    const request = { key: 'it\'s $HOME and `date` \\ "x"' };
    const given = argumentsOf(grpcurlCommand({ kind: "grpc", method: "S/M", request, answers: [] }));
    expect(JSON.parse(valuesOf("-d", given)[0] ?? "")).to.deep.equal(request);
  });
});
