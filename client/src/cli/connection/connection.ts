/**
 * How quoinctl reaches the cluster. It combines the options, the environment, a context and the local cluster in this
 * order, and takes each part from the first place that has it. Endpoints of the local cluster find its credentials.
 *
 * A local cluster is used completely or not at all. So an API key is never sent to another cluster than the requested
 * one.
 */

import path from "node:path";
import type { Credentials, TlsOptions } from "../../index.ts";
import { UsageError } from "../errors/index.ts";
import type { Terminal } from "../terminal/index.ts";
import type { AdminCredentials, ConnectionSource } from "./connection-source.ts";
import { readContextSource } from "./context-source.ts";
import { readEnvironmentSource } from "./environment-source.ts";
import { readEndpointsFile, readLocalClusterSource } from "./local-cluster-source.ts";
import { type ConnectionOptions, readOptionSource } from "./option-source.ts";

/** The parameters of a client. */
export interface Connection {
  readonly endpoints: readonly string[];
  readonly credentials: Credentials;
  readonly tls: TlsOptions | undefined;
}

/** A cluster, without credentials. */
export type ClusterPlace = Omit<Connection, "credentials">;

/** The parameters of the admin ports. */
export interface AdminConnection {
  readonly endpoints: readonly string[];
  readonly credentials: AdminCredentials;
  readonly tls: TlsOptions | undefined;
}

const ADMIN_HINT = "name the admin ports: --endpoints host:7403 --token-file FILE";

type SourceContext = Pick<Terminal, "environment" | "homeDirectory" | "workingDirectory">;

/** The cluster, and the sources of what is known of it. */
interface Found {
  readonly sources: readonly ConnectionSource[];
  readonly place: ClusterPlace;
}

/**
 * Finds the cluster.
 *
 * @throws UsageError if no place names one, if there are no credentials, or if the found values are unusable.
 */
export async function findConnection(terminal: SourceContext, options: ConnectionOptions): Promise<Connection> {
  const { sources, place } = await findSources(terminal, options);
  const credentials = sources.find((source) => source.credentials !== undefined)?.credentials;
  if (credentials === undefined) {
    throw new UsageError(
      `there is no token or API key for ${place.endpoints.join(", ")}`,
      "log in with: quoinctl login EMAIL, or pass --api-key-file or --token-file, or set QUOIN_API_KEY or QUOIN_TOKEN",
    );
  }
  return { ...place, credentials };
}

/**
 * Finds the cluster, with or without credentials.
 *
 * @throws UsageError like findConnection, except for credentials.
 */
export async function findPlace(terminal: SourceContext, options: ConnectionOptions): Promise<ClusterPlace> {
  return (await findSources(terminal, options)).place;
}

/**
 * Finds the admin ports: those of --endpoints, or those of the place that names the cluster.
 *
 * @throws UsageError if no place names one, if there is no admin token, or if the found values are unusable.
 */
export async function findAdminConnection(
  terminal: SourceContext,
  options: ConnectionOptions,
): Promise<AdminConnection> {
  const named = ({ endpoints, adminEndpoints }: ConnectionSource) => endpoints ?? adminEndpoints;
  const sources = await gatherSources(terminal, options, named);
  const place = sources.find((source) => named(source) !== undefined);
  if (place === undefined) {
    throw noCluster();
  }
  const isGiven = place === sources[0];
  const endpoints = adminPortsOf(sources, place.endpoints) ?? (isGiven ? place.endpoints : place.adminEndpoints);
  if (endpoints === undefined) {
    throw new UsageError(
      `the admin ports of ${place.endpoints?.join(", ")} are not known`,
      `${ADMIN_HINT}; or set QUOIN_ADMIN_ENDPOINTS and QUOIN_ADMIN_TOKEN`,
    );
  }
  await assertEndpoints(endpoints);
  const credentials =
    sources[0]?.credentials ??
    sources.find(({ adminCredentials }) => adminCredentials !== undefined)?.adminCredentials ??
    (isGiven ? sources.find((source) => source.credentials !== undefined)?.credentials : undefined);
  if (credentials === undefined || "apiKey" in credentials) {
    throw new UsageError(
      `there is no admin token for ${endpoints.join(", ")}; admin ports take no API key`,
      "pass --token-file with the file of an admin token, or set QUOIN_ADMIN_TOKEN",
    );
  }
  return { endpoints, credentials, tls: tlsOf(sources) };
}

