/** An HTTP server that answers by script and remembers what it was asked. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

interface Asked {
  readonly line: string;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

/** A server whose answers a spec decides. */
export class ScriptedHttpInterface {
  readonly asked: Asked[] = [];
  /** The status and the body of the next answer, in turn; the last one again and again. */
  answers: readonly (readonly [number, object])[] = [[200, {}]];
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async start(): Promise<ScriptedHttpInterface> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const scripted = new ScriptedHttpInterface(server, `http://127.0.0.1:${port}`);
    server.on("request", async (request, response) => {
      let text = "";
      for await (const chunk of request) text += String(chunk);
      const { authorization } = request.headers;
      const body: unknown = text === "" ? undefined : JSON.parse(text);
      scripted.asked.push({ line: `${request.method} ${request.url}`, authorization, body });
      const [status, answer] = scripted.answers[0] ?? [500, {}];
      if (scripted.answers.length > 1) scripted.answers = scripted.answers.slice(1);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(answer));
    });
    return scripted;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
