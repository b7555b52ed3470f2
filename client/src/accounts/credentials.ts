/**
 * The credentials of a client: a given token, a file that another program keeps current, or an API key or a password that
 * is exchanged for tokens.
 */

import { badField, listOf, optionsCheck, record, text, unchecked } from "../options/index.ts";
import {
  assertEndpoints,
  isToken,
  type Runtime,
  systemRuntime,
  Tls,
  type TlsOptions,
  type TokenSource,
} from "../transport/index.ts";
import { ExchangedTokenSource } from "./exchanged-token-source.ts";
import { FileTokenSource } from "./file-token-source.ts";
import { type AccessToken, type ExchangedSecret, exchangeInRound } from "./token-exchange.ts";

/** The credentials of a client: exactly one of these. */
export type Credentials =
  /** A token, sent unchanged. */
  | { readonly token: string }
  /** A file whose first non-empty line is the token. It is read again when the token is refused. */
  | { readonly tokenFile: string }
  | ExchangedSecret;

/** The options of a source of tokens. */
export interface TokenSourceOptions {
  readonly credentials: Credentials;
  /** gRPC endpoints of members as `host:port`, at least one, to exchange an API key or a password. */
  readonly endpoints: readonly string[];
  /** TLS options; `{}` = with the system's certificate authorities. Undefined = not encrypted. */
  readonly tls?: TlsOptions | undefined;
  readonly runtime?: Runtime | undefined;
}

const checkOptions = optionsCheck<TokenSourceOptions>(
  { credentials: unchecked, endpoints: listOf(text), tls: unchecked, runtime: unchecked },
  ["credentials", "endpoints"],
);

/**
 * Creates a source of tokens that several clients share. It has its own connections, and only during an exchange.
 *
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for unusable options; the message does not contain credentials.
 */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  checkOptions(options, "createTokenSource");
  const { credentials, endpoints, tls, runtime = systemRuntime } = options;
  assertEndpoints("endpoints", endpoints);
  Tls.of(tls);
  return tokenSourceOf(credentials, (secret) => exchangeInRound({ endpoints, tls }, secret, runtime), runtime);
}

/**
 * The source of tokens for credentials.
 *
 * @param exchange exchanges an API key or a password.
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD if they are unusable; the message does not contain them.
 */
export function tokenSourceOf(
  credentials: Credentials | TokenSource,
  exchange: (secret: ExchangedSecret) => Promise<AccessToken>,
  runtime: Runtime,
): TokenSource {
  if (isTokenSource(credentials)) {
    return credentials;
  }
  checkCredentials(credentials);
  if ("token" in credentials) {
    return new StaticTokenSource(credentials.token);
  }
  if ("tokenFile" in credentials) {
    return new FileTokenSource(credentials.tokenFile);
  }
  for (const [name, secret] of Object.entries(credentials)) {
    if (secret === "") {
      throw badField(`credentials.${name}`, "is empty");
    }
  }
  const secret = { ...credentials };
  return new ExchangedTokenSource(() => exchange(secret), runtime);
}

const tokenRule = record<Credentials & { token: string }>({ token: text }, ["token"]);
const tokenFileRule = record<Credentials & { tokenFile: string }>({ tokenFile: text }, ["tokenFile"]);
const apiKeyRule = record<Credentials & { apiKey: string }>({ apiKey: text }, ["apiKey"]);
const passwordRule = record<{ email: string; password: string }>({ email: text, password: text }, [
  "email",
  "password",
]);

/** Whether credentials are a source of tokens. */
function isTokenSource(credentials: Credentials | TokenSource): credentials is TokenSource {
  return typeof credentials === "object" && credentials !== null && "refresh" in credentials;
}

/** @throws QuoinError INVALID_ARGUMENT / BAD_FIELD unless they are of one of the four kinds. */
function checkCredentials(credentials: unknown): void {
  const given = typeof credentials === "object" && credentials !== null ? credentials : {};
  if ("token" in given) {
    tokenRule(credentials, "credentials");
  } else if ("tokenFile" in given) {
    tokenFileRule(credentials, "credentials");
  } else if ("apiKey" in given) {
    apiKeyRule(credentials, "credentials");
  } else if ("email" in given || "password" in given) {
    passwordRule(credentials, "credentials");
  } else {
    throw badField("credentials", "must have a token, a tokenFile, an apiKey, or an email and a password");
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
