/**
 * A server that sends back the messages of unary calls: by this repository's HTTP/2, by Node's, or by grpc-js. It is a
 * process of its own, so that its processor time is that of the server alone.
 *
 * It sends the port to its parent, and its processor time so far, in microseconds, for each message of the parent.
 */
import { createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import { EchoServer } from "../test/http2/index.ts";

export const UNARY_SERVERS = ["quoin", "node:http2", "grpc-js"] as const;
export type UnaryServer = (typeof UNARY_SERVERS)[number];

const PATH = "/quoin.test.Echo/Unary";

async function start(kind: UnaryServer): Promise<number> {
  switch (kind) {
    case "quoin":
      return (await EchoServer.start()).port;
    case "node:http2":
      return await startNode();
    case "grpc-js":
      return await startGrpc();
  }
}

function startNode(): Promise<number> {
  const server = createServer();
  server.on("stream", (stream: ServerHttp2Stream) => {
    const parts: Buffer[] = [];
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("end", () => {
      stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(parts.length === 1 ? parts[0] : Buffer.concat(parts));
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

function startGrpc(): Promise<number> {
  const same = (bytes: Buffer): Buffer => bytes;
  const service: ServiceDefinition = {
    unary: {
      path: PATH,
      requestStream: false,
      responseStream: false,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    },
  };
  const server = new Server({ "grpc.enable_channelz": 0 });
  server.addService(service, {
    unary: (call: { readonly request: Buffer }, done: (error: null, answer: Buffer) => void) =>
      done(null, call.request),
  });
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
  });
}

if (process.send !== undefined) {
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ micros: user + system });
  });
  process.send({ port: await start(process.argv[2] as UnaryServer) });
}
