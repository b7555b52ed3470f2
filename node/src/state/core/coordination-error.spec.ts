import { expect } from "chai";
import { CoordinationError, isReason, type Reason } from "./coordination-error.ts";

describe("refusals", () => {
  const codes: readonly (readonly [Reason, string])[] = [
    ["BAD_METADATA", "INVALID_ARGUMENT"],
    ["BAD_FIELD", "INVALID_ARGUMENT"],
    ["TOO_LARGE", "INVALID_ARGUMENT"],
    ["REQUEST_ID_REUSED", "INVALID_ARGUMENT"],
    ["TOKEN_INVALID", "UNAUTHENTICATED"],
    ["TOKEN_EXPIRED", "UNAUTHENTICATED"],
    ["TOKEN_REVOKED", "UNAUTHENTICATED"],
    ["NAMESPACE_DENIED", "PERMISSION_DENIED"],
    ["ACCESS_DENIED", "PERMISSION_DENIED"],
    ["NAMESPACE_NOT_FOUND", "NOT_FOUND"],
    ["KEY_NOT_FOUND", "NOT_FOUND"],
    ["NAMESPACE_EXISTS", "ALREADY_EXISTS"],
    ["REVISION_MISMATCH", "FAILED_PRECONDITION"],
    ["NOT_EMPTY", "FAILED_PRECONDITION"],
    ["QUOTA", "RESOURCE_EXHAUSTED"],
    ["NO_LEADER", "UNAVAILABLE"],
    ["LEADER_CHANGED", "UNAVAILABLE"],
    ["SHUTTING_DOWN", "UNAVAILABLE"],
    ["OVERLOADED", "UNAVAILABLE"],
    ["DEADLINE", "DEADLINE_EXCEEDED"],
  ];
  for (const [reason, code] of codes) {
    it(`of reason ${reason} have the code ${code}`, () => {
      const error = new CoordinationError(reason, "message");
      expect([error.code, error.reason, error.message, error.name]).to.deep.equal([
        code,
        reason,
        "message",
        "CoordinationError",
      ]);
      expect(error).to.be.instanceOf(Error);
    });
  }

  it("say by default that nothing was executed, and have no details by default", () => {
    const plain = new CoordinationError("NO_LEADER", "message");
    expect([plain.outcome, plain.details.size]).to.deep.equal(["not-executed", 0]);
    const details = new Map([["field", "key"]]);
    const other = new CoordinationError("DEADLINE", "message", { details, outcome: "unknown" });
    expect([other.outcome, other.details]).to.deep.equal(["unknown", details]);
  });

  it("have reasons, and names of Object's properties are not reasons (S19)", () => {
    expect(isReason("QUOTA")).to.equal(true);
    for (const text of ["", "quota", "NONSENSE", "__proto__", "constructor", "toString", "hasOwnProperty"]) {
      expect(isReason(text), text).to.equal(false);
    }
  });
});
