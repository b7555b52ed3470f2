/**
 * The credentials of a client: a given token, a file that another program keeps current, or an API key that is
 * exchanged for tokens.
 */

import { badField, listOf, record, text } from "../options/index.ts";
import { isToken, type Runtime, systemRuntime, Tls, type TlsOptions, type TokenSource } from "../transport/index.ts";
import { ApiKeyTokenSource } from "./api-key-token-source.ts";
import { FileTokenSource } from "./file-token-source.ts";

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
  tls: TlsOptions | Tls | undefined,
  runtime: Runtime = systemRuntime,
  closing?: AbortSignal,
): TokenSource {
  checkCredentials(credentials);
  if ("token" in credentials) {
    return new StaticTokenSource(credentials.token);
  }
  if ("tokenFile" in credentials) {
    return new FileTokenSource(credentials.tokenFile);
  }
  const { apiKey, httpEndpoints } = credentials;
  return new ApiKeyTokenSource({ apiKey, httpEndpoints, tls: Tls.of(tls), runtime, closing });
}

const tokenRule = record<Credentials & { token: string }>({ token: text }, ["token"]);
const tokenFileRule = record<Credentials & { tokenFile: string }>({ tokenFile: text }, ["tokenFile"]);
const apiKeyRule = record<Extract<Credentials, { apiKey: string }>>({ apiKey: text, httpEndpoints: listOf(text) }, [
  "apiKey",
  "httpEndpoints",
]);

/** Whether credentials are a source of tokens. */
export function isTokenSource(credentials: Credentials | TokenSource): credentials is TokenSource {
  return typeof credentials === "object" && credentials !== null && "refresh" in credentials;
}

/** @throws QuoinError INVALID_ARGUMENT / BAD_FIELD unless they are of one of the three kinds. */
function checkCredentials(credentials: unknown): void {
  const given = typeof credentials === "object" && credentials !== null ? credentials : {};
  if ("token" in given) {
    tokenRule(credentials, "credentials");
  } else if ("tokenFile" in given) {
    tokenFileRule(credentials, "credentials");
  } else if ("apiKey" in given) {
    apiKeyRule(credentials, "credentials");
  } else {
    throw badField("credentials", "must have a token, a tokenFile, or an apiKey with its httpEndpoints");
  }
}

class StaticTokenSource implements TokenSource {
  readonly #token: string;

  constructor(token: string) {
    // Checked here, because grpc-js would quote the token in its error.
    if (!isToken(token)) {
      throw badField("credentials.token", "is not a bearer token");
    }
    this.#token = token;
  }

  token(): string {
    return this.#token;
  }

  async refresh(): Promise<undefined> {
    return undefined;
  }
}
