/**
 * How quoinctl reaches the cluster: what the options, the environment, a context and the local cluster say, put together in
 * this order, each part from the first place that names it.
 *
 * A local cluster is taken whole or not at all, and the HTTP endpoints of a place are used only with its gRPC endpoints: an
 * API key goes to no other cluster than the one that is asked for.
 */

import path from "node:path";
import { type Credentials, conventionalHttpEndpoint, isEndpoint, type TlsOptions } from "../index.ts";
import type { AdminCredentials, ConnectionSource } from "./connection-source.ts";
import { readContextSource } from "./context-source.ts";
import { type EnvironmentSource, readEnvironmentSource } from "./environment-source.ts";
import { readEndpointsFile, readLocalClusterSource } from "./local-cluster-source.ts";
import { type ConnectionOptions, readOptionSource } from "./option-source.ts";
import type { Terminal } from "./terminal.ts";
import { UsageError } from "./usage-error.ts";

/** All that is needed to make a client. */
export interface Connection {
  readonly endpoints: readonly string[];
  /** URLs. */
  readonly httpEndpoints: readonly string[];
  readonly credentials: Credentials;
  readonly tls: TlsOptions | undefined;
}

/** All that is needed to ask the HTTP interface. */
export interface HttpConnection {
  /** URLs. */
  readonly httpEndpoints: readonly string[];
  readonly tls: TlsOptions | undefined;
}

/** All that is needed to ask the ports for administration. */
export interface AdminConnection {
  readonly endpoints: readonly string[];
  readonly credentials: AdminCredentials;
  readonly tls: TlsOptions | undefined;
}

const adminHint = "name the ports for administration: --endpoints host:7403 --token-file FILE";

type Surroundings = Pick<Terminal, "environment" | "homeDirectory" | "workingDirectory">;

/** What is said of the cluster, and where. */
interface Found {
  readonly sources: readonly ConnectionSource[];
  readonly endpoints: readonly string[];
  readonly http: HttpConnection;
}

/**
 * Finds the cluster.
 *
 * @throws UsageError when no place names one, or credentials are missing, or what is named cannot be used.
 */
export async function findConnection(terminal: Surroundings, options: ConnectionOptions): Promise<Connection> {
  const { sources, endpoints, http } = await findPlace(terminal, options);
  const { tls, httpEndpoints } = http;
  const credentials = sources.find((source) => source.credentials !== undefined)?.credentials;
  if (credentials === undefined) {
    throw new UsageError(
      `there is no token or API key for ${endpoints.join(", ")}`,
      "pass --api-key-file or --token-file, or set QUOIN_API_KEY or QUOIN_TOKEN",
    );
  }
  if (!("apiKey" in credentials)) return { endpoints, httpEndpoints, credentials, tls };
  return { endpoints, httpEndpoints, credentials: { apiKey: credentials.apiKey, httpEndpoints }, tls };
}

/**
 * Finds the HTTP interface of the cluster, whatever there is to authenticate with.
 *
 * @throws UsageError as findConnection, but for credentials.
 */
export async function findHttpConnection(terminal: Surroundings, options: ConnectionOptions): Promise<HttpConnection> {
  return (await findPlace(terminal, options)).http;
}

/**
 * Finds the ports for administration: those of --endpoints, or those that the place names that names the cluster.
 *
 * @throws UsageError when no place names one, or there is no admin token, or what is named cannot be used.
 */
export async function findAdminConnection(
  terminal: Surroundings,
  options: ConnectionOptions,
): Promise<AdminConnection> {
  const named = ({ endpoints, adminEndpoints }: ConnectionSource) => endpoints ?? adminEndpoints;
  const { sources } = await gatherSources(terminal, options, named);
  const place = sources.find((source) => named(source) !== undefined);
  if (place === undefined) throw noCluster();
  const isGiven = place === sources[0];
  const endpoints = isGiven ? place.endpoints : place.adminEndpoints;
  if (endpoints === undefined) {
    throw new UsageError(
      `it is not known where ${place.endpoints?.join(", ")} can be administered`,
      `${adminHint}; or set QUOIN_ADMIN_ENDPOINTS and QUOIN_ADMIN_TOKEN`,
    );
  }
  assertEndpoints(endpoints);
  const credentials =
    sources[0]?.credentials ??
    sources.find(({ adminCredentials }) => adminCredentials !== undefined)?.adminCredentials ??
    (isGiven ? sources.find((source) => source.credentials !== undefined)?.credentials : undefined);
  if (credentials === undefined || "apiKey" in credentials) {
    throw new UsageError(
      `there is no admin token for ${endpoints.join(", ")}; ports for administration take no API key`,
      "pass --token-file with the file of an admin token, or set QUOIN_ADMIN_TOKEN",
    );
  }
  return { endpoints, credentials, tls: tlsOf(sources) };
}

async function findPlace(terminal: Surroundings, options: ConnectionOptions): Promise<Found> {
  const named = ({ endpoints }: ConnectionSource) => endpoints;
  const { sources, variables } = await gatherSources(terminal, options, named);
  return assemble(sources, variables.httpEndpoints);
}

/** What the places say, in their order, up to the first that names the cluster; that of the options is the first. */
async function gatherSources(
  terminal: Surroundings,
  options: ConnectionOptions,
  named: (source: ConnectionSource) => readonly string[] | undefined,
): Promise<{ readonly sources: readonly ConnectionSource[]; readonly variables: EnvironmentSource }> {
  const namesCluster = (all: readonly ConnectionSource[]) => all.some((source) => named(source) !== undefined);
  const variables = readEnvironmentSource(terminal.environment);
  const sources: ConnectionSource[] = [await readOptionSource(options), variables];
  if (!namesCluster(sources) && options.context === undefined && variables.endpointsFile !== undefined) {
    sources.push(await readEndpointsFile(path.resolve(terminal.workingDirectory, variables.endpointsFile)));
  } else {
    sources.push((await readContextSource(terminal, options.context)) ?? {});
  }
  if (!namesCluster(sources)) {
    sources.push((await readLocalClusterSource(terminal.workingDirectory)) ?? {});
  }
  return { sources, variables };
}

function assemble(
  sources: readonly ConnectionSource[],
  httpEndpointsOfEnvironment: readonly string[] | undefined,
): Found {
  const place = sources.find((source) => source.endpoints !== undefined);
  const endpoints = place?.endpoints;
  if (place === undefined || endpoints === undefined) {
    throw noCluster();
  }
  assertEndpoints(endpoints);
  const tls = tlsOf(sources);
  const httpEndpoints =
    httpEndpointsOfEnvironment ??
    place.httpEndpoints ??
    endpoints.map((endpoint) => conventionalHttpEndpoint(endpoint, tls !== undefined));
  return { sources, endpoints, http: { httpEndpoints, tls } };
}

function noCluster(): UsageError {
  return new UsageError(
    "no cluster is known here",
    "start one with npm start and run quoinctl in the same directory, or name one with --endpoints host:port",
  );
}

function assertEndpoints(endpoints: readonly string[]): void {
  for (const endpoint of endpoints) {
    if (!isEndpoint(endpoint)) throw new UsageError(`an endpoint must be host:port, not ${JSON.stringify(endpoint)}`);
  }
}

function tlsOf(sources: readonly ConnectionSource[]): TlsOptions | undefined {
  return sources.find((source) => source.tls !== undefined)?.tls;
}
