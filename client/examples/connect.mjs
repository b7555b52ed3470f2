/**
 * Connects the examples: to the cluster of QUOIN_ENDPOINTS with the token of QUOIN_TOKEN, or
 * to the cluster that `npm start` runs. In that case `.quoin/endpoints.json` in the working directory has the addresses
 * and an API key.
 */

import { readFileSync } from "node:fs";
import { createClient } from "@quoin/client";

/**
 * Creates a client.
 *
 * @returns {import("@quoin/client").Client}
 */
export function connect() {
  const { QUOIN_ENDPOINTS: endpoints, QUOIN_TOKEN: token } = process.env;
  if (endpoints !== undefined && token !== undefined) {
    return createClient({ endpoints: endpoints.split(","), credentials: { token } });
  }
  const local = JSON.parse(readFileSync(".quoin/endpoints.json", "utf8"));
  return createClient({ endpoints: local.grpc, credentials: { apiKey: local.api_key } });
}
