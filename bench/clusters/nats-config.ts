/** The configuration files of the members of a NATS cluster. */

/** Where a member is, each as `host:port`. */
export interface NatsPlan {
  readonly name: string;
  /** For clients, for the other members, and for figures over HTTP. */
  readonly client: string;
  readonly route: string;
  readonly monitoring: string;
}

/**
 * Atomic batches that a stream may have open at once. The server's default of 50 is less than the benchmark has in
 * flight, and a batch above it fails.
 */
export const OPEN_BATCHES_MAX = 1_000;

/**
 * The configuration of one of these members. A member acknowledges a write only when the write is synced; everything else
 * but names, addresses and the limit of open batches is as the server has it by default.
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

/** A string of the server's configuration language, which knows the escapes of JSON that paths can need. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
