/** How to reach the cluster, as the environment says: QUOIN_ENDPOINTS and its kin. An empty variable counts as unset. */

import type { ConnectionSource, SourceCredentials } from "./connection-source.ts";

/** Reads the variables; lists are separated by commas. */
export function readEnvironmentSource(environment: Readonly<Record<string, string | undefined>>): ConnectionSource {
  const caPem = variable(environment, "QUOIN_CA_PEM");
  return {
    endpoints: list(variable(environment, "QUOIN_ENDPOINTS")),
    httpEndpoints: list(variable(environment, "QUOIN_HTTP_ENDPOINTS") ?? variable(environment, "QUOIN_HTTP_ENDPOINT")),
    credentials: credentials(variable(environment, "QUOIN_TOKEN"), variable(environment, "QUOIN_API_KEY")),
    tls: caPem === undefined ? undefined : { ca: caPem },
  };
}

/** Splits a list as it is written in a variable or an option; undefined when nothing is in it. */
export function list(text: string | undefined): readonly string[] | undefined {
  const items = (text ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  return items.length === 0 ? undefined : items;
}

/** A token is narrower than a key, and somebody who sets it wants it used. */
function credentials(token: string | undefined, apiKey: string | undefined): SourceCredentials | undefined {
  if (token !== undefined) return { token };
  return apiKey === undefined ? undefined : { apiKey };
}

function variable(environment: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === "" ? undefined : value;
}
