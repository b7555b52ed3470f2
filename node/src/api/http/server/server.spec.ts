import { once } from "node:events";
import type { RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect } from "chai";
import { pause, until } from "../../../../test/harness/index.ts";
import { RawConnection } from "../../../../test/index.ts";
import { ClientAddresses, TrustedProxies } from "../requests/index.ts";
import { closeHttpServer, createHttpServer, type HttpTimeouts } from "./server.ts";

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
/** Short if the spec waits for the timeout, long if it must not occur. */
const SHORT_MS = 20;
const LONG_MS = 600_000;
const PATIENT: HttpTimeouts = {
  headersMs: LONG_MS,
  requestMs: LONG_MS,
  bodyIdleMs: LONG_MS,
  keepAliveMs: LONG_MS,
  answerMs: LONG_MS,
};

describe("HTTP server", () => {
  let server: Server;
  let connection: RawConnection;
  /** What connections have shown; and the addresses of those that were cut. */
  let clients: ClientAddresses;
  let cut: string[];
  let verified: string[];
  /** The server's end of the connection. */
  let accepted: Socket;

  beforeEach(() => {
    cut = [];
    verified = [];
    const trusted = new TrustedProxies([]);
    const connections = {
      slowDown: (address: string) => void cut.push(address),
      verified: (socket: Socket, user: string) => void verified.push(`${socket.remotePort} ${user}`),
    };
    clients = new ClientAddresses({ trusted, speaksProxyProtocol: false, connections });
  });

  afterEach(async () => {
    connection.destroy();
    await closeHttpServer(server, 0);
  });

  async function serve(application: RequestListener, timeouts: HttpTimeouts = PATIENT): Promise<void> {
    server = createHttpServer(application, { timeouts, clients }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const connected = once(server, "connection");
    connection = await RawConnection.open((server.address() as AddressInfo).port);
    [accepted] = await connected;
  }

  const hello: RequestListener = (request, response) => {
    request.resume();
    response.end("hello");
  };

  /** Sends the beginning of a request, and makes the timeouts short once the server has it. */
  async function sendUnfinished(beginning: string): Promise<void> {
    connection.send(beginning);
    await until("the server to have it", () => accepted.bytesRead >= beginning.length);
    server.headersTimeout = SHORT_MS;
    server.requestTimeout = SHORT_MS;
  }

  function expectRefusal(received: string, problem: string): void {
    const [head = "", body = ""] = received.split("\r\n\r\n");
    expect(head).to.match(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(head).to.include("\r\nAPI-Version: v1\r\n").and.include("\r\nConnection: close");
    expect(JSON.parse(body)).to.deep.equal({ error: problem, code: "invalid_request" });
  }

  describe("answers in the form of the interface", () => {
    it("to bytes that are not HTTP", async () => {
      await serve(hello);
      connection.send("hello?\r\n\r\n");
      expectRefusal(await connection.untilClosed(), "the request is not valid HTTP");
    });

    it("to two lengths of one body", async () => {
      await serve(hello);
      connection.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
      expectRefusal(await connection.untilClosed(), "the request is not valid HTTP");
    });

    it("to headers that are too large", async () => {
      await serve(hello);
      connection.send(`GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`);
      expectRefusal(await connection.untilClosed(), "the headers are too large");
    });

    it("to headers that do not end", async () => {
      await serve(hello);
      await sendUnfinished("GET / HTTP/1.1\r\nHost: x\r\n");
      expectRefusal(await connection.untilClosed(), "the request did not arrive in time");
    });

    it("to a body that does not end", async () => {
      await serve(() => {});
      await sendUnfinished("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhell");
      expectRefusal(await connection.untilClosed(), "the request did not arrive in time");
    });

    it("after good answers on the same connection", async () => {
      await serve(hello);
      connection.send(GET);
      const first = await connection.until(/hello$/);
      connection.send("nonsense\r\n\r\n");
      expectRefusal((await connection.untilClosed()).slice(first.length), "the request is not valid HTTP");
    });
  });

  describe("cuts a connection", () => {
    const refuse: RequestListener = (request, response) => {
      if (request.url === "/good") {
        clients.connectionOf(request).verified("anna");
      }
      response.writeHead(request.url === "/bad" ? 404 : 200).end(".");
    };

    /** Sends a request after each answer. */
    async function send(target: string, times: number): Promise<void> {
      for (let sent = 0; sent < times; sent++) {
        const answers = connection.received.split("HTTP/1.1").length;
        connection.send(GET.replace("/", target));
        await until("the answer", () => connection.received.split("HTTP/1.1").length > answers || connection.closed);
      }
    }

    it("after a hundred refusals without a good token, and reports its address", async () => {
      await serve(refuse);
      await send("/fine", 3);
      await send("/bad", 100);
      expect([connection.closed, cut]).to.deep.equal([false, []]);
      const told = connection.received.length;
      await send("/bad", 1);
      const last = (await connection.untilClosed()).slice(told);
      expect(last, "the client knows").to.match(/^HTTP\/1\.1 404 Not Found\r\nConnection: close\r\n/);
      expect(last).to.include("\r\n.\r\n");
      expect(cut).to.deep.equal(["127.0.0.1"]);
    });

    it("never for refusals if it has shown a good token", async () => {
      await serve(refuse);
      await send("/good", 1);
      await send("/bad", 150);
      expect([connection.closed, cut]).to.deep.equal([false, []]);
    });

    it("with too many requests ahead of their answers, and reports its address", async () => {
      await serve(() => undefined);
      connection.send(GET.repeat(257));
      await connection.untilClosed();
      expect(cut).to.deep.equal(["127.0.0.1"]);
    });
  });

  it("closes a connection without an answer if no request has begun: a client could mistake it for a later one", async () => {
    await serve(hello, { ...PATIENT, headersMs: SHORT_MS });
    expect(await connection.untilClosed()).to.equal("");
  });

  describe("adds nothing at a timeout", () => {
    const unfinished = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\nhell";

    it("to an answer that has begun", async () => {
      await serve((_request, response) => {
        response.write("half of it");
      });
      const requested = once(server, "request");
      await sendUnfinished(unfinished);
      await requested;
      expect(await connection.untilClosed()).to.match(/^HTTP\/1\.1 200 OK\r\n[\s\S]*half of it\r\n$/);
    });

    it("to an answer that was given before the body ended", async () => {
      await serve(hello);
      const requested = once(server, "request");
      await sendUnfinished(unfinished);
      await requested;
      expect(await connection.untilClosed()).to.match(/^HTTP\/1\.1 200 OK\r\n[\s\S]*hello$/);
    });
  });

  describe("closes a connection whose body is silent", () => {
    const unfinished = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\nhell";

    it("while the application reads it", async () => {
      await serve((request) => request.resume(), { ...PATIENT, bodyIdleMs: SHORT_MS });
      connection.send(unfinished);
      expect(await connection.untilClosed()).to.equal("");
    });

    it("after the application has refused it", async () => {
      await serve(hello, { ...PATIENT, bodyIdleMs: SHORT_MS });
      connection.send(unfinished);
      expect(await connection.untilClosed()).to.match(/hello$/);
    });

    it("but not while bytes arrive, nor while it is not read, nor when it is complete", async () => {
      let read = (): void => undefined;
      const whole = Promise.withResolvers<void>();
      await serve(
        (request, response) => {
          read = () => request.resume();
          request.on("end", () => {
            whole.resolve();
            // Longer than a body may be silent.
            void pause(40 * SHORT_MS).then(() => response.end("late"));
          });
        },
        { ...PATIENT, bodyIdleMs: SHORT_MS },
      );
      const accepted = once(server, "request");
      connection.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n");
      await accepted;
      await pause(40 * SHORT_MS);
      read();
      for (let bytes = 0; bytes < 20; bytes++) {
        await pause(3 * SHORT_MS);
        connection.send("x");
      }
      await whole.promise;
      expect(await connection.until(/late$/)).to.match(/^HTTP\/1\.1 200 OK\r\n/);
    });
  });

  describe("requests that a client sends before it has the answers to earlier ones", () => {
    const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    let begun: Map<string, ServerResponse>;

    beforeEach(() => {
      begun = new Map();
    });

    const note: RequestListener = (request, response) => void begun.set(String(request.url), response);
    const paths = (): readonly string[] => [...begun.keys()];

    it("begin in their order, each when the one before is answered", async () => {
      await serve(note);
      connection.send(request("/1") + request("/2") + request("/3"));
      await until("all to arrive", () => accepted.bytesRead === 3 * request("/1").length);
      expect(paths()).to.deep.equal(["/1"]);
      begun.get("/1")?.end("first");
      await until("the next to begin", () => begun.size > 1);
      expect(paths()).to.deep.equal(["/1", "/2"]);
      begun.get("/2")?.end("second");
      await until("the last to begin", () => begun.size > 2);
      begun.get("/3")?.end("third");
      expect(await connection.until(/third$/)).to.match(/first[\s\S]*second[\s\S]*third$/);
    });

    it("never begin if the connection ends before", async () => {
      await serve(note);
      connection.send(request("/1") + request("/2"));
      await until("the first to begin", () => begun.size === 1);
      connection.destroy();
      await once(begun.get("/1") as ServerResponse, "close");
      await pause(0);
      expect(paths()).to.deep.equal(["/1"]);
    });

    it("never begin behind an answer that closes the connection", async () => {
      await serve((request, response) => {
        note(request, response);
        response.setHeader("Connection", "close").end("the last");
      });
      connection.send(request("/1") + request("/2"));
      expect(await connection.untilClosed()).to.match(/the last$/);
      expect(paths()).to.deep.equal(["/1"]);
    });

    it("are bounded: above the bound the connection ends", async () => {
      let count = 0;
      await serve(() => void count++);
      connection.send(request("/").repeat(1_000));
      expect(await connection.untilClosed()).to.equal("");
      expect(count).to.equal(1);
    });

    it("take turns with other work: each begins in a turn of its own", async () => {
      let turn = 0;
      const begunIn = new Set<number>();
      await serve(({ url }, response) => {
        begunIn.add(turn);
        response.end(url);
      });
      let isOver = false;
      const count = (): void => {
        turn++;
        if (!isOver) {
          setImmediate(count);
        }
      };
      setImmediate(count);
      connection.send(request("/").repeat(4) + request("/last"));
      await connection.until(/last$/);
      isOver = true;
      expect(begunIn.size).to.equal(5);
    });

    it("get no answer of a later request that is not HTTP", async () => {
      await serve(note);
      connection.send(`${request("/1")}nonsense\r\n\r\n`);
      await until("the first to begin", () => begun.size === 1);
      await until("all to arrive", () => accepted.bytesRead > request("/1").length);
      connection.send("more of it\r\n\r\n");
      begun.get("/1")?.end("done");
      const [, first = "", refusal = ""] = /^(HTTP.*done)(HTTP.*)$/s.exec(await connection.untilClosed()) ?? [];
      expect(first).to.match(/^HTTP\/1\.1 200 OK\r\n/);
      expectRefusal(refusal, "the request is not valid HTTP");
    });
  });

  it("serves a request with an expectation that it does not know", async () => {
    await serve(hello);
    connection.send("GET / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n");
    expect(await connection.until(/hello$/)).to.match(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it("closes idle connections", async () => {
    await serve(hello, { ...PATIENT, keepAliveMs: SHORT_MS });
    connection.send(GET);
    expect(await connection.untilClosed()).to.match(/hello$/);
  });

  it("disconnects a client that does not read its answer", async () => {
    const taken = Promise.withResolvers<boolean>();
    await serve(
      (_request, response) => {
        // More than the buffers of both ends can take.
        response.end(Buffer.alloc(64 * 1024 * 1024));
        response.once("close", () => taken.resolve(response.writableFinished));
      },
      { ...PATIENT, answerMs: SHORT_MS },
    );
    connection.pause();
    connection.send(GET);
    expect(await taken.promise).to.equal(false);
  });

  it("sends 100 Continue when a body is read, and not for a refused one", async () => {
    await serve((request, response) => {
      if (request.url === "/") {
        response.writeContinue();
        request.once("data", (body) => response.end(`got ${body}`));
      } else {
        response.writeHead(413).end("no");
      }
    });
    connection.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    await connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    connection.send("hi");
    const first = await connection.until(/got hi$/);
    connection.send("POST /no HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    expect((await connection.untilClosed()).slice(first.length)).to.match(/^HTTP\/1\.1 413 /);
  });

  describe("closing", () => {
    it("lets a running request end, accepts no other, and leaves no connection", async () => {
      const running: ServerResponse[] = [];
      await serve((_request, response) => running.push(response));
      const accepted = once(server, "request");
      connection.send(GET);
      await accepted;
      const { port } = server.address() as AddressInfo;
      const closed = closeHttpServer(server, LONG_MS);
      let refusal: unknown;
      try {
        (await RawConnection.open(port)).destroy();
      } catch (error) {
        refusal = error;
      }
      expect(refusal).to.include({ code: "ECONNREFUSED" });
      running[0]?.end("the end");
      await closed;
      expect(await connection.untilClosed()).to.match(/^HTTP\/1\.1 200 OK\r\n[\s\S]*the end$/);
    });

    it("closes idle connections at once", async () => {
      await serve(hello);
      connection.send(GET);
      await connection.until(/hello$/);
      await closeHttpServer(server, LONG_MS);
      await connection.untilClosed();
    });

    it("closes connections that are still open after the grace period", async () => {
      await serve(() => {});
      const accepted = once(server, "request");
      connection.send(GET);
      await accepted;
      await closeHttpServer(server, SHORT_MS);
      expect(await connection.untilClosed()).to.equal("");
    });

    it("of a server that does not listen is done at once", async () => {
      await serve(hello);
      await closeHttpServer(server, LONG_MS);
      await closeHttpServer(server, LONG_MS);
      expect(server.listening).to.equal(false);
    });
  });
});
