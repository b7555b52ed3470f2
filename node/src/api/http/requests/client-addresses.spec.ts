import { once } from "node:events";
import { type RequestListener, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { FakeTime, until } from "../../../../test/harness/index.ts";
import { RawConnection } from "../../../../test/index.ts";
import { closeHttpServer, createHttpServer, DEFAULT_HTTP_TIMEOUTS, type HttpTimeouts } from "../server/index.ts";
import { ClientAddresses } from "./client-addresses.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

const GET = "GET / HTTP/1.1\r\nHost: x\r\n";
/** A proxy has this much time for its header. */
const HEADER_MS = 5_000;
const V2 = "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xcb\0\x71\x09\xc0\0\x02\x01\x10\0\x20\0";

describe("ClientAddresses", () => {
  let server: Server;
  let refused: string[];
  let time: FakeTime;
  const connections: RawConnection[] = [];

  afterEach(async () => {
    for (const connection of connections.splice(0)) {
      connection.destroy();
    }
    await closeHttpServer(server, 0);
  });

  /** Answers every request with the address of its client. */
  async function serve(
    trusted: readonly string[],
    speaksProxyProtocol: boolean,
    shorter: Partial<HttpTimeouts> = {},
  ): Promise<void> {
    refused = [];
    time = new FakeTime();
    const onRefused = (proxy: string) => void refused.push(proxy);
    const proxies = { trusted: new TrustedProxies(trusted), speaksProxyProtocol, onRefused };
    const clients = new ClientAddresses({ ...proxies, scheduler: time });
    const application: RequestListener = (asked, response) => {
      let bytes = 0;
      asked.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      asked.on("end", () => response.end(`${clients.of(asked)} sent ${bytes}`));
    };
    const timeouts = { ...DEFAULT_HTTP_TIMEOUTS, ...shorter };
    server = createHttpServer(application, { clients, timeouts }).listen(0, "127.0.0.1");
    await once(server, "listening");
  }

  async function open(): Promise<RawConnection> {
    const connection = await RawConnection.open((server.address() as AddressInfo).port);
    connections.push(connection);
    return connection;
  }

  async function answerTo(text: string): Promise<string> {
    const connection = await open();
    connection.send(text);
    return /\r\n\r\n(?:.*\r\n)?(\S+ sent \d+)/.exec(await connection.until(/ sent \d+/))?.[1] ?? "";
  }

  describe("by X-Forwarded-For", () => {
    it("trust a trusted proxy, in all lines together", async () => {
      await serve(["127.0.0.0/8"], false);
      const lines = "X-Forwarded-For: 198.51.100.1\r\nx-forwarded-for: 203.0.113.9, 127.0.0.9\r\n";
      expect(await answerTo(`${GET}${lines}\r\n`)).equal("203.0.113.9 sent 0");
      expect(await answerTo(`${GET}\r\n`)).equal("127.0.0.1 sent 0");
    });

    it("ignore any other sender", async () => {
      await serve(["192.0.2.0/24"], false);
      expect(await answerTo(`${GET}X-Forwarded-For: 203.0.113.9\r\n\r\n`)).equal("127.0.0.1 sent 0");
    });
  });

  describe("by the PROXY protocol", () => {
    it("are the addresses in the header, for each request of the connection", async () => {
      await serve(["127.0.0.1"], true);
      const connection = await open();
      connection.send(`PROXY TCP4 203.0.113.9 192.0.2.1 4096 8192\r\n${GET}\r\n`);
      await connection.until(/203\.0\.113\.9 sent 0/);
      connection.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n${"x".repeat(100_000)}`);
      await connection.until(/203\.0\.113\.9 sent 100000/);
      expect(await answerTo(`${V2}${GET}\r\n`)).equal("203.0.113.9 sent 0");
      expect(await answerTo(`PROXY UNKNOWN\r\n${GET}\r\n`)).equal("127.0.0.1 sent 0");
    });

    it("are read from a header that arrives byte by byte, followed by a large body", async () => {
      await serve(["127.0.0.1"], true);
      const connection = await open();
      for (const byte of V2) {
        connection.send(byte);
        await new Promise((resolve) => setImmediate(resolve));
      }
      const body = "x".repeat(1_000_000);
      connection.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      await connection.until(/203\.0\.113\.9 sent 1000000/);
    });

    it("do not begin a request: at the timeout, only a client that has begun one gets an answer", async () => {
      const shortMs = 50;
      await serve(["127.0.0.1"], true, { headersMs: shortMs, requestMs: shortMs });
      const silent = await open();
      const begun = await open();
      silent.send("PROXY TCP4 203.0.113.9 192.0.2.1 4096 8192\r\n");
      begun.send("PROXY TCP4 203.0.113.9 192.0.2.1 4097 8192\r\nGET ");
      expect(await silent.untilClosed()).to.equal("");
      expect(await begun.untilClosed()).to.include("the request did not arrive in time");
    });

    it("ignore X-Forwarded-For from a client of the proxy", async () => {
      await serve(["127.0.0.1"], true);
      const text = `PROXY TCP4 203.0.113.9 192.0.2.1 1 2\r\n${GET}X-Forwarded-For: 198.51.100.7\r\n\r\n`;
      expect(await answerTo(text)).equal("203.0.113.9 sent 0");
    });

    it("are not read from a sender that is not a trusted proxy", async () => {
      await serve(["192.0.2.1"], true);
      const connection = await open();
      connection.send(`PROXY TCP4 203.0.113.9 192.0.2.1 1 2\r\n${GET}\r\n`);
      expect(await connection.untilClosed()).match(/^HTTP\/1\.1 400 /);
      expect(await answerTo(`${GET}\r\n`)).equal("127.0.0.1 sent 0");
    });

    it("close the connection of a proxy that sends no header, and name the proxy", async () => {
      await serve(["127.0.0.1"], true);
      const connection = await open();
      connection.send(`${GET}\r\n`);
      expect(await connection.untilClosed()).equal("");
      expect(refused).deep.equal(["127.0.0.1"]);
    });

    it("survive connections that end within the header", async () => {
      await serve(["127.0.0.1"], true);
      for (const part of ["", "PROXY", V2.slice(0, 20)]) {
        const connection = await open();
        connection.send(part);
        connection.end();
        connection.destroy();
      }
      expect(await answerTo(`${V2}${GET}\r\n`)).equal("203.0.113.9 sent 0");
      // The ends of their clients alone do not close them.
      time.advance(HEADER_MS);
    });

    it("close the connection of a silent proxy in time, and name the proxy", async () => {
      await serve(["127.0.0.1"], true);
      const connection = await open();
      await until("the connection", () => time.timerCount === 1);
      time.advance(HEADER_MS - 1);
      expect(refused).deep.equal([]);
      time.advance(1);
      expect(await connection.untilClosed()).equal("");
      expect(refused).deep.equal(["127.0.0.1"]);
      expect(time.timerCount).equal(0);
    });
  });

  it("are IPv4 addresses for IPv4 clients at a port for both families", async () => {
    await serve([], false);
    await closeHttpServer(server, 0);
    server.listen(0, "::");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const sent = request({ host: "127.0.0.1", port, agent: false }).end();
    const [response] = await once(sent, "response");
    response.setEncoding("utf8");
    const [text] = await once(response, "data");
    expect(text).equal("127.0.0.1 sent 0");
  });
});
