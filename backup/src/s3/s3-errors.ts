/** Classifies the errors of an S3 server, of its client library and of the network. */

import { StoreFailure, type StoreFailureKind } from "../store/index.ts";

/** Error names of known servers for each kind; a prefix if they vary. */
const NAMES: readonly (readonly [RegExp, StoreFailureKind])[] = [
  [/^NoSuchBucket/, "no-such-bucket"],
  [/^(?:NoSuchKey|NotFound|NoSuchObject)$/, "not-found"],
  [/^(?:QuotaExceeded|InsufficientStorage|EntityTooLarge|XMinioStorageFull|NoSpaceLeft|DiskQuotaExceeded)/, "full"],
  [/^(?:SlowDown|Throttl|TooManyRequests|RequestLimitExceeded|BandwidthLimitExceeded)/, "throttled"],
  [
    /^(?:AccessDenied|AllAccessDisabled|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken|AuthorizationHeader)/,
    "denied",
  ],
  [/^(?:RequestTimeTooSkewed|CredentialsProviderError|Forbidden)/, "denied"],
  [/^(?:TimeoutError|AbortError|RequestTimeout)/, "unreachable"],
];

const STATUSES: ReadonlyMap<number, StoreFailureKind> = new Map([
  [401, "denied"],
  [403, "denied"],
  [404, "not-found"],
  [429, "throttled"],
  [503, "throttled"],
  [507, "full"],
]);

/** Codes of connections that failed or were lost. */
const NETWORK =
  /^(?:ECONN|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EHOST|ENET|EPROTO|ERR_STREAM_PREMATURE_CLOSE|ERR_SSL|EADDRNOTAVAIL|HPE_)/;
/** Codes of untrusted certificates; a retry does not help. */
const CERTIFICATE = /^(?:CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(?:VERIFY|GET)|ERR_TLS_CERT)/;

const REASON_LENGTH_MAX = 300;

/** The relevant parts of an error. */
export interface S3Problem {
  readonly kind: StoreFailureKind;
  /** One line. */
  readonly reason: string;
  /** The name from the server. */
  readonly name: string;
  readonly isRetriable: boolean;
}

/** An error that the store raises itself; it counts as a network error. */
export class ConnectionLost extends Error {
  readonly code = "ECONNLOST";
}

export function problemOf(error: unknown): S3Problem {
  const { name, code, status, message } = partsOf(error);
  if (CERTIFICATE.test(code)) {
    const reason = `its certificate is not trusted (${code}); name the file with its authority as ca-file`;
    return { kind: "unreachable", reason, name, isRetriable: false };
  }
  const kind = kindOf(name, code, status);
  const isServerError = status !== undefined && status >= 500 && status !== 501;
  const isRetriable = kind === "unreachable" || kind === "throttled" || (isServerError && kind !== "full");
  return { kind, reason: reasonOf(name, code, status, message), name, isRetriable };
}

/** Without a cause, because the library's error contains the headers of the request. */
export function failureOf(store: string, operation: string, { kind, reason }: S3Problem): StoreFailure {
  return new StoreFailure({ kind, store, operation, reason });
}

function kindOf(name: string, code: string, status: number | undefined): StoreFailureKind {
  const byName = NAMES.find(([pattern]) => pattern.test(name))?.[1];
  if (byName !== undefined) {
    return byName;
  }
  if (status === undefined) {
    return NETWORK.test(code) ? "unreachable" : "other";
  }
  return STATUSES.get(status) ?? "other";
}

interface ErrorParts {
  readonly name: string;
  readonly code: string;
  readonly status: number | undefined;
  readonly message: string;
}

function partsOf(error: unknown): ErrorParts {
  if (!(error instanceof Error)) {
    return { name: "", code: "", status: undefined, message: String(error) };
  }
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return { name: error.name, code, status: statusOf(error), message: error.message };
}

function statusOf(error: Error): number | undefined {
  const metadata = "$metadata" in error ? error.$metadata : undefined;
  if (typeof metadata !== "object" || metadata === null || !("httpStatusCode" in metadata)) {
    return undefined;
  }
  return typeof metadata.httpStatusCode === "number" ? metadata.httpStatusCode : undefined;
}

function reasonOf(name: string, code: string, status: number | undefined, message: string): string {
  const parts = [name === "Error" ? code : name, message === name || message === "UnknownError" ? "" : message];
  const text = parts.filter((part) => part !== "").join(": ");
  const line = text.replaceAll(/\s+/g, " ").replace(/\.$/, "").slice(0, REASON_LENGTH_MAX);
  return status === undefined ? line : `${line} (HTTP ${status})`;
}
