/**
 * Tokens from an API key or a password: fetched on first use, and again at 80 % of their life while calls continue with the old
 * token. Only one exchange is in progress at a time, however many calls wait. There are no timers: a client without
 * calls fetches nothing.
 */

import { QuoinError } from "../errors/index.ts";
import type { Runtime, TokenSource } from "../transport/index.ts";
import type { AccessToken } from "./token-exchange.ts";

/** Part of its life after which a token is replaced: early enough for several retries. */
const REFRESH_AT = 0.8;

/** Pause before a retry to replace a token that still works, in milliseconds. */
const RETRY_PAUSE_MS = 1_000;

interface FetchedToken {
  readonly text: string;
  readonly refreshAtMs: number;
  readonly expiresAtMs: number;
}

/** Exchanges an API key, or the password of a user, for tokens. */
export class ExchangedTokenSource implements TokenSource {
  readonly #exchange: () => Promise<AccessToken>;
  readonly #runtime: Runtime;
  #current: FetchedToken | undefined;
  #underWay: Promise<string> | undefined;
  #notBeforeMs = 0;

  /** @param exchange fetches a token. */
  constructor(exchange: () => Promise<AccessToken>, runtime: Runtime) {
    this.#exchange = exchange;
    this.#runtime = runtime;
  }

  /** @throws QuoinError as exchangeApiKey or logIn. */
  token(): string | Promise<string> {
    const nowMs = this.#runtime.monotonicMs();
    const current = this.#current;
    if (current === undefined || nowMs >= current.expiresAtMs) {
      return this.#fetch();
    }
    if (nowMs >= current.refreshAtMs && nowMs >= this.#notBeforeMs) {
      this.#refreshInBackground();
    }
    return current.text;
  }

  /** @throws QuoinError as exchangeApiKey or logIn. */
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
      this.#notBeforeMs = this.#runtime.monotonicMs() + RETRY_PAUSE_MS;
    });
  }

  #fetch(): Promise<string> {
    this.#underWay ??= this.#replace().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #replace(): Promise<string> {
    // The life counts from before the exchange, so that the client errs early.
    const startMs = this.#runtime.monotonicMs();
    const { accessToken, expiresInSeconds } = await this.#exchanged();
    const lifeMs = expiresInSeconds * 1_000;
    this.#current = {
      text: accessToken,
      refreshAtMs: startMs + lifeMs * REFRESH_AT,
      expiresAtMs: startMs + lifeMs,
    };
    return accessToken;
  }

  /** If a member was only too slow, the operations that wait try again, at the next one. */
  async #exchanged(): Promise<AccessToken> {
    try {
      return await this.#exchange();
    } catch (thrown) {
      const error = QuoinError.from(thrown);
      throw error.code === "DEADLINE_EXCEEDED" ? error.with({ code: "UNAVAILABLE", reason: "" }) : error;
    }
  }
}
