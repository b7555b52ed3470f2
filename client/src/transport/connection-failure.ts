/**
 * Says in plain words why there is no connection to a member. The texts of grpc-js, Node and OpenSSL do not name the
 * address, or name it in a form that the caller has never written.
 */

import { LOST_PREFIXES, NEVER_SENT_PREFIXES, QuoinError } from "../errors/index.ts";
import { isUnreached } from "./backoff.ts";
import { proxyFor } from "./environment-proxy.ts";

/** Why there is no connection; it is the detail `connection` of the error. */
export type ConnectionProblem =
  | "refused"
  | "unknown-name"
  | "timeout"
  | "unreachable"
  | "closed"
  | "untrusted-certificate"
  | "wrong-certificate"
  | "expired-certificate"
  | "no-tls"
  | "other-protocol"
  | "client-certificate"
  | "proxy"
  | "other";

interface Explanation {
  readonly problem: ConnectionProblem;
  /** Undefined = the text itself. */
  readonly words?: string;
}

/** The first that matches explains a text; the technical part of the text follows it in parentheses. */
const EXPLANATIONS: readonly (readonly [RegExp, Explanation])[] = [
  [/^the proxy /, { problem: "proxy" }],
  [/ECONNREFUSED/, { problem: "refused", words: "no process listens there" }],
  [/ENOTFOUND|EAI_AGAIN|Name resolution failed/, { problem: "unknown-name", words: "the name has no address" }],
  [/EHOSTUNREACH|ENETUNREACH/, { problem: "unreachable", words: "there is no way to this network" }],
  [/ETIMEDOUT|in time$/, { problem: "timeout", words: "no answer in time" }],
  [/certificate has expired/i, { problem: "expired-certificate", words: "its certificate has expired" }],
  [/altnames/, { problem: "wrong-certificate", words: "its certificate is for another address" }],
  // An alert comes from the member.
  [
    / alert .*(certificate|ca)\b/,
    { problem: "client-certificate", words: "it refuses the client certificate, or wants one" },
  ],
  [/certificate/i, { problem: "untrusted-certificate", words: "its certificate is not trusted" }],
  [/^Protocol error/, { problem: "other-protocol", words: "the port speaks another protocol" }],
  [/wrong version number|packet length too long/, { problem: "no-tls", words: "the port does not speak TLS" }],
  [/ECONNRESET|^Failed to connect/, { problem: "closed", words: "the other side closed the connection" }],
];

/** What grpc-js, Node and OpenSSL add to a text, without a meaning for people. */
const NOISE: readonly RegExp[] = [
  /^No connection established\.? ?/,
  /^Last error: /,
  /\.? Resolution note:.*$/s,
  / \(\d{4}-\d\d-\d\dT[^)]*\)/,
  /^Error( \[\w+\])?: /,
  /; if the root CA is installed locally.*$/s,
  /^(write EPROTO )?[0-9A-F]+:error:[0-9A-F]+:SSL routines:\w+:/,
  /:[^:]*openssl.*$/s,
];

/** The first words of grpc-js for a connection that ends, and for a deadline that passes, during a call. */
const DROPPED_TEXT = "Connection dropped";
const LATE_TEXT = "Deadline exceeded after";

/** Texts that say no more than the words before them. */
const WITHOUT_DETAIL = /^(Name resolution failed|Failed to connect|no (connection|answer) in time)/;

/**
 * The error of a request without an answer: it was never sent, or it may have arrived.
 *
 * @param address as the caller has written it.
 * @param text why, in the words of grpc-js, Node or OpenSSL.
 */
export function noAnswer(wasSent: boolean, address: string, text: string, cause?: unknown): QuoinError {
  const { problem, reason } = explain(text);
  const proxy = proxyFor(address);
  const through = proxy === undefined ? "" : ` by the proxy ${proxy.shown}`;
  return new QuoinError({
    code: "UNAVAILABLE",
    outcome: wasSent ? "unknown" : "not-executed",
    message: `no ${wasSent ? "answer from" : "connection to"} ${address}${through}: ${reason}`,
    details: new Map([
      ["address", address],
      ["connection", problem],
      ...(proxy === undefined ? [] : ([["proxy", proxy.shown]] as const)),
    ]),
    cause,
  });
}

/** The error of a gRPC call to an endpoint. An answer of the member stays as it is. */
export function callFailure(thrown: unknown, endpoint: string): QuoinError {
  const error = QuoinError.from(thrown);
  // A reason, or another outcome than that of the text, comes from a member.
  const begins = (prefix: string) => error.reason === "" && error.message.startsWith(prefix);
  if (isUnreached(error) && NEVER_SENT_PREFIXES.some(begins)) {
    return noAnswer(false, endpoint, error.message, thrown);
  }
  if (error.code === "UNAVAILABLE" && [DROPPED_TEXT, ...LOST_PREFIXES].some(begins)) {
    return error.with({ message: `the connection to ${endpoint} was lost before the answer` });
  }
  if (error.code === "DEADLINE_EXCEEDED" && error.message.startsWith(LATE_TEXT)) {
    return error.with({ message: `no answer from ${endpoint} in time` });
  }
  return error;
}

function explain(text: string): { readonly problem: ConnectionProblem; readonly reason: string } {
  const detail = NOISE.reduce((rest, pattern) => rest.replace(pattern, ""), text.trim()).trim();
  const { problem, words } = EXPLANATIONS.find(([pattern]) => pattern.test(detail))?.[1] ?? { problem: "other" };
  if (words === undefined) {
    return { problem, reason: detail === "" || detail === "null" ? "no reason is known" : detail };
  }
  return { problem, reason: WITHOUT_DETAIL.test(detail) ? words : `${words} (${detail})` };
}
