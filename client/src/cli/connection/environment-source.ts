/** The connection in environment variables: QUOIN_ENDPOINTS and others. An empty variable counts as unset. */

import type { Credentials, TlsOptions } from "../../index.ts";
import { UsageError } from "../errors/index.ts";
import { parseList } from "../text/index.ts";
import type { AdminCredentials, ConnectionSource } from "./connection-source.ts";

/** The content of the environment. */
export interface EnvironmentSource extends ConnectionSource {
  /** Path of an `endpoints.json` file, as the launcher of local clusters writes it. */
  readonly endpointsFile: string | undefined;
}

/**
 * Reads the variables; lists are separated by commas.
 *
 * @throws UsageError for the same authorities as a text and as a file.
 */
export function readEnvironmentSource(environment: Readonly<Record<string, string | undefined>>): EnvironmentSource {
  return {
    endpoints: parseList(variable(environment, "QUOIN_ENDPOINTS")),
    credentials: credentials(variable(environment, "QUOIN_TOKEN"), variable(environment, "QUOIN_API_KEY")),
    adminEndpoints: parseList(variable(environment, "QUOIN_ADMIN_ENDPOINTS")),
    adminCredentials: adminCredentials(variable(environment, "QUOIN_ADMIN_TOKEN")),
    tls: authorities(variable(environment, "QUOIN_CA_PEM"), variable(environment, "QUOIN_CA_FILE")),
    endpointsFile: variable(environment, "QUOIN_ENDPOINTS_FILE"),
  };
}

/** A token has fewer rights than a key, and a caller that sets it wants to use it. */
function credentials(token: string | undefined, apiKey: string | undefined): Credentials | undefined {
  if (token !== undefined) {
    return { token };
  }
  return apiKey === undefined ? undefined : { apiKey };
}

function authorities(ca: string | undefined, caFile: string | undefined): TlsOptions | undefined {
  if (ca !== undefined && caFile !== undefined) {
    throw new UsageError("give QUOIN_CA_PEM or QUOIN_CA_FILE, not both");
  }
  return ca === undefined && caFile === undefined ? undefined : { ca, caFile };
}

function adminCredentials(token: string | undefined): AdminCredentials | undefined {
  return token === undefined ? undefined : { token };
}

function variable(environment: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === "" ? undefined : value;
}
