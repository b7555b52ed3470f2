import { status } from "@grpc/grpc-js";
import { decodeStatusDetails } from "@quoin/proto";
import { expect } from "chai";
import { CoordinationError } from "../../state/index.ts";
import { errorStatus, replayedMetadata } from "./status.ts";

function detailsOf(answer: ReturnType<typeof errorStatus>) {
  const [encoded] = answer.metadata.get("grpc-status-details-bin");
  return decodeStatusDetails(encoded as Buffer);
}

describe("gRPC status", () => {
  it("carries code, message, details and trailers of a refusal", () => {
    const refusal = new CoordinationError("REVISION_MISMATCH", "expected 3, found 5", {
      details: new Map([["mod_revision", "5"]]),
    });
    const answer = errorStatus(refusal, "no", "10.0.0.1:7400");
    expect(answer.code).equal(status.FAILED_PRECONDITION);
    expect(answer.details).equal("expected 3, found 5");
    const { "grpc-status-details-bin": _encoded, ...trailers } = answer.metadata.getMap();
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

  it("tells when to retry what another try can mend, and never 0 (S46)", () => {
    for (const reason of ["NO_LEADER", "LEADER_CHANGED", "SHUTTING_DOWN", "OVERLOADED"] as const) {
      const answer = errorStatus(new CoordinationError(reason, "later"), "no", null);
      expect(answer.code).equal(status.UNAVAILABLE);
      expect(detailsOf(answer).retryDelayMs, reason).greaterThan(0);
    }
    expect(detailsOf(errorStatus(new CoordinationError("QUOTA", "full"), "no", null)).retryDelayMs).equal(undefined);
  });

  it("keeps the outcome that the error knows", () => {
    const lost = new CoordinationError("LEADER_CHANGED", "lost", { outcome: "unknown" });
    expect(errorStatus(lost, "no", null).metadata.get("outcome")).deep.equal(["unknown"]);
  });

  it("names no leader that it does not know, or that no trailer can carry", () => {
    const refusal = new CoordinationError("NO_LEADER", "none");
    expect(errorStatus(refusal, "no", null).metadata.get("leader-endpoint")).deep.equal([]);
    expect(errorStatus(refusal, "no", "h\u00f4te:1").metadata.get("leader-endpoint")).deep.equal([]);
  });

  it("says of a bug only that there was one", () => {
    const answer = errorStatus(new TypeError("password 'hunter2' is not a function"), "no", null);
    expect(answer.code).equal(status.INTERNAL);
    expect(JSON.stringify([answer, detailsOf(answer).message])).not.to.include("hunter2");
    expect(answer.metadata.get("outcome")).deep.equal(["unknown"]);
    expect(detailsOf(answer).reason).equal("INTERNAL");
  });

  it("cuts off a message that trailers could not carry, between characters", () => {
    const short = new CoordinationError("NAMESPACE_DENIED", "\u{1f600}".repeat(256));
    expect(errorStatus(short, "no", null).details).equal(short.message);
    for (const filler of ["a", "\u00e9", "\uffff", "\u{1f600}"]) {
      const long = new CoordinationError("NAMESPACE_DENIED", filler.repeat(1_000_000));
      const { details } = errorStatus(long, "no", null);
      expect(Buffer.byteLength(details)).within(1_000, 1_024);
      expect(details.isWellFormed()).equal(true);
      expect(details.slice(0, -1)).equal(filler.repeat((details.length - 1) / filler.length));
    }
  });

  it("never carries a lone surrogate, which could not be encoded", () => {
    expect(errorStatus(new CoordinationError("BAD_FIELD", "a\ud83d"), "no", null).details).equal("a\ufffd");
  });

  it("marks replays, with and without their values", () => {
    expect(replayedMetadata("no")).equal(null);
    expect(replayedMetadata("yes")?.getMap()).deep.equal({ replayed: "true" });
    expect(replayedMetadata("no-values")?.getMap()).deep.equal({ replayed: "no-values" });
    const answer = errorStatus(new CoordinationError("KEY_NOT_FOUND", "no such key"), "yes", null);
    expect(answer.metadata.get("replayed")).deep.equal(["true"]);
  });
});
