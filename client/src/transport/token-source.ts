/** The source of the access tokens of calls. */

/** Provides tokens for calls; one source may serve several clients. */
export interface TokenSource {
  /**
   * The token to send now, empty = none; a promise if it must be fetched first.
   *
   * @throws QuoinError if there is none.
   */
  token(): string | Promise<string>;
  /**
   * A new token instead of the refused one; undefined if there is none.
   *
   * @throws QuoinError if a new one cannot be fetched.
   */
  refresh(refused: string): Promise<string | undefined>;
}

/** Sends no token, for the calls that return one. */
export const NO_TOKENS: TokenSource = { token: () => "", refresh: async () => undefined };
