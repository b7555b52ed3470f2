/** A refusal or failure of a call, in the words of the member. */

/** What is known about a failed call. */
export interface ApiErrorParts {
  /** Status of HTTP; 0 = the member did not answer. */
  readonly status: number;
  /** Code for programs, such as `not_found`. */
  readonly code: string;
  /** Reason of the contract, such as `KEY_NOT_FOUND`; empty if there is none. */
  readonly reason: string;
  readonly message: string;
  /** When to try again, in milliseconds; 0 = the member did not say. */
  readonly retryAfterMs: number;
}

const SECOND_MS = 1_000;
const [UNAUTHORIZED, UNAVAILABLE] = [401, 503];

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly reason: string;
  readonly retryAfterMs: number;

  constructor({ status, code, reason, message, retryAfterMs }: ApiErrorParts) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the member did not answer at all. */
  get isOffline(): boolean {
    return this.status === 0;
  }

  /** Whether the token is missing, expired or revoked, or a password was wrong. */
  get isUnauthorized(): boolean {
    return this.status === UNAUTHORIZED;
  }

  /** Whether the same call may succeed in a moment, for example after an election. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === UNAVAILABLE;
  }
}

/** The error of a request that got no answer. */
export function offlineError(): ApiError {
  return new ApiError({
    status: 0,
    code: "offline",
    reason: "",
    retryAfterMs: 0,
    message: "This member does not answer.",
  });
}

/** Reads the error of an answer: `{error, code}` of the HTTP routes, or `{code, message}` of the calls in JSON. */
export async function errorOfResponse(response: Response): Promise<ApiError> {
  const body = parsed(await response.text());
  return new ApiError({
    status: response.status,
    code: text(body.code) || `status ${response.status}`,
    reason: response.headers.get("error-reason") ?? "",
    message: sentence(text(body.error) || text(body.message) || `The member answered with status ${response.status}`),
    retryAfterMs: Number(response.headers.get("Retry-After") ?? 0) * SECOND_MS,
  });
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Members write their messages without a capital letter and a full stop. */
function sentence(message: string): string {
  const first = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
