/** An HTTP server for POST /auth/token with scripted answers that records the bodies of its requests. */

import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

/** An answer: an object is sent as JSON, a text unchanged. */
interface ScriptedAnswer {
  readonly status: number;
  readonly body: object | string;
}

type TokenScript = (body: unknown, count: number) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** A token endpoint with scripted answers. */
export class ScriptedTokenEndpoint {
  readonly url: string;
  readonly bodies: unknown[] = [];
  script: TokenScript;
  readonly #server: Server;

  private constructor(server: Server, script: TokenScript, url: string) {
    this.#server = server;
    this.script = script;
    this.url = url;
  }

  /** Starts one. By default it returns the tokens `token-1`, `token-2` and so on, each for an hour. */
  static async start(
    script: TokenScript = (_body, count) => ({
      status: 200,
      body: { access_token: `token-${count}`, expires_in: 3_600, token_type: "Bearer" },
    }),
    tls?: { readonly certificate: string; readonly key: string },
  ): Promise<ScriptedTokenEndpoint> {
    const server =
      tls === undefined
        ? createServer()
        : createTlsServer({
            cert: tls.certificate,
            key: tls.key,
            ca: tls.certificate,
            requestCert: true,
            rejectUnauthorized: true,
          });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const endpoint = new ScriptedTokenEndpoint(
      server,
      script,
      `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    );
    server.on("request", async (request, response) => {
      let text = "";
      for await (const chunk of request) {
        text += String(chunk);
      }
      const expected = request.method === "POST" && request.url === "/auth/token";
      const body: unknown = expected ? JSON.parse(text) : undefined;
      endpoint.bodies.push(body);
      const answer = expected
        ? await endpoint.script(body, endpoint.bodies.length)
        : { status: 404, body: { error: "no such path", code: "not_found" } };
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
    });
    return endpoint;
  }

  /** Stops at once, and breaks all connections. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
