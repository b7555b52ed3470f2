/** Where the access tokens of calls come from. */

/** Gives tokens to calls; one source may serve several clients. */
export interface TokenSource {
  /**
   * The token to send now; a promise when it must be fetched first.
   *
   * @throws QuoinError when there is none.
   */
  token(): string | Promise<string>;
  /**
   * Another token than the one that was refused; undefined when there is no other.
   *
   * @throws QuoinError when another one cannot be fetched.
   */
  refresh(refused: string): Promise<string | undefined>;
}
