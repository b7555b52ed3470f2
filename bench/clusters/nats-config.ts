/** The configuration files of the members of a NATS cluster. */

/** The addresses of a member, each as `host:port`. */
export interface NatsPlan {
  readonly name: string;
  /** For clients, for the other members, and for monitoring over HTTP. */
  readonly client: string;
  readonly route: string;
  readonly monitoring: string;
}

/**
 * Atomic batches that a stream may have open at the same time. The benchmark has more in flight than the server's
 * default of 50, and a batch above the limit fails.
 */
export const OPEN_BATCHES_MAX = 1_000;

/**
 * The configuration of one of these members. The member acknowledges a write only when the write is synced. Everything
 * else except names, addresses and the limit of open batches has the server's default.
 */
export function natsConfig(plan: NatsPlan, plans: readonly NatsPlan[], storeDirectory: string): string {
  const routes = plans.filter((other) => other !== plan).map(({ route }) => `nats://${route}`);
  return [
    `server_name: ${quoted(plan.name)}`,
    `listen: ${quoted(plan.client)}`,
    `http: ${quoted(plan.monitoring)}`,
    "jetstream {",
    `  store_dir: ${quoted(storeDirectory)}`,
    "  sync_interval: always",
    `  limits { batch { max_inflight_per_stream: ${OPEN_BATCHES_MAX} } }`,
    "}",
    "cluster {",
    '  name: "bench"',
    `  listen: ${quoted(plan.route)}`,
    `  routes: [${routes.map(quoted).join(", ")}]`,
    "}",
    "",
  ].join("\n");
}

/** A string in the server's configuration language, which supports the JSON escapes that paths can need. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
