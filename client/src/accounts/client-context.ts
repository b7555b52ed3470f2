/** What the operations of one client share: its members, and the tokens that these give for its credentials. */

import type { OperationContext } from "../calls/index.ts";
import {
  type ChannelOptions,
  DEFAULT_TIMEOUT_MS,
  openPool,
  type Runtime,
  systemRuntime,
  Tls,
  type TlsOptions,
  type TokenSource,
} from "../transport/index.ts";
import { type Credentials, tokenSourceOf } from "./credentials.ts";
import { exchangeInPool } from "./token-exchange.ts";

/** The options of every client. */
interface ContextOptions {
  readonly credentials: Credentials | TokenSource;
  readonly tls?: TlsOptions | undefined;
  readonly timeoutMs?: number | undefined;
  readonly channel?: ChannelOptions | undefined;
  readonly runtime?: Runtime | undefined;
}

/**
 * Opens the context of a client, which begins with a random endpoint. Its pool is to be closed at the end.
 *
 * @param endpoints valid ones.
 * @param followLeader whether calls may go to the leader, instead of one particular member.
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for unusable options.
 */
export function openContext(
  endpoints: readonly string[],
  { credentials, timeoutMs = DEFAULT_TIMEOUT_MS, channel = {}, runtime = systemRuntime, ...options }: ContextOptions,
  followLeader: boolean,
): OperationContext {
  const pool = openPool(endpoints, Tls.of(options.tls), channel, runtime);
  const shared = { pool, runtime, timeoutMs, followLeader };
  const tokens = tokenSourceOf(credentials, (secret) => exchangeInPool(shared, secret), runtime);
  return { ...shared, tokens };
}
