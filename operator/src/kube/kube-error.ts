/** The one error for all requests to the API server: a refusal, or a request whose effect is unknown. */

/**
 * - `missing`: the object does not exist. `unknown-kind`: the API server does not serve this kind.
 * - `exists`: the object already exists. `conflict`: the object is not of the expected version.
 * - `gone`: the API server no longer keeps a version this old.
 * - `invalid`: the API server refuses the object. `forbidden`: this operator may not do this.
 * - `terminating`: the namespace is being deleted, so nothing can be created in it.
 * - `throttled`: try later; for an eviction, a disruption budget does not allow it now.
 * - `unavailable`: no answer, or a server error. The request may have taken effect.
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
  /** HTTP status; 0 without an answer. */
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
  /** The API server's own words; empty without an answer. */
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

  /** From an answer other than 2xx. */
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

  /** From a request without an answer. */
  static unanswered(asked: string, cause: unknown): KubeError {
    const why = cause instanceof Error ? cause.message : String(cause);
    return new KubeError({ kind: "unavailable", status: 0, message: `${asked}: ${why}`, cause });
  }
}

/** @returns whether this is a KubeError of one of these kinds */
export function isKubeError(error: unknown, ...kinds: readonly KubeErrorKind[]): error is KubeError {
  return error instanceof KubeError && kinds.includes(error.kind);
}

/** The API server answers an apply with an unknown field by a 500. */
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
      // The API server answers plain text for a path that it does not serve.
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

/** What the API server tells of a patch that it cannot decode: the whole object, before what is wrong with it. */
const PATCHED_OBJECT = /^ "" is invalid: patch: Invalid value: "[^"\\]*(?:\\.[^"\\]*)*": /;

interface ParsedStatus {
  readonly reason?: string;
  readonly message: string;
  /** Reasons of the causes. */
  readonly causes: readonly unknown[];
}

/** @returns the content of a Status; for any other body, its beginning as the message */
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
        message: typeof message === "string" ? message.replace(PATCHED_OBJECT, "") : "",
        causes: causes.map((cause) => cause?.reason),
      };
    }
  } catch {
    // Plain text, from the API server itself for unknown paths, or from a proxy.
  }
  return { message: body.slice(0, 200).trim(), causes: [] };
}
