import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { Request, Response } from "express";
import { RawConnection } from "../../../../test/index.ts";
import { CoordinationError } from "../../../state/index.ts";
import { HttpError } from "../answers/index.ts";
import { BodyBudget, readBytes } from "./body.ts";

const BYTES_MAX = 8_192;
const LONG_MS = 600_000;

describe("reading bodies", () => {
  let budget: BodyBudget;
  let client: string;
  let idleMs: number;
  let server: Server;
  /** The result of each body. */
  let read: (outcome: Buffer | Error, response: Response) => void;
  const connections: RawConnection[] = [];

  beforeEach(async () => {
    budget = new BodyBudget(23_000);
    client = "one";
    idleMs = LONG_MS;
    server = createServer((incoming, outgoing) => {
      const [request, response] = [incoming as Request, outgoing as Response];
      readBytes(request, response, { client, bytesMax: BYTES_MAX, budget, idleMs }).then(
        (bytes) => read(bytes, response),
        (error: Error) => read(error, response),
      );
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
  });

  afterEach(() => {
    for (const connection of connections.splice(0)) {
      connection.destroy();
    }
    server.close();
  });

  async function send(text: string, headers = "Transfer-Encoding: chunked"): Promise<RawConnection> {
    const connection = await RawConnection.open((server.address() as AddressInfo).port);
    connections.push(connection);
    connection.send(`POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${text}`);
    return connection;
  }

  function nextRead(): Promise<{ readonly outcome: Buffer | Error; readonly response: Response }> {
    return new Promise((resolve) => {
      read = (outcome, response) => resolve({ outcome, response });
    });
  }

  function chunk(length: number): string {
    return `${length.toString(16)}\r\n${"x".repeat(length)}\r\n`;
  }

  it("keeps them until they are answered, within the share of the budget that is left for others", async () => {
    const first = nextRead();
    await send(`${chunk(8_000)}0\r\n\r\n`);
    const { outcome, response } = await first;
    expect((outcome as Buffer).length).to.equal(8_000);
    expect(budget.bytes).to.be.within(8_000, BYTES_MAX);
    const second = nextRead();
    await send(chunk(8_000));
    expect((await second).outcome)
      .to.be.instanceOf(CoordinationError)
      .with.property("reason", "OVERLOADED");
    expect(budget.bytes).to.be.within(8_000, BYTES_MAX);
    client = "another";
    const third = nextRead();
    await send(`${chunk(8_000)}0\r\n\r\n`);
    const other = await third;
    expect(other.outcome).to.have.length(8_000);
    const otherClosed = once(other.response, "close");
    other.response.end();
    await otherClosed;
    const closed = once(response, "close");
    response.end();
    await closed;
    expect(budget.bytes).to.equal(0);
  });

  it("uses no memory for announced bytes, and at most twice the bytes that have arrived", async () => {
    const arrived = once(server, "request");
    const done = nextRead();
    const connection = await send("", `Content-Length: ${BYTES_MAX}`);
    await arrived;
    expect(budget.bytes).to.equal(0);
    connection.send("x".repeat(BYTES_MAX));
    expect((await done).outcome).to.have.length(BYTES_MAX);
    expect(budget.bytes).to.equal(BYTES_MAX);
  });

  it("gives back the budget of bodies that are refused or break off", async () => {
    const large = nextRead();
    await send(chunk(BYTES_MAX + 1));
    expect((await large).outcome)
      .to.be.instanceOf(HttpError)
      .with.property("code", "payload_too_large");
    const broken = nextRead();
    const arrived = once(server, "request");
    const connection = await send(chunk(5_000));
    await arrived;
    connection.destroy();
    expect((await broken).outcome)
      .to.be.instanceOf(HttpError)
      .with.property("code", "invalid_request");
    expect(budget.bytes).to.equal(0);
  });

  it("refuses bodies that stall", async () => {
    idleMs = 20;
    const stalled = nextRead();
    await send(chunk(10));
    const { outcome } = await stalled;
    expect((outcome as Error).message).to.equal("the body did not arrive in time");
    expect(budget.bytes).to.equal(0);
  });

  it("sends 100 Continue for bodies that wait for it", async () => {
    server.on("checkContinue", (request, response) => server.emit("request", request, response));
    const done = nextRead();
    const connection = await send("", "Content-Length: 2\r\nExpect: 100-continue");
    await connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    connection.send("hi");
    expect(String((await done).outcome)).to.equal("hi");
  });
});
