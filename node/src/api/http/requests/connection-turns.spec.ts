import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect } from "chai";
import { until } from "../../../../test/harness/index.ts";
import { RawConnection } from "../../../../test/index.ts";
import { Turns } from "../../../collections/index.ts";
import { closeHttpServer, createHttpServer } from "../server/index.ts";

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const [CONNECTIONS, REQUESTS] = [20, 200];
/** Of a piece of 2 KiB, and the one that ends in the next. */
const REQUESTS_OF_PIECE = 2_048 / GET.length + 1;

describe("turns of HTTP connections (S44)", () => {
  let later: (() => void)[];
  let server: Server;
  let accepted: Socket[];
  let connections: RawConnection[];
  let requests = 0;

  beforeEach(() => {
    [later, accepted, connections] = [[], [], []];
    requests = 0;
  });

  afterEach(async () => {
    for (const connection of connections) {
      connection.destroy();
    }
    await closeHttpServer(server, 0);
  });

  /** Serves in a time that passes by a millisecond with each look at the clock. */
  async function serve(application: RequestListener): Promise<void> {
    let nowMs = 0;
    const turns = new Turns({ nowMs: () => nowMs++, later: (callback) => void later.push(callback) });
    server = createHttpServer(application, { turns }).listen(0, "127.0.0.1");
    server.on("request", () => requests++).on("connection", (socket: Socket) => accepted.push(socket));
    await once(server, "listening");
  }

  async function connect(): Promise<RawConnection> {
    const connection = await RawConnection.open((server.address() as AddressInfo).port);
    connections.push(connection);
    return connection;
  }

  /** A turn of the event loop. Returns how many requests began to be read in it. */
  function turn(): number {
    const before = requests;
    for (const callback of later.splice(0)) {
      callback();
    }
    return requests - before;
  }

  it("take a slice of each turn of the event loop, however many requests have arrived", async () => {
    await serve((_request, response) => response.end());
    for (let at = 0; at < CONNECTIONS; at++) {
      await connect();
    }
    const sent = GET.repeat(REQUESTS);
    for (const connection of connections) {
      connection.send(sent);
    }
    await until(
      "all to arrive",
      () => accepted.filter(({ bytesRead }) => bytesRead === sent.length).length === CONNECTIONS,
    );
    const counts = [requests];
    while (later.length > 0) {
      counts.push(turn());
    }
    expect(requests).to.equal(CONNECTIONS * REQUESTS);
    expect(Math.max(...counts)).to.be.at.most(2 * REQUESTS_OF_PIECE);
    const answers = () => connections.reduce((sum, { received }) => sum + received.split("HTTP/1.1 200").length - 1, 0);
    await until("all answers", () => answers() === CONNECTIONS * REQUESTS);
  });

  it("read no more of a connection that was cut", async () => {
    await serve(() => undefined);
    const connection = await connect();
    connection.send(GET.repeat(1_000));
    await until("all to arrive", () => accepted[0]?.bytesRead === 1_000 * GET.length);
    while (later.length > 0) {
      turn();
    }
    expect(requests).to.be.at.most(257 + REQUESTS_OF_PIECE);
  });

  it("deliver a body of any size whole, although nobody takes it for a while", async () => {
    let taken = 0;
    let take = (): void => undefined;
    await serve((request, response) => {
      take = () => void request.on("data", (chunk: Buffer) => (taken += chunk.length)).on("end", () => response.end());
    });
    const connection = await connect();
    const body = "x".repeat(1_000_000);
    connection.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    let arrived = -1;
    await until("nothing more to arrive", () => {
      const before = arrived;
      arrived = accepted[0]?.bytesRead ?? 0;
      while (later.length > 0) {
        turn();
      }
      return requests === 1 && arrived === before;
    });
    expect(arrived, "bytes that arrive while nobody takes them").to.be.below(500_000);
    take();
    await until("the answer", () => {
      while (later.length > 0) {
        turn();
      }
      return connection.received.startsWith("HTTP/1.1 200");
    });
    expect(taken).to.equal(body.length);
  });
});
