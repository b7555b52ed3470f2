/** What the API server refused, or why nobody knows what it did: the one error of everything that is asked of it. */

/**
 * - `missing`: there is no such object. `unknown-kind`: the API server does not serve such objects.
 * - `exists`, `conflict`: it is there already; it is not what the request came from.
 * - `gone`: so old a version is not kept any more.
 * - `invalid`: the API server does not take such an object. `forbidden`: nor from this operator.
 * - `terminating`: nothing is made any more in a namespace that is going.
 * - `throttled`: later; for an eviction, that a disruption budget does not allow it now.
 * - `unavailable`: no answer, or an error of the server: what was asked may have been done.
 */
export type KubeErrorKind =
  | "missing"
  | "unknown-kind"
  | "exists"
  | "conflict"
  | "gone"
  | "invalid"
  | "forbidden"
  | "terminating"
  | "throttled"
  | "unavailable";

interface KubeErrorFields {
  readonly kind: KubeErrorKind;
  /** Of HTTP; 0 without an answer. */
  readonly status: number;
  readonly message: string;
  readonly explanation?: string;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly kind: KubeErrorKind;
  readonly status: number;
  /** In the API server's own words; empty without an answer. */
  readonly explanation: string;
  /** How long the API server asks to wait; undefined if it does not say. */
  readonly retryAfterMs: number | undefined;

  constructor({ kind, status, message, explanation = "", retryAfterMs, cause }: KubeErrorFields) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.status = status;
    this.explanation = explanation;
    this.retryAfterMs = retryAfterMs;
  }

  /** Of an answer other than 2xx. */
  static fromAnswer(asked: string, status: number, body: string, retryAfter: string | undefined): KubeError {
    const { reason, message, causes } = parseStatus(body);
    const seconds = Number(retryAfter);
    return new KubeError({
      kind: isUntyped(status, message) ? "invalid" : kindOf(status, reason, causes),
      status,
      message: `${asked}: ${status} ${message}`,
      explanation: message,
      ...(retryAfter === undefined || Number.isNaN(seconds) ? {} : { retryAfterMs: seconds * 1000 }),
    });
  }

  /** Of a request that was not answered. */
  static unanswered(asked: string, cause: unknown): KubeError {
    const why = cause instanceof Error ? cause.message : String(cause);
    return new KubeError({ kind: "unavailable", status: 0, message: `${asked}: ${why}`, cause });
  }
}

/** @returns whether this is an error of the API server of one of these kinds */
export function isKubeError(error: unknown, ...kinds: readonly KubeErrorKind[]): error is KubeError {
  return error instanceof KubeError && kinds.includes(error.kind);
}

/** An apply with a field that the kind does not have is refused as if the API server itself had failed. */
function isUntyped(status: number, message: string): boolean {
  return status === 500 && message.startsWith("failed to create typed patch object");
}

function kindOf(status: number, reason: string | undefined, causes: readonly unknown[]): KubeErrorKind {
  switch (status) {
    case 401:
      return "forbidden";
    case 403:
      return causes.includes("NamespaceTerminating") ? "terminating" : "forbidden";
    case 404:
      // Of a path that it does not serve, the API server says so in plain text.
      return reason === undefined ? "unknown-kind" : "missing";
    case 409:
      return reason === "AlreadyExists" ? "exists" : "conflict";
    case 410:
      return "gone";
    case 429:
      return "throttled";
    default:
      return status >= 400 && status < 500 ? "invalid" : "unavailable";
  }
}

interface ParsedStatus {
  readonly reason?: string;
  readonly message: string;
  /** Reasons of its causes. */
  readonly causes: readonly unknown[];
}

/** @returns what a Status says; of anything else, its beginning as the message */
function parseStatus(body: string): ParsedStatus {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === "object" && parsed !== null) {
      const { reason, message, details } = parsed as {
        reason?: unknown;
        message?: unknown;
        details?: { causes?: unknown } | null;
      };
      const causes: readonly ({ reason?: unknown } | null)[] = Array.isArray(details?.causes) ? details.causes : [];
      return {
        reason: typeof reason === "string" ? reason : "",
        message: typeof message === "string" ? message : "",
        causes: causes.map((cause) => cause?.reason),
      };
    }
  } catch {
    // Plain text: from the API server itself for paths that it does not know, or from something before it.
  }
  return { message: body.slice(0, 200).trim(), causes: [] };
}
