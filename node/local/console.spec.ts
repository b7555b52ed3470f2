/** Finds the member that serves the console, among HTTP servers. A real member serves it in `test/local/package.spec.ts`. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { findConsole } from "./console.ts";

describe("findConsole", () => {
  const servers: Server[] = [];

  async function serve(status: number): Promise<string> {
    const server = createServer((request, response) =>
      response.writeHead(request.url === "/console" ? status : 500).end(),
    );
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });

  it("takes the first member that serves it, and passes over those that do not answer", async () => {
    const [gone, older, serving, later] = [await serve(200), await serve(404), await serve(200), await serve(200)];
    await new Promise((resolve) => servers.shift()?.close(resolve));
    expect(await findConsole([gone, older, serving, later])).to.deep.equal({ address: `${serving}/console` });
    expect(await findConsole([gone, older])).to.deep.equal({ problem: `${older} answered, but without a console` });
    expect(await findConsole([gone])).to.deep.equal({
      problem: `no member answered at ${gone}; does the cluster run?`,
    });
  });
});
