/** The operator's port for probes and metrics, in plain HTTP. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { OperatorMetrics } from "./metrics.ts";

/** Stands for all IPv6 and IPv4 addresses; for IPv4 only, if the kernel has no IPv6. */
export const EVERY_ADDRESS = "*";

export interface Checks {
  /** Reasons why the operator is not ready; empty if it is. */
  readonly unready: () => readonly string[];
  /** Problems that a restart would solve; empty if there are none. */
  readonly dead: () => readonly string[];
}

export class HealthServer {
  readonly #server: Server;

  constructor({ unready, dead }: Checks, metrics: OperatorMetrics) {
    this.#server = createServer((request, response) => {
      const verdict = (problems: readonly string[]): void => {
        const status = problems.length === 0 ? 200 : 503;
        response
          .writeHead(status, { "content-type": "text/plain" })
          .end(`${["ok", ...problems].slice(status === 200 ? 0 : 1).join("\n")}\n`);
      };
      switch (request.url) {
        case "/readyz":
          verdict(unready());
          break;
        case "/livez":
          verdict(dead());
          break;
        case "/metrics":
          metrics.text().then(
            (text) => response.writeHead(200, { "content-type": metrics.contentType }).end(text),
            () => response.writeHead(500).end(),
          );
          break;
        default:
          response.writeHead(404).end();
      }
    });
  }

  /**
   * @param host an address, a name, or EVERY_ADDRESS
   * @returns the port
   * @throws Error if the port is not available
   */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.once("listening", () => resolve((this.#server.address() as AddressInfo).port));
      // Without a host, Node tries `::`, which takes connections of both families, and then `0.0.0.0`.
      this.#server.listen({ port, ...(host === EVERY_ADDRESS ? {} : { host }) });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
