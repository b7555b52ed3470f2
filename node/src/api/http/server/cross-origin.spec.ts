import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { CrossOrigin, problemOfOrigin } from "./cross-origin.ts";

const ALLOWED = "https://console.example.com";

describe("cross-origin requests", () => {
  let server: Server;
  let crossOrigin: CrossOrigin;

  before(async () => {
    server = createServer((request, response) => {
      if (!crossOrigin.serve(request, response)) {
        response.end("served");
      }
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
  });

  beforeEach(() => {
    crossOrigin = new CrossOrigin([ALLOWED, "http://localhost:3000"]);
  });

  after(() => {
    server.close();
  });

  async function ask(method: string, headers: Readonly<Record<string, string>>): Promise<Response> {
    const { port } = server.address() as AddressInfo;
    return fetch(`http://127.0.0.1:${port}/`, { method, headers });
  }

  function allowed({ headers }: Response): readonly string[] {
    return [...headers.keys()].filter((name) => name.startsWith("access-control-")).sort();
  }

  it("of a named origin are allowed, and may read all headers", async () => {
    const response = await ask("POST", { origin: ALLOWED });
    expect(await response.text()).to.equal("served");
    expect(response.headers.get("access-control-allow-origin")).to.equal(ALLOWED);
    expect(response.headers.get("access-control-expose-headers")).to.equal("*");
    expect(response.headers.get("vary")).to.equal("Origin");
    expect(response.headers.get("access-control-allow-credentials")).to.equal(null);
  });

  it("are answered when a browser asks before, with the headers that it wants", async () => {
    const asked = { "access-control-request-method": "POST", "access-control-request-headers": "authorization,x" };
    const response = await ask("OPTIONS", { origin: "http://localhost:3000", ...asked });
    expect([response.status, await response.text()]).to.deep.equal([204, ""]);
    expect(response.headers.get("access-control-allow-origin")).to.equal("http://localhost:3000");
    expect(response.headers.get("access-control-allow-headers")).to.equal("authorization,x");
    expect(response.headers.get("access-control-allow-methods")).to.include("PATCH");
    expect(response.headers.get("access-control-max-age")).to.equal("7200");
    expect(response.headers.get("api-version")).to.equal("v1");
  });

  it("of any other origin get nothing, but are not mixed up by caches", async () => {
    for (const origin of ["https://evil.example.com", "https://console.example.com.evil", "null", "HTTPS://CONSOLE"]) {
      const response = await ask("OPTIONS", { origin, "access-control-request-method": "POST" });
      expect(await response.text(), origin).to.equal("served");
      expect([allowed(response), response.headers.get("vary")], origin).to.deep.equal([[], "Origin"]);
    }
    const response = await ask("GET", {});
    expect([allowed(response), response.headers.get("vary")]).to.deep.equal([[], "Origin"]);
  });

  it("are off without named origins", async () => {
    crossOrigin = new CrossOrigin([]);
    const response = await ask("OPTIONS", { origin: ALLOWED, "access-control-request-method": "POST" });
    expect(await response.text()).to.equal("served");
    expect([allowed(response), response.headers.get("vary")]).to.deep.equal([[], null]);
  });

  it("need origins that browsers send", () => {
    for (const origin of [ALLOWED, "http://localhost:3000", "http://[::1]:8080"]) {
      expect(problemOfOrigin(origin), origin).to.equal(null);
    }
    for (const text of [
      "*",
      "console.example.com",
      `${ALLOWED}/`,
      `${ALLOWED}:443`,
      "https://A.example",
      "file:///x",
      "",
    ]) {
      expect(problemOfOrigin(text), text).to.include("must be an origin such as");
    }
  });
});
