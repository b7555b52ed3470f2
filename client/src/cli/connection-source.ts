/**
 * One place that says how to reach a cluster and what to authenticate with: the command line, the environment, a context
 * of the configuration file, or a local cluster. Any part may be missing.
 */

import type { Credentials, TlsOptions } from "../index.ts";

/** An API key whose HTTP endpoints are not decided yet, or credentials that need none. */
export type SourceCredentials = { readonly apiKey: string } | Exclude<Credentials, { readonly apiKey: string }>;

/** What the ports for administration take: a token, never an API key. */
export type AdminCredentials = Exclude<Credentials, { readonly apiKey: string }>;

/** What one place says. */
export interface ConnectionSource {
  /** gRPC endpoints as `host:port`. */
  readonly endpoints?: readonly string[] | undefined;
  /** URLs of HTTP interfaces. */
  readonly httpEndpoints?: readonly string[] | undefined;
  readonly credentials?: SourceCredentials | undefined;
  /** Ports for administration, as `host:port`. */
  readonly adminEndpoints?: readonly string[] | undefined;
  /** An admin token, for these ports alone. */
  readonly adminCredentials?: AdminCredentials | undefined;
  readonly tls?: TlsOptions | undefined;
}
