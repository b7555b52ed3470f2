/**
 * The example of a page for other developers, `client/examples/browser`, in a real Chromium: it comes from another origin
 * than the member, which names that origin. On a machine without Chromium these tests are skipped.
 */

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { ClusterUnderTest } from "../../node/test/harness/index.ts";
import { withBundler, writeConnectServices } from "../../scripts/bundle/index.ts";
import { temporaryDirectory } from "../../testing/index.ts";
import { findChromium, TestBrowser, type WatchedPage } from "./browser.ts";

const EXAMPLE = fileURLToPath(new URL("../../client/examples/browser/", import.meta.url));
const MODULES = fileURLToPath(new URL("../../node_modules", import.meta.url));

describe("the example of a page by connect-web", function () {
  // Usually seconds: a limit for a busy machine.
  this.timeout(180_000);
  const directory = temporaryDirectory();
  const servers: Server[] = [];
  let browser: TestBrowser | undefined;
  let cluster: ClusterUnderTest | undefined;
  let script: string;
  let allowed: string;
  let opened: WatchedPage | undefined;

  before(async function () {
    const program = findChromium();
    if (program === undefined) {
      this.skip();
    }
    script = await bundle();
    allowed = await serve();
    cluster = await ClusterUnderTest.start(1, { placementOf: async () => ({ flags: ["--cors-origins", allowed] }) });
    browser = await TestBrowser.start(program);
  });

  afterEach(async () => {
    await opened?.page.context().close();
    opened = undefined;
  });

  after(async () => {
    await browser?.close();
    await cluster?.dispose();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** The script of the page, as a bundler makes it for a user of the package. */
  async function bundle(): Promise<string> {
    const services = path.join(directory, "connect");
    writeConnectServices(services);
    const { outputFiles } = await withBundler((build) =>
      build({
        entryPoints: [path.join(EXAMPLE, "page.js")],
        alias: { "@quoin/client/connect": path.join(services, "index.js") },
        nodePaths: [MODULES],
        bundle: true,
        format: "esm",
        write: false,
      }),
    );
    return outputFiles[0]!.text;
  }

  /** Serves the page on its own port. Returns its origin. */
  async function serve(): Promise<string> {
    const page = readFileSync(path.join(EXAMPLE, "index.html"));
    const server = createServer((request, response) => {
      const isScript = request.url === "/bundle.js";
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
      response.end(isScript ? script : page);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Opens the page, and fills its form in. */
  async function open(origin: string): Promise<WatchedPage> {
    const member = cluster!.httpEndpoints[0]!;
    const watched = await browser!.open(`${origin}/`, "light", [member]);
    opened = watched;
    await watched.page.fill("[name=url]", member);
    await watched.page.fill("[name=token]", await cluster!.tokens.token());
    return watched;
  }

  it("writes, reads and watches a key, and writes it under a lock, from another origin", async () => {
    const { page, problems } = await open(allowed);
    const line = (text: string) => page.locator("li", { hasText: text }).first().waitFor();
    await page.click("#watch");
    await line("watching");
    await page.click("[type=submit]");
    await line("wrote greeting at revision");
    await line("changed greeting: hello");
    await page.fill("[name=value]", "grüße");
    await page.click("#lock");
    await line("wrote greeting under the lock with token");
    await line("changed greeting: grüße");
    await page.click("#read");
    await line("read greeting: grüße, version 2");
    await page.fill("[name=key]", "none");
    await page.click("#read");
    await line("not_found");
    expect(problems).to.deep.equal([]);
    const { state } = await cluster!.client().locks.describe("default", "greeting");
    expect(state).to.equal("FREE");
  });

  it("gets nothing if the member does not name its origin", async () => {
    const other = await serve();
    const { page, problems } = await open(other);
    await page.click("[type=submit]");
    await page.locator("li", { hasText: "Failed to fetch" }).waitFor();
    expect(problems.join("\n")).to.include("has been blocked by CORS policy");
    expect(await page.locator("li").count()).to.equal(1);
  });
});
