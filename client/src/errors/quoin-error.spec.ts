import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { encodeStatusDetails, STATUS_DETAILS_TRAILER } from "@quoin/proto";
import { expect } from "chai";
import { QuoinError, type QuoinErrorCode } from "./quoin-error.ts";

function serviceError(
  code: number,
  details: string,
  trailers: Readonly<Record<string, string | Buffer>> = {},
): ServiceError {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) {
    metadata.set(name, value);
  }
  return Object.assign(new Error(`${code}: ${details}`), { code, details, metadata });
}

const ALL_CODES = Object.keys(status).filter((name) => Number.isNaN(Number(name)) && name !== "OK") as QuoinErrorCode[];

describe("QuoinError.from", () => {
  it("returns a QuoinError as it is", () => {
    const error = new QuoinError({ code: "NOT_FOUND", message: "gone" });
    expect(QuoinError.from(error)).to.equal(error);
  });

  it("names every gRPC code", () => {
    for (const name of ALL_CODES) {
      expect(QuoinError.from(serviceError(status[name], "x")).code).to.equal(name);
    }
    expect(ALL_CODES).to.have.length(16);
    expect(QuoinError.from(serviceError(99, "x")).code).to.equal("UNKNOWN");
  });

  it("reads reason, outcome, details, retry delay and leader from the trailers", () => {
    const details = encodeStatusDetails({
      code: status.UNAVAILABLE,
      message: "no leader",
      reason: "NO_LEADER",
      metadata: new Map([["__proto__", "an ordinary name"]]),
      retryDelayMs: 250,
    });
    const cause = serviceError(status.UNAVAILABLE, "no leader", {
      [STATUS_DETAILS_TRAILER]: details,
      "error-reason": "NO_LEADER",
      outcome: "not-executed",
      "leader-endpoint": "10.0.0.1:7400",
    });
    const error = QuoinError.from(cause);
    expect(error).to.include({
      name: "QuoinError",
      code: "UNAVAILABLE",
      message: "no leader",
      reason: "NO_LEADER",
      outcome: "not-executed",
      retryDelayMs: 250,
      leaderEndpoint: "10.0.0.1:7400",
      cause,
    });
    expect([...error.details]).to.deep.equal([["__proto__", "an ordinary name"]]);
  });

  it("takes the reason from the details when a proxy has dropped the text trailers", () => {
    const details = encodeStatusDetails({ code: status.ABORTED, message: "x", reason: "FENCED" });
    const error = QuoinError.from(serviceError(status.ABORTED, "x", { [STATUS_DETAILS_TRAILER]: details }));
    expect(error.reason).to.equal("FENCED");
  });

  it("keeps the fields of the text trailers if the details are broken", () => {
    const error = QuoinError.from(
      serviceError(status.NOT_FOUND, "no such key", {
        [STATUS_DETAILS_TRAILER]: Buffer.from([0xff, 0xff]),
        "error-reason": "KEY_NOT_FOUND",
      }),
    );
    expect(error).to.include({ code: "NOT_FOUND", reason: "KEY_NOT_FOUND" });
    expect([...error.details]).to.deep.equal([]);
  });

  it("without a trailer, is certain only for refusals that nothing was executed", () => {
    const unknown = ALL_CODES.filter((name) => QuoinError.from(serviceError(status[name], "x")).outcome === "unknown");
    expect(unknown.sort()).to.deep.equal([
      "CANCELLED",
      "DATA_LOSS",
      "DEADLINE_EXCEEDED",
      "INTERNAL",
      "RESOURCE_EXHAUSTED",
      "UNAVAILABLE",
      "UNKNOWN",
    ]);
  });

  it("may be retried if it passes by itself, or if a repetition finds out the outcome", () => {
    const retryable = ALL_CODES.filter((code) => new QuoinError({ code, message: "x" }).retryable);
    expect(retryable.sort()).to.deep.equal(["DEADLINE_EXCEEDED", "UNAVAILABLE"]);
    const full = (reason: string) => new QuoinError({ code: "RESOURCE_EXHAUSTED", reason, message: "x" });
    const passing = ["RATE_LIMITED", "TOO_MANY_STREAMS", "QUOTA", "STORAGE_FULL"].filter((one) => full(one).retryable);
    expect(passing).to.deep.equal(["RATE_LIMITED", "TOO_MANY_STREAMS"]);
  });

  it("gives an expired deadline its reason, and a trailer with another outcome no meaning", () => {
    expect(QuoinError.from(serviceError(status.DEADLINE_EXCEEDED, "x")).reason).to.equal("DEADLINE");
    const error = QuoinError.from(serviceError(status.UNAVAILABLE, "x", { outcome: "perhaps" }));
    expect(error.outcome).to.equal("unknown");
  });

  it("maps an abort to CANCELLED, and everything else to UNKNOWN, with the original as cause", () => {
    const abort = new DOMException("stop", "AbortError");
    expect(QuoinError.from(abort)).to.include({ code: "CANCELLED", cause: abort });
    const bug = new TypeError("x is not a function");
    expect(QuoinError.from(bug)).to.include({ code: "UNKNOWN", message: "x is not a function", cause: bug });
    expect(QuoinError.from("text")).to.include({ code: "UNKNOWN", message: "text" });
  });
});

describe("QuoinError.with", () => {
  it("replaces some fields and keeps the rest, the stack too", () => {
    const error = new QuoinError({ code: "UNAVAILABLE", message: "m", reason: "R", leaderEndpoint: "l:1" });
    const changed = error.with({ outcome: "not-executed", requestId: "id" });
    expect(changed).to.include({ code: "UNAVAILABLE", message: "m", reason: "R", leaderEndpoint: "l:1" });
    expect(error.with({ message: "other" }).stack).to.equal(error.stack?.replace(": m\n", ": other\n"));
    expect(changed).to.include({ outcome: "not-executed", requestId: "id", stack: error.stack });
    expect(error.outcome).to.equal("unknown");
  });
});
