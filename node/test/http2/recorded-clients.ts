/** The bytes that other HTTP/2 clients send to an echo server: that of Node, and grpc-js on top of it. */
import { once } from "node:events";
import { connect } from "node:http2";
import { createServer } from "node:net";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { EchoServer } from "./echo-server.ts";

type Talk = (port: number) => Promise<void>;

/** The bytes of each of the clients, from the preface on. */
export async function recordClients(): Promise<readonly Buffer[]> {
  return [await record(talkByNode), await record(talkByGrpc)];
}

async function record(talk: Talk): Promise<Buffer> {
  const server = await EchoServer.start();
  const parts: Buffer[] = [];
  const listener = createServer((socket) => {
    socket.on("data", (bytes: Buffer) => parts.push(Buffer.from(bytes)));
    server.http2.accept(socket);
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  await talk(typeof address === "object" && address !== null ? address.port : 0);
  listener.close();
  await server.close();
  return Buffer.concat(parts);
}

async function talkByNode(port: number): Promise<void> {
  const session = connect(`http://127.0.0.1:${port}`);
  for (const bytes of [0, 10, 30_000]) {
    const stream = session.request({ ":method": "POST", ":path": `/echo/${bytes}`, "x-name": "value" });
    stream.end(Buffer.alloc(bytes, "abc"));
    stream.resume();
    await once(stream, "close");
  }
  const cancelled = session.request({ ":method": "POST", ":path": "/cancelled" }, { endStream: false });
  cancelled.write("abc");
  cancelled.on("error", () => undefined);
  cancelled.close(8);
  await once(cancelled, "close");
  session.close();
  await once(session, "close");
}

async function talkByGrpc(port: number): Promise<void> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("authorization", "Bearer abc.def");
  for (const bytes of [0, 10, 10, 10, 40_000]) {
    await new Promise<void>((resolve, reject) => {
      client.makeUnaryRequest(
        "/quoin.test.Echo/Unary",
        (message: Buffer) => message,
        (message: Buffer) => message,
        Buffer.alloc(bytes, "abc"),
        metadata,
        { deadline: Date.now() + 60_000 },
        (error) => (error === null ? resolve() : reject(error)),
      );
    });
  }
  client.close();
}
