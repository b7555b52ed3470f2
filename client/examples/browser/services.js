/**
 * The services of a cluster for a browser, by the Connect protocol: connect-web sends plain requests to the HTTP port of
 * a member, and needs no .proto files.
 */

import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { KeyValueService, LockService, WatchService } from "@quoin/client/connect";

/**
 * Creates the clients of three services.
 *
 * @param {string} baseUrl the HTTP port of a member, such as http://127.0.0.1:7401
 * @param {string} token an access token
 */
export function connect(baseUrl, token) {
  const authorize = (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    // To repeat an operation whose outcome is unknown, send the same id again within 300 s.
    request.header.set("request-id", crypto.randomUUID());
    return next(request);
  };
  const transport = createConnectTransport({ baseUrl, interceptors: [authorize] });
  return {
    keyValue: createClient(KeyValueService, transport),
    lock: createClient(LockService, transport),
    watch: createClient(WatchService, transport),
  };
}
