import { once } from "node:events";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../test/harness/index.ts";
import { FoundedCluster } from "../../../../test/index.ts";
import { Access, DEFAULT_RATE_LIMITS, rateLimiters } from "../../../access/index.ts";
import { closeHttpServer, createHttpApplication, createHttpServer } from "../server/index.ts";
import { ConsoleFiles } from "./console-files.ts";

const PAGE = "<!doctype html><title>Quoin</title>";
const SCRIPT = `const text = "${"long ".repeat(100)}";`;

describe("the console of a member", () => {
  let root: string;
  let directory: string;
  let server: Server;
  let address: string;
  let bugs: unknown[];

  beforeEach(async () => {
    root = temporaryDirectory();
    directory = join(root, "built");
    const cluster = new FoundedCluster();
    bugs = [];
    const application = createHttpApplication({
      access: new Access(cluster, cluster.clock),
      clock: cluster.clock,
      limiters: rateLimiters(DEFAULT_RATE_LIMITS, cluster.clock),
      health: { live: () => [], ready: () => [] },
      metrics: { contentType: "text/plain", metrics: () => Promise.resolve("") },
      reportBug: (error) => bugs.push(error),
      consoleFiles: new ConsoleFiles(pathToFileURL(`${directory}/`)),
    });
    server = createHttpServer(application).listen(0, "127.0.0.1");
    await once(server, "listening");
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    await closeHttpServer(server, 0);
    expect(bugs).to.deep.equal([]);
  });

  function write(name: string, content: string): void {
    const file = join(directory, name);
    writeFileSync(file, content);
    writeFileSync(`${file}.br`, brotliCompressSync(content));
    writeFileSync(`${file}.gz`, gzipSync(content));
  }

  function build(page = PAGE): void {
    mkdirSync(join(directory, "assets"), { recursive: true });
    write("assets/console-ABC.js", SCRIPT);
    write("index.html", page);
  }

  function get(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${address}${path}`, { redirect: "manual", ...init });
  }

  it("serves its page under a policy that allows nothing from elsewhere and nothing written into the page", async () => {
    build();
    const response = await get("/console/");
    expect([response.status, await response.text()]).to.deep.equal([200, PAGE]);
    expect(response.headers.get("Content-Type")).to.equal("text/html; charset=utf-8");
    expect(response.headers.get("Cache-Control")).to.equal("no-cache");
    const policy = response.headers.get("Content-Security-Policy")?.split("; ");
    expect(policy).to.include.members(["default-src 'none'", "script-src 'self'", "style-src 'self'"]);
    expect(policy).to.include.members(["connect-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"]);
    expect(policy?.join()).not.to.include("unsafe").and.not.to.include("http");
    expect(response.headers.get("X-Content-Type-Options")).to.equal("nosniff");
  });

  it("asks for its page each time, and sends it only if it has changed", async () => {
    build();
    const etag = (await get("/console/")).headers.get("ETag") ?? "";
    const again = await get("/console/", { headers: { "If-None-Match": etag } });
    expect([again.status, await again.text()]).to.deep.equal([304, ""]);
    build(`${PAGE}<p>new`);
    utimesSync(join(directory, "index.html"), new Date(), new Date(Date.now() + 5_000));
    const changed = await get("/console/", { headers: { "If-None-Match": etag } });
    expect([changed.status, await changed.text()]).to.deep.equal([200, `${PAGE}<p>new`]);
  });

  it("lets browsers keep its files for good, in the encoding that they take", async () => {
    build();
    for (const [accepted, sent] of [
      ["gzip, br", "br"],
      ["gzip", "gzip"],
      ["identity", null],
      ["br;q=0, gzip;q=0.5", "gzip"],
    ] as const) {
      const response = await get("/console/assets/console-ABC.js", { headers: { "Accept-Encoding": accepted } });
      expect([response.status, response.headers.get("Content-Encoding")], accepted).to.deep.equal([200, sent]);
      expect(await response.text(), accepted).to.equal(SCRIPT);
      expect(response.headers.get("Content-Type")).to.equal("text/javascript; charset=utf-8");
      expect(response.headers.get("Cache-Control")).to.equal("public, max-age=31536000, immutable");
      expect(response.headers.get("Vary")).to.equal("Accept-Encoding");
    }
    const head = await get("/console/assets/console-ABC.js", { method: "HEAD" });
    expect([head.status, await head.text()]).to.deep.equal([200, ""]);
  });

  it("serves no other file", async () => {
    build();
    writeFileSync(join(root, "secret.js"), "secret");
    for (const path of ["nothing.js", "console-ABC.js.br", "..%2Findex.html", "..%2F..%2Fsecret.js", "%00", ""]) {
      const response = await get(`/console/assets/${path}`);
      expect([response.status, ((await response.json()) as { code: string }).code], path).to.deep.equal([
        ...[404, "not_found"],
      ]);
    }
  });

  for (const [from, status, location] of [
    ["/console", 308, "console/"],
    ["/", 302, "console/"],
    ["/docs/", 308, "../docs"],
  ] as const) {
    it(`leads on from ${from} by a relative address, so that a proxy may serve it below a path`, async () => {
      const response = await get(from);
      expect([response.status, response.headers.get("Location")]).to.deep.equal([status, location]);
    });
  }

  it("refuses other methods", async () => {
    const response = await get("/console/", { method: "POST", body: "x" });
    expect([response.status, response.headers.get("Allow")]).to.deep.equal([405, "GET, HEAD"]);
  });

  it("says how to build it if it is not built, and appears after the build", async () => {
    const response = await get("/console/");
    expect([response.status, response.headers.get("Cache-Control")]).to.deep.equal([404, "no-store"]);
    expect(await response.text()).to.include("npm run console");
    expect((await get("/console/assets/console-ABC.js")).status).to.equal(404);
    build();
    expect((await get("/console/")).status).to.equal(200);
    expect((await get("/console/assets/console-ABC.js")).status).to.equal(200);
  });

  it("is read again after a build that was not complete", async () => {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "index.html"), PAGE);
    const early = await get("/console/");
    expect(early.status).to.equal(500);
    await early.text();
    expect(bugs.splice(0)).to.have.length(1);
    build();
    expect((await get("/console/")).status).to.equal(200);
  });
});
