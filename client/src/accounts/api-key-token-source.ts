/**
 * Tokens from an API key: fetched on first use, and again at 80 % of their life while calls continue with the old
 * token. Only one exchange is in progress at a time, however many calls wait. There are no timers: a client without
 * calls fetches nothing.
 */

import { badField } from "../options/index.ts";
import type { Runtime, Tls, TokenSource } from "../transport/index.ts";
import { exchangeApiKeyOnce } from "./token-exchange.ts";

/** Part of its life after which a token is replaced: early enough for several retries. */
const REFRESH_AT = 0.8;

/** Pause before a retry to replace a token that still works, in milliseconds. */
const RETRY_PAUSE_MS = 1_000;

/** The parts of an ApiKeyTokenSource. */
export interface ApiKeyTokenSourceOptions {
  readonly apiKey: string;
  /** URLs of HTTP interfaces, at least one; each is tried in turn. */
  readonly httpEndpoints: readonly string[];
  readonly tls: Tls | undefined;
  readonly runtime: Runtime;
  /** Ends exchanges at once, because their client is closed. */
  readonly closing?: AbortSignal | undefined;
}

interface FetchedToken {
  readonly text: string;
  readonly refreshAtMs: number;
  readonly expiresAtMs: number;
}

/** Exchanges an API key for tokens. */
export class ApiKeyTokenSource implements TokenSource {
  readonly #options: ApiKeyTokenSourceOptions;
  #current: FetchedToken | undefined;
  #underWay: Promise<string> | undefined;
  #notBeforeMs = 0;

  /** @throws QuoinError INVALID_ARGUMENT / BAD_FIELD without a key or an HTTP endpoint. */
  constructor(options: ApiKeyTokenSourceOptions) {
    if (options.apiKey === "") {
      throw badField("credentials.apiKey", "is empty");
    }
    if (options.httpEndpoints.length === 0) {
      throw badField("credentials.httpEndpoints", "must name at least one URL");
    }
    for (const endpoint of options.httpEndpoints) {
      const protocol = URL.parse(endpoint)?.protocol;
      if (protocol !== "http:" && protocol !== "https:") {
        throw badField("credentials.httpEndpoints", "must be URLs that begin with http:// or https://");
      }
    }
    this.#options = options;
  }

  /** @throws QuoinError as exchangeApiKey. */
  token(): string | Promise<string> {
    const nowMs = this.#options.runtime.monotonicMs();
    const current = this.#current;
    if (current === undefined || nowMs >= current.expiresAtMs) {
      return this.#fetch();
    }
    if (nowMs >= current.refreshAtMs && nowMs >= this.#notBeforeMs) {
      this.#refreshInBackground();
    }
    return current.text;
  }

  /** @throws QuoinError as exchangeApiKey. */
  async refresh(refused: string): Promise<string> {
    // If several calls were refused with the same token, the first fetches a new one and the others get it.
    if (this.#current?.text === refused) {
      this.#current = undefined;
    }
    return this.token();
  }

  #refreshInBackground(): void {
    this.#fetch().catch(() => {
      // The current token still works. If it expires before a later retry succeeds, that call gets the error.
      this.#notBeforeMs = this.#options.runtime.monotonicMs() + RETRY_PAUSE_MS;
    });
  }

  #fetch(): Promise<string> {
    this.#underWay ??= this.#exchange().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #exchange(): Promise<string> {
    const { apiKey, httpEndpoints, tls, runtime, closing } = this.#options;
    // The life counts from before the exchange, so that the client errs early.
    const startMs = runtime.monotonicMs();
    const { accessToken, expiresInSeconds } = await exchangeApiKeyOnce({ apiKey, httpEndpoints, tls }, closing);
    const lifeMs = expiresInSeconds * 1_000;
    this.#current = {
      text: accessToken,
      refreshAtMs: startMs + lifeMs * REFRESH_AT,
      expiresAtMs: startMs + lifeMs,
    };
    return accessToken;
  }
}