/** The admin ports of the cluster with these gRPC endpoints, if a source knows both. */
function adminPortsOf(
  sources: readonly ConnectionSource[],
  endpoints: readonly string[] | undefined,
): readonly string[] | undefined {
  if (endpoints === undefined) {
    return undefined;
  }
  return sources.find((source) => source.adminEndpoints !== undefined && isSameCluster(source, endpoints))
    ?.adminEndpoints;
}

async function findSources(terminal: SourceContext, options: ConnectionOptions): Promise<Found> {
  const named = ({ endpoints }: ConnectionSource) => endpoints;
  const sources = await gatherSources(terminal, options, named);
  const endpoints = sources.find((source) => named(source) !== undefined)?.endpoints;
  if (endpoints === undefined) {
    throw noCluster();
  }
  await assertEndpoints(endpoints);
  return { sources, place: { endpoints, tls: tlsOf(sources) } };
}

/**
 * The places in order, up to the first that names the cluster. The options come first, and with them the context that
 * an option names: it precedes the environment.
 */
async function gatherSources(
  terminal: SourceContext,
  options: ConnectionOptions,
  named: (source: ConnectionSource) => readonly string[] | undefined,
): Promise<readonly ConnectionSource[]> {
  const namesCluster = (all: readonly ConnectionSource[]) => all.some((source) => named(source) !== undefined);
  const variables = readEnvironmentSource(terminal.environment);
  const option = await readOptionSource(options);
  if (options.context !== undefined) {
    const context = await readContextSource(terminal, options);
    const sources = [option, context ?? {}, variables];
    if (context === undefined && !namesCluster(sources)) {
      sources.push((await readLocalClusterSource(terminal.workingDirectory)) ?? {});
    }
    return sources;
  }
  const sources: ConnectionSource[] = [option, variables];
  const [given] = sources.flatMap((source) => [named(source)].filter((endpoints) => endpoints !== undefined));
  const local = given === undefined ? undefined : await localClusterOf(terminal, given, variables.endpointsFile);
  if (local !== undefined) {
    return [...sources, local];
  }
  if (given === undefined && variables.endpointsFile !== undefined) {
    sources.push(await readEndpointsFile(path.resolve(terminal.workingDirectory, variables.endpointsFile)));
  } else {
    sources.push((await readContextSource(terminal, options)) ?? {});
  }
  if (!namesCluster(sources)) {
    sources.push((await readLocalClusterSource(terminal.workingDirectory)) ?? {});
  }
  return sources;
}

/** The local cluster, if all of these endpoints are its own; undefined = it is another cluster, or there is none. */
async function localClusterOf(
  { workingDirectory }: SourceContext,
  given: readonly string[],
  endpointsFile: string | undefined,
): Promise<ConnectionSource | undefined> {
  const reading =
    endpointsFile === undefined
      ? readLocalClusterSource(workingDirectory)
      : readEndpointsFile(path.resolve(workingDirectory, endpointsFile));
  const local = await reading.catch((error: unknown) => {
    // If the file is unusable, the endpoints are those of another cluster.
    if (error instanceof UsageError) {
      return undefined;
    }
    throw error;
  });
  const own = new Set([...(local?.endpoints ?? []), ...(local?.adminEndpoints ?? [])].map(withNumericHost));
  return given.every((endpoint) => own.has(withNumericHost(endpoint))) ? local : undefined;
}

/** The launcher writes numeric addresses; people also type `localhost`. */
function withNumericHost(endpoint: string): string {
  return endpoint.replace(/^localhost:/, "127.0.0.1:");
}

/** Whether a source has these endpoints too, as the local cluster has those of an option. */
function isSameCluster(source: ConnectionSource, endpoints: readonly string[]): boolean {
  const own = new Set(source.endpoints?.map(withNumericHost));
  return endpoints.every((endpoint) => own.has(withNumericHost(endpoint)));
}

function noCluster(): UsageError {
  return new UsageError(
    "no cluster is known here",
    "start one with npm start and run quoinctl in the same directory, or name one with --endpoints host:port",
  );
}

/** @throws UsageError for an endpoint that is not host:port. */
export async function assertEndpoints(endpoints: readonly string[]): Promise<void> {
  const { isEndpoint } = await import("../../index.ts");
  for (const endpoint of endpoints) {
    if (!isEndpoint(endpoint)) {
      throw new UsageError(`an endpoint must be host:port, not ${JSON.stringify(endpoint)}`);
    }
  }
}

function tlsOf(sources: readonly ConnectionSource[]): TlsOptions | undefined {
  return sources.find((source) => source.tls !== undefined)?.tls;
}
