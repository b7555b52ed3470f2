/** Other HTTP/2 clients against the server: that of Node, which is nghttp2, and grpc-js. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from "node:http2";
import { Client, credentials, Metadata, status } from "@grpc/grpc-js";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { TestAuthority, until, whyNoCertificates } from "../peers/index.ts";
import { EchoServer } from "./echo-server.ts";

const MEBIBYTE = 1024 * 1024;

interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function post(session: ClientHttp2Session, path: string, body: Buffer, more = {}): Promise<Answer> {
  const stream = session.request({ ":method": "POST", ":path": path, ...more });
  let headers: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  const parts: Buffer[] = [];
  stream.on("response", (received) => {
    headers = received;
  });
  stream.on("trailers", (received) => {
    trailers = received;
  });
  stream.on("data", (part: Buffer) => parts.push(part));
  stream.end(body);
  await once(stream, "close");
  return { headers, trailers, body: Buffer.concat(parts) };
}

function call(client: Client, message: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      "/quoin.test.Echo/Unary",
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
      message,
      new Metadata(),
      (error, answer) => (error === null ? resolve(answer as Buffer) : reject(error)),
    );
  });
}

describe("the client of Node", () => {
  let server: EchoServer;
  let session: ClientHttp2Session;
  beforeEach(async () => {
    server = await EchoServer.start();
    session = connect(`http://127.0.0.1:${server.port}`);
  });
  afterEach(async () => {
    session.destroy();
    await server.close();
  });

  it("gets fields, bytes and trailers", async () => {
    const answer = await post(session, "/a", Buffer.from("hello"), { "content-type": "application/grpc" });
    expect(answer.headers[":status"]).to.equal(200);
    expect(answer.body.toString()).to.equal("hello");
    expect(answer.trailers["grpc-status"]).to.equal("0");
    const other = await post(session, "/b", Buffer.from("hello"));
    expect([other.body.toString(), Object.keys(other.trailers)]).to.deep.equal(["hello", []]);
  });

  it("sends and gets megabytes in both directions, on several streams at a time", async () => {
    const bodies = [3 * MEBIBYTE, 2 * MEBIBYTE, 1].map((bytes, at) => Buffer.alloc(bytes, `${at}abc`));
    const answers = await Promise.all(bodies.map((body) => post(session, "/large", body)));
    for (const [at, body] of bodies.entries()) {
      expect(answers[at]?.body.equals(body)).to.equal(true);
    }
  });

  it("uses fields of any length that is allowed", async () => {
    const answer = await post(session, `/${"p".repeat(3_000)}`, Buffer.from("a"), { "x-long": "v".repeat(10_000) });
    expect(answer.body.toString()).to.equal("a");
  });

  it("cancels a stream, and goes on", async () => {
    const holding = await EchoServer.start({ holds: true });
    const own = connect(`http://127.0.0.1:${holding.port}`);
    const stream = own.request({ ":method": "POST", ":path": "/" }, { endStream: false });
    stream.on("error", () => undefined);
    stream.write("abc");
    await until("the stream", () => holding.http2.counters.streamsOpened === 1);
    stream.close(constants.NGHTTP2_CANCEL);
    await until("the reset", () => holding.resets.length === 1);
    expect(holding.resets).to.deep.equal([constants.NGHTTP2_CANCEL]);
    const answer = post(own, "/a", Buffer.from("b"));
    await until("the next stream", () => holding.heldCount === 2);
    holding.release();
    expect((await answer).body.toString()).to.equal("b");
    own.destroy();
    await holding.close();
  });

  it("learns from GOAWAY that the server drains", async () => {
    await post(session, "/a", Buffer.from("b"));
    const goAway = once(session, "goaway");
    const drained = server.http2.drain(60_000);
    const [code] = await goAway;
    await drained;
    expect(code).to.equal(constants.NGHTTP2_NO_ERROR);
    expect(server.closures.map(({ reason }) => reason)).to.deep.equal(["drained"]);
  });

  it("answers PINGs and changes its settings", async () => {
    await once(session, "connect");
    await new Promise<void>((resolve, reject) => {
      session.ping((error) => (error === null ? resolve() : reject(error)));
    });
    await new Promise<void>((resolve) => {
      session.settings({ initialWindowSize: 100, headerTableSize: 0, maxFrameSize: 20_000 }, () => resolve());
    });
    const body = Buffer.alloc(50_000, "abc");
    expect((await post(session, "/a", body)).body.equals(body)).to.equal(true);
  });

  it("goes away", async () => {
    await post(session, "/a", Buffer.from("b"));
    session.close();
    await until("the end", () => server.closures.length === 1);
    expect(server.closures[0]?.reason).to.be.oneOf(["peer-went-away", "peer-closed"]);
  });
});

describe("the client of grpc-js", () => {
  let server: EchoServer;
  let client: Client;
  beforeEach(async () => {
    server = await EchoServer.start();
    client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
  });
  afterEach(async () => {
    client.close();
    await server.close();
  });

  it("gets its messages back, small and large, one by one and many at a time", async () => {
    const messages = [0, 1, 100, 70_000, 3 * MEBIBYTE].map((bytes) => Buffer.alloc(bytes, "abc"));
    for (const message of messages) {
      expect((await call(client, message)).equals(message)).to.equal(true);
    }
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, at) => call(client, Buffer.from(`message ${at}`))),
    );
    expect(answers.map(String)).to.deep.equal(Array.from({ length: 500 }, (_, at) => `message ${at}`));
  });

  it("gets UNAVAILABLE from a server that has drained", async () => {
    await call(client, Buffer.from("a"));
    await server.http2.drain(60_000);
    expect(await call(client, Buffer.from("b")).catch(({ code }) => code)).to.equal(status.UNAVAILABLE);
  });
});

describe("clients over TLS", () => {
  let server: EchoServer;
  let authority: Buffer;

  before(async function () {
    if (whyNoCertificates() !== null) {
      this.skip();
    }
    const files = new TestAuthority(temporaryDirectory(), "test").issue("server", ["IP:127.0.0.1", "DNS:localhost"]);
    authority = readFileSync(files.authorities);
    server = await EchoServer.start({ tls: { cert: readFileSync(files.certificate), key: readFileSync(files.key) } });
  });
  after(() => server?.close());

  it("get megabytes: Node", async () => {
    const session = connect(`https://localhost:${server.port}`, { ca: authority });
    const body = Buffer.alloc(2 * MEBIBYTE, "abc");
    expect((await post(session, "/a", body)).body.equals(body)).to.equal(true);
    session.destroy();
  });

  it("get megabytes: grpc-js", async () => {
    const client = new Client(`localhost:${server.port}`, credentials.createSsl(authority));
    const message = Buffer.alloc(2 * MEBIBYTE, "abc");
    expect((await call(client, message)).equals(message)).to.equal(true);
    client.close();
  });
});
