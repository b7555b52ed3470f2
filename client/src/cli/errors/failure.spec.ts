import { expect } from "chai";
import { QuoinError, type QuoinErrorCode } from "../../index.ts";
import { NotAsExpectedError, UsageError } from "./command-error.ts";
import { describeFailure, namingEndpoints } from "./failure.ts";

const REQUEST_ID = "00000000-0000-4000-8000-000000000000";

function exitCode(code: QuoinErrorCode, reason = ""): number {
  return describeFailure(new QuoinError({ code, reason, message: "m", requestId: REQUEST_ID })).exitCode;
}

describe("describeFailure", () => {
  it("gives each kind of failure its exit code", () => {
    expect(exitCode("NOT_FOUND", "KEY_NOT_FOUND")).to.equal(1);
    expect(exitCode("UNAUTHENTICATED")).to.equal(1);
    expect(exitCode("INVALID_ARGUMENT", "TOO_LARGE")).to.equal(1);
    expect(exitCode("INTERNAL")).to.equal(1);
    expect(exitCode("UNAVAILABLE")).to.equal(3);
    expect(exitCode("DEADLINE_EXCEEDED")).to.equal(3);
    expect(exitCode("FAILED_PRECONDITION", "REVISION_MISMATCH")).to.equal(4);
    expect(exitCode("FAILED_PRECONDITION", "CONFIG_CHANGED")).to.equal(4);
    expect(exitCode("FAILED_PRECONDITION", "VERSION_MISMATCH")).to.equal(4);
    expect(exitCode("FAILED_PRECONDITION", "NOT_ACQUIRED")).to.equal(4);
    expect(exitCode("FAILED_PRECONDITION", "LOCK_LOST")).to.equal(1);
    expect(exitCode("ABORTED", "FENCED")).to.equal(1);
    expect(exitCode("FAILED_PRECONDITION", "NOT_EMPTY")).to.equal(1);
    expect(exitCode("FAILED_PRECONDITION", "LEARNER_NOT_READY")).to.equal(1);
    expect(describeFailure(new UsageError("u")).exitCode).to.equal(2);
    expect(describeFailure(new NotAsExpectedError("c")).exitCode).to.equal(4);
    const refusedHere = new QuoinError({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD", message: "m" });
    expect(describeFailure(refusedHere).exitCode, "an argument that the SDK refuses").to.equal(2);
  });

  it("is one line with the reason, or the code where there is none, and no control sequence", () => {
    const error = new QuoinError({
      code: "NOT_FOUND",
      reason: "KEY_NOT_FOUND",
      message: "no key \u001b[31m\nx",
      requestId: REQUEST_ID,
    });
    expect(describeFailure(error).message).to.equal("no key \\u{1b}[31m\\nx (KEY_NOT_FOUND)");
    expect(describeFailure(new QuoinError({ code: "UNKNOWN", message: "m" })).message).to.equal("m (UNKNOWN)");
    expect(describeFailure(new UsageError("a\nb")).message).to.equal("a\\nb");
  });

  it("adds a hint where one helps", () => {
    const hint = (code: QuoinErrorCode, reason: string, outcome: "unknown" | "not-executed") =>
      describeFailure(new QuoinError({ code, reason, outcome, message: "m", requestId: REQUEST_ID })).hint;
    expect(hint("NOT_FOUND", "NAMESPACE_NOT_FOUND", "not-executed")).to.include("quoinctl namespace create");
    expect(hint("NOT_FOUND", "LOCK_NOT_FOUND", "not-executed")).to.include("quoinctl lock create");
    expect(hint("UNAVAILABLE", "", "not-executed")).to.include("--endpoints");
    expect(hint("DEADLINE_EXCEEDED", "DEADLINE", "unknown")).to.include("may have been executed");
    expect(hint("UNAUTHENTICATED", "TOKEN_INVALID", "not-executed")).to.include("--api-key-file");
    expect(hint("NOT_FOUND", "KEY_NOT_FOUND", "not-executed")).to.equal(undefined);
    expect(hint("UNIMPLEMENTED", "NOT_SERVED", "not-executed")).to.equal(undefined);
    const onAdminPort = {
      code: "UNIMPLEMENTED",
      reason: "NOT_SERVED",
      message: "M is served on the admin port only",
    } as const;
    expect(describeFailure(new QuoinError({ ...onAdminPort, outcome: "not-executed" })).hint).to.include("host:7403");
  });

  it("shows the stack of a bug", () => {
    const { message, exitCode: code } = describeFailure(new TypeError("bug"));
    expect(message).to.match(/^unexpected error: TypeError: bug\n {4}at /);
    expect(code).to.equal(1);
  });

  it("suggests to check the cluster only if no member has answered", () => {
    const hintOf = (reason: string) =>
      describeFailure(new QuoinError({ code: "UNAVAILABLE", reason, outcome: "not-executed", message: "m" })).hint;
    expect(hintOf("")).to.include("--endpoints");
    expect(hintOf("NO_LEADER")).to.equal(undefined);
  });

  for (const [connection, hint] of [
    ["refused", "is the cluster running?"],
    ["unknown-name", "check the spelling"],
    ["timeout", "firewall"],
    ["unreachable", "network"],
    ["closed", "pass --ca FILE"],
    ["untrusted-certificate", "--ca FILE"],
    ["wrong-certificate", "an address that the certificate has"],
    ["expired-certificate", "a new certificate"],
    ["no-tls", "leave out --ca"],
    ["client-certificate", "--cert FILE --key FILE"],
    ["other", "is the cluster running?"],
  ] as const) {
    it(`helps without a connection: ${connection}`, () => {
      const fields = { code: "UNAVAILABLE", message: "m", details: new Map([["connection", connection]]) } as const;
      const unsent = describeFailure(new QuoinError({ ...fields, outcome: "not-executed" }));
      expect(unsent.exitCode).to.equal(3);
      expect(unsent.hint).to.include(hint);
      const sent = describeFailure(new QuoinError({ ...fields, outcome: "unknown" }));
      expect(sent.hint).to.include("may have been executed");
    });
  }

  it("names all endpoints without a connection, and leaves other errors as they are", () => {
    const cluster = { endpoints: ["a:1", "b:1"] };
    const messageFor = (address: string, endpoints: typeof cluster) => {
      const details = new Map([
        ["address", address],
        ["connection", "refused"],
      ]);
      const error = new QuoinError({ code: "UNAVAILABLE", message: `no connection to ${address}`, details });
      return describeFailure(namingEndpoints(error, endpoints)).message;
    };
    expect(messageFor("b:1", cluster)).to.equal("no connection to b:1; the endpoints are a:1, b:1 (UNAVAILABLE)");
    expect(messageFor("a:1", { endpoints: ["a:1"] })).to.equal("no connection to a:1 (UNAVAILABLE)");
    const other = new QuoinError({ code: "UNAVAILABLE", reason: "NO_LEADER", message: "m" });
    expect(namingEndpoints(other, cluster)).to.equal(other);
  });

  it("names the ports when another protocol is spoken there, also if something was sent", () => {
    const fields = { code: "UNAVAILABLE", message: "m", details: new Map([["connection", "other-protocol"]]) } as const;
    for (const outcome of ["not-executed", "unknown"] as const) {
      expect(describeFailure(new QuoinError({ ...fields, outcome })).hint).to.include("different ports, 7400 and 7401");
    }
  });
});
