import { expect } from "chai";
import { CoordinationError, type ErrorOutcome, type Reason } from "../../../state/index.ts";
import { HttpError, type HttpErrorCode, httpErrorOf } from "./http-error.ts";

describe("HTTP errors", () => {
  const mapped: readonly (readonly [Reason, ErrorOutcome, number, HttpErrorCode])[] = [
    ["BAD_FIELD", "not-executed", 400, "invalid_request"],
    ["BAD_METADATA", "not-executed", 400, "invalid_request"],
    ["REQUEST_ID_REUSED", "not-executed", 400, "invalid_request"],
    ["TOO_LARGE", "not-executed", 413, "payload_too_large"],
    ["TOKEN_INVALID", "not-executed", 401, "unauthorized"],
    ["TOKEN_EXPIRED", "not-executed", 401, "token_expired"],
    ["TOKEN_REVOKED", "not-executed", 401, "token_revoked"],
    ["NAMESPACE_DENIED", "not-executed", 403, "namespace_denied"],
    ["ACCESS_DENIED", "not-executed", 403, "insufficient_role"],
    ["NAMESPACE_NOT_FOUND", "not-executed", 404, "not_found"],
    ["KEY_NOT_FOUND", "not-executed", 404, "not_found"],
    ["NAMESPACE_EXISTS", "not-executed", 409, "already_exists"],
    ["LOG_NOT_FOUND", "not-executed", 404, "log_not_found"],
    ["LOG_EXISTS", "not-executed", 409, "already_exists"],
    ["SEQUENCE_CONFLICT", "not-executed", 409, "sequence_conflict"],
    ["FENCED", "not-executed", 409, "fenced"],
    ["COMPACTED", "not-executed", 410, "compacted"],
    ["QUOTA", "not-executed", 507, "storage_full"],
    ["STORAGE_FULL", "not-executed", 507, "storage_full"],
    ["NO_LEADER", "not-executed", 503, "unavailable"],
    ["OVERLOADED", "not-executed", 503, "unavailable"],
    ["TOO_MANY_STREAMS", "not-executed", 503, "unavailable"],
    ["SHUTTING_DOWN", "not-executed", 503, "unavailable"],
    ["LEADER_CHANGED", "not-executed", 503, "unavailable"],
    ["LEADER_CHANGED", "unknown", 504, "timeout"],
    ["DEADLINE", "unknown", 504, "timeout"],
    ["DEADLINE", "not-executed", 503, "unavailable"],
  ];
  for (const [reason, outcome, status, code] of mapped) {
    it(`answer ${status} ${code} to ${reason}, ${outcome}, with the refusal's own message`, () => {
      const { answer, bug } = httpErrorOf(new CoordinationError(reason, "why it is so", { outcome }));
      expect([answer.status, answer.code, answer.message, bug]).to.deep.equal([status, code, "why it is so", false]);
      expect(answer.reason).to.equal(reason);
    });
  }

  it("S46: say when to retry, never at once, and only if nothing was executed", () => {
    expect(new HttpError("unavailable", "").headers.get("Retry-After")).to.equal("1");
    expect(new HttpError("timeout", "").headers.has("Retry-After")).to.equal(false);
  });

  it("contain the last sequence after a conflict", () => {
    const details = new Map([["last_sequence", "42"]]);
    const conflict = httpErrorOf(new CoordinationError("SEQUENCE_CONFLICT", "", { details })).answer;
    expect(conflict.headers.get("Last-Sequence")).to.equal("42");
    const other = httpErrorOf(new CoordinationError("FENCED", "", { details })).answer;
    expect(other.headers.has("Last-Sequence")).to.equal(false);
  });

  it("contain the first revision that the history still has", () => {
    const details = new Map([["compact_revision", "17"]]);
    const compacted = httpErrorOf(new CoordinationError("COMPACTED", "", { details })).answer;
    expect(compacted.headers.get("Compact-Revision")).to.equal("17");
  });

  it("challenge for a token (RFC 6750)", () => {
    const headersOf = (reason: Reason) => httpErrorOf(new CoordinationError(reason, "")).answer.headers;
    for (const reason of ["TOKEN_INVALID", "TOKEN_EXPIRED", "TOKEN_REVOKED"] as const) {
      expect(headersOf(reason).get("WWW-Authenticate")).to.equal('Bearer error="invalid_token"');
    }
    expect(headersOf("INVALID_API_KEY").get("WWW-Authenticate")).to.equal("Bearer");
    expect(headersOf("NAMESPACE_DENIED").size).to.equal(0);
  });

  it("pass through, with their own headers", () => {
    const error = new HttpError("method_not_allowed", "use GET", [["Allow", "GET"]]);
    expect(httpErrorOf(error)).to.deep.equal({ answer: error, bug: false });
    expect(error.headers.get("Allow")).to.equal("GET");
  });

  for (const [name, bug] of [
    ["an error of another type", new TypeError("secret detail")],
    ["a refusal that no endpoint can meet", new CoordinationError("REVISION_MISMATCH", "secret detail")],
    ["something that is no error at all", "secret detail"],
    ["nothing", undefined],
  ] as const) {
    it(`are internal, without details, for ${name}`, () => {
      const answered = httpErrorOf(bug);
      expect([answered.answer.status, answered.answer.code, answered.bug]).to.deep.equal([500, "internal_error", true]);
      expect(answered.answer.message).not.to.include("secret");
    });
  }
});
