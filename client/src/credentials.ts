/**
 * The credentials of a client: a given token, a file that another program keeps current, or an API key that is
 * exchanged for tokens.
 */

import { ApiKeyTokenSource } from "./api-key-token-source.ts";
import { isToken } from "./bearer-token.ts";
import { FileTokenSource } from "./file-token-source.ts";
import { badField } from "./request-field.ts";
import { type Runtime, systemRuntime } from "./runtime.ts";
import { assertTls, type TlsOptions } from "./tls.ts";
import type { TokenSource } from "./token-source.ts";

/** The credentials of a client: exactly one of these. */
export type Credentials =
  /** A token, sent unchanged. */
  | { readonly token: string }
  /** A file whose first non-empty line is the token. It is read again when the token is refused. */
  | { readonly tokenFile: string }
  /** An API key, exchanged for tokens at the HTTP interface of a member, such as `http://127.0.0.1:7401`. */
  | { readonly apiKey: string; readonly httpEndpoints: readonly string[] };

/**
 * Creates the token source for credentials.
 *
 * @param tls options for the HTTP interface if its URL begins with `https`.
 * @param closing ends an exchange of the API key at once; later ones fail.
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD if they are unusable; the message does not contain them.
 */
export function createTokenSource(
  credentials: Credentials,
  tls: TlsOptions | undefined,
  runtime: Runtime = systemRuntime,
  closing?: AbortSignal,
): TokenSource {
  if ("token" in credentials) return new StaticTokenSource(credentials.token);
  if ("tokenFile" in credentials) return new FileTokenSource(credentials.tokenFile);
  assertTls(tls);
  const { apiKey, httpEndpoints } = credentials;
  return new ApiKeyTokenSource({ apiKey, httpEndpoints, tls, runtime, closing });
}

class StaticTokenSource implements TokenSource {
  readonly #token: string;

  constructor(token: string) {
    // Checked here, because grpc-js would quote the token in its error.
    if (!isToken(token)) throw badField("credentials.token", "is not a bearer token");
    this.#token = token;
  }

  token(): string {
    return this.#token;
  }

  async refresh(): Promise<undefined> {
    return undefined;
  }
}
