/** The connection to the API server: one pool of sockets, and the credentials of each request. */
import type { RequestOptions } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";
import { Agent, type Dispatcher } from "undici";

/** Passes come every ten seconds. The API server itself closes connections that were idle for 90 s. */
const IDLE_MS = 60_000;

export interface Connection {
  /** Without a slash at the end. */
  readonly url: string;
  readonly dispatcher: Dispatcher;
  /** Computed for each request, because a token may have been replaced in its file. */
  headers(): Promise<Record<string, string>>;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** From the environment: KUBECONFIG, the user's own configuration, or the service account of the pod. */
export function defaultConnection(): Promise<Connection> {
  const config = new KubeConfig();
  config.loadFromDefault();
  return connect(config);
}

/** @throws Error if the configuration names no cluster */
export async function connect(config: KubeConfig): Promise<Connection> {
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new Error("the kubeconfig names no cluster");
  }
  const { ca, cert, key, rejectUnauthorized, servername } = await optionsOf(config);
  // The library would open a new pool, and so a new TLS connection, for each request.
  const dispatcher = new Agent({
    allowH2: false,
    keepAliveTimeout: IDLE_MS,
    connect: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
      ...(servername === undefined ? {} : { servername }),
    },
  });
  return {
    url: cluster.server.replace(/\/+$/, ""),
    dispatcher,
    headers: async () => headersOf(config, await optionsOf(config)),
    close: () => dispatcher.destroy(),
  };
}

async function optionsOf(config: KubeConfig): Promise<RequestOptions> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  return options;
}

function headersOf(config: KubeConfig, { headers }: RequestOptions): Record<string, string> {
  const user = config.getCurrentUser();
  const basic =
    user?.username === undefined || user.password === undefined
      ? {}
      : { Authorization: `Basic ${Buffer.from(`${user.username}:${user.password}`).toString("base64")}` };
  const shown = Object.entries(headers ?? {}).filter(([, value]) => value !== undefined);
  return { ...basic, ...Object.fromEntries(shown.map(([name, value]) => [name, String(value)])) };
}
