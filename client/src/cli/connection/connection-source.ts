/**
 * A place with the addresses of a cluster and its credentials: the command line, the environment, a context of the
 * configuration file, or a local cluster. Any part may be missing.
 */

import type { Credentials, TlsOptions } from "../../index.ts";

/** Credentials for admin ports: a token, never an API key. */
export type AdminCredentials = Exclude<Credentials, { readonly apiKey: string }>;

/** The content of one place. */
export interface ConnectionSource {
  /** gRPC endpoints as `host:port`. */
  readonly endpoints?: readonly string[] | undefined;
  readonly credentials?: Credentials | undefined;
  /** Admin ports, as `host:port`. */
  readonly adminEndpoints?: readonly string[] | undefined;
  /** An admin token, only for these ports. */
  readonly adminCredentials?: AdminCredentials | undefined;
  readonly tls?: TlsOptions | undefined;
}
