/** Where users and API keys without a token yet are known: the endpoints of any members. */

import type { OperationContext } from "../calls/index.ts";
import { listOf, text, timeout, unchecked } from "../options/index.ts";
import { assertEndpoints, NO_TOKENS, openPool, type Runtime, Tls, type TlsOptions } from "../transport/index.ts";

/** Where to exchange. */
export interface ExchangeTarget {
  /** gRPC endpoints of members as `host:port`, at least one. */
  readonly endpoints: readonly string[];
  /** TLS options; `{}` = with the system's certificate authorities. Undefined = not encrypted. */
  readonly tls?: TlsOptions | undefined;
  /**
   * How long to continue while no member decides, in milliseconds. Default for an API key 5,000, else 10,000.
   * For an API key, a member that does not answer in two fifths of it is left for the next one; for a login, in half of it.
   */
  readonly timeoutMs?: number | undefined;
}

export const targetRules = { endpoints: listOf(text), tls: unchecked, timeoutMs: timeout };

/** Runs work with its own connections, and closes them. */
export async function withPool<Result>(
  { endpoints, tls }: ExchangeTarget,
  timeoutMs: number,
  runtime: Runtime,
  work: (context: OperationContext) => Promise<Result>,
): Promise<Result> {
  assertEndpoints("endpoints", endpoints);
  const pool = openPool(endpoints, Tls.of(tls), {}, runtime);
  try {
    return await work({ pool, tokens: NO_TOKENS, runtime, timeoutMs, followLeader: true });
  } finally {
    pool.close();
  }
}
