import { status } from "@grpc/grpc-js";
import { decodeStatusDetails } from "@quoin/proto";
import { expect } from "chai";
import { CoordinationError } from "../../state/index.ts";
import { type CallStatus, errorStatus, replayedField } from "./status.ts";

/** The trailers by name; each is there once. */
function trailersOf({ trailers }: CallStatus): Record<string, string> {
  const pairs = Array.from({ length: trailers.length / 2 }, (_, at) => trailers.slice(2 * at, 2 * at + 2));
  expect(new Set(pairs.map(([name]) => name)).size).equal(pairs.length);
  return Object.fromEntries(pairs);
}

function detailsOf(answer: CallStatus) {
  return decodeStatusDetails(Buffer.from(trailersOf(answer)["grpc-status-details-bin"] ?? "", "base64"));
}

describe("gRPC status", () => {
  it("carries code, message, details and trailers of a refusal", () => {
    const refusal = new CoordinationError("REVISION_MISMATCH", "expected 3, found 5", {
      details: new Map([["mod_revision", "5"]]),
    });
    const answer = errorStatus(refusal, "no", "10.0.0.1:7400");
    expect(answer.code).equal(status.FAILED_PRECONDITION);
    expect(answer.message).equal("expected 3, found 5");
    expect(answer.reason).equal("REVISION_MISMATCH");
    const { "grpc-status-details-bin": _encoded, ...trailers } = trailersOf(answer);
    expect(trailers).deep.equal({
      "error-reason": "REVISION_MISMATCH",
      outcome: "not-executed",
      "leader-endpoint": "10.0.0.1:7400",
    });
    expect(detailsOf(answer)).deep.equal({
      code: status.FAILED_PRECONDITION,
      message: "expected 3, found 5",
      reason: "REVISION_MISMATCH",
      domain: "quoin.dev",
      metadata: new Map([["mod_revision", "5"]]),
      retryDelayMs: undefined,
    });
  });

  it("says when to retry an error that a retry can solve, and never 0 (S46)", () => {
    for (const reason of ["NO_LEADER", "LEADER_CHANGED", "SHUTTING_DOWN", "OVERLOADED"] as const) {
      const answer = errorStatus(new CoordinationError(reason, "later"), "no", null);
      expect(answer.code).equal(status.UNAVAILABLE);
      expect(detailsOf(answer).retryDelayMs, reason).greaterThan(0);
    }
    expect(detailsOf(errorStatus(new CoordinationError("QUOTA", "full"), "no", null)).retryDelayMs).equal(undefined);
  });

  it("keeps the outcome of the error", () => {
    const lost = new CoordinationError("LEADER_CHANGED", "lost", { outcome: "unknown" });
    expect(trailersOf(errorStatus(lost, "no", null)).outcome).equal("unknown");
  });

  it("names no leader if none is known, or if a trailer cannot contain it", () => {
    const refusal = new CoordinationError("NO_LEADER", "none");
    expect(trailersOf(errorStatus(refusal, "no", null))).not.to.have.property("leader-endpoint");
    expect(trailersOf(errorStatus(refusal, "no", "h\u00f4te:1"))).not.to.have.property("leader-endpoint");
  });

  it("reports a bug without any details", () => {
    const answer = errorStatus(new TypeError("password 'hunter2' is not a function"), "no", null);
    expect(answer.code).equal(status.INTERNAL);
    expect(JSON.stringify([answer, detailsOf(answer).message])).not.to.include("hunter2");
    expect(trailersOf(answer).outcome).equal("unknown");
    expect(detailsOf(answer).reason).equal("INTERNAL");
  });

  it("cuts off a message that is too long for trailers, between characters", () => {
    const short = new CoordinationError("NAMESPACE_DENIED", "\u{1f600}".repeat(256));
    expect(errorStatus(short, "no", null).message).equal(short.message);
    for (const filler of ["a", "\u00e9", "\uffff", "\u{1f600}"]) {
      const long = new CoordinationError("NAMESPACE_DENIED", filler.repeat(1_000_000));
      const { message } = errorStatus(long, "no", null);
      expect(Buffer.byteLength(message)).within(1_000, 1_024);
      expect(message.isWellFormed()).equal(true);
      expect(message.slice(0, -1)).equal(filler.repeat((message.length - 1) / filler.length));
    }
  });

  it("never contains a lone surrogate, which could not be encoded", () => {
    expect(errorStatus(new CoordinationError("BAD_FIELD", "a\ud83d"), "no", null).message).equal("a\ufffd");
  });

  it("marks replays, with and without their values", () => {
    expect(replayedField("no")).deep.equal([]);
    expect(replayedField("yes")).deep.equal(["replayed", "true"]);
    expect(replayedField("no-values")).deep.equal(["replayed", "no-values"]);
    const answer = errorStatus(new CoordinationError("KEY_NOT_FOUND", "no such key"), "yes", null);
    expect(trailersOf(answer).replayed).equal("true");
  });
});
