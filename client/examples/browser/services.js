/**
 * The services of a cluster for a browser, by the Connect protocol: connect-web sends plain requests to the HTTP port of
 * a member, and needs no .proto files.
 */

import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { KeyValueService, WatchService } from "@quoin/client/connect";

/**
 * Creates the clients of two services.
 *
 * @param {string} baseUrl the HTTP port of a member, such as http://127.0.0.1:7401
 * @param {string} token an access token
 */
export function connect(baseUrl, token) {
  const authorize = (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    // The same id for all attempts of one operation makes repetitions safe.
    request.header.set("request-id", crypto.randomUUID());
    return next(request);
  };
  const transport = createConnectTransport({ baseUrl, interceptors: [authorize] });
  return { keyValue: createClient(KeyValueService, transport), watch: createClient(WatchService, transport) };
}
