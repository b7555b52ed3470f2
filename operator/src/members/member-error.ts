/** What a member refused, or why nobody knows what it did. */
import { type ServiceError, status } from "@grpc/grpc-js";

export class MemberError extends Error {
  override readonly name = "MemberError";
  /** Of gRPC, such as `FAILED_PRECONDITION`. */
  readonly code: string;
  /** Such as `CONFIG_CHANGED`; empty if the member did not answer. */
  readonly reason: string;
  /** What the member itself said; empty if it did not answer. */
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

  /** Whether the members are not any more what the request came from: one must look again. */
  get isStale(): boolean {
    return ["FAILED_PRECONDITION", "NOT_FOUND", "ALREADY_EXISTS"].includes(this.code);
  }
}
