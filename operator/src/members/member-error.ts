/** A refusal of a member, or a call whose effect is unknown. */
import { type ServiceError, status } from "@grpc/grpc-js";

export class MemberError extends Error {
  override readonly name = "MemberError";
  /** gRPC status code, such as `FAILED_PRECONDITION`. */
  readonly code: string;
  /** Such as `CONFIG_CHANGED`; empty if the member did not answer. */
  readonly reason: string;
  /** The member's own words; empty if it did not answer. */
  readonly details: string;

  constructor(code: string, reason: string, message: string, cause?: unknown, details = "") {
    super(message, { cause });
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  /** @param asked method and endpoint */
  static from(asked: string, error: ServiceError): MemberError {
    const reason = String(error.metadata.get("error-reason")[0] ?? "");
    const code = status[error.code] ?? "UNKNOWN";
    return new MemberError(code, reason, `${asked}: ${code} ${reason} ${error.details}`, error, error.details);
  }

  /** Whether the members have changed since the request was planned: the caller must observe again. */
  get isStale(): boolean {
    return ["FAILED_PRECONDITION", "NOT_FOUND", "ALREADY_EXISTS"].includes(this.code);
  }
}
