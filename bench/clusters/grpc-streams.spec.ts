import { Server, ServerCredentials, type ServerWritableStream, status } from "@grpc/grpc-js";
import { expect } from "chai";
import { GrpcStreams } from "./grpc-streams.ts";

const PATH = "/bench.Echo/Stream";
const asIs = (bytes: Buffer): Buffer => bytes;

describe("streams of gRPC", () => {
  let server: Server;
  let streams: GrpcStreams;
  /** The server's handling of a call. */
  let handle: (call: ServerWritableStream<Buffer, Buffer>) => void;

  beforeEach(async () => {
    server = new Server();
    const codec = {
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    };
    const method = { path: PATH, requestStream: false, responseStream: true, ...codec } as const;
    server.addService({ stream: method }, { stream: (call: ServerWritableStream<Buffer, Buffer>) => handle(call) });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    streams = new GrpcStreams(`127.0.0.1:${port}`);
  });

  afterEach(() => {
    streams.close();
    server.forceShutdown();
  });

  /** The messages of a stream, once it has ended, and how it ended. */
  function read(onMessage = (_message: Buffer): void => undefined): Promise<{ messages: string[]; end: string }> {
    const messages: string[] = [];
    return new Promise((resolve) => {
      streams.open(PATH, { "x-name": "value" }, Buffer.from("please"), false, {
        onMessage: (message) => {
          messages.push(message.toString());
          onMessage(message);
        },
        onEnd: (error) => resolve({ messages, end: error.message }),
      });
    });
  }

  it("pass on each message, as the server has sent them, and the end", async () => {
    handle = (call) => {
      call.write(Buffer.concat([call.request, Buffer.from(` ${call.metadata.get("x-name").join()}`)]));
      call.write(Buffer.alloc(0));
      call.write(Buffer.alloc(100_000, "x"));
      call.end();
    };
    const { messages, end } = await read();
    expect(messages).to.deep.equal(["please value", "", "x".repeat(100_000)]);
    expect(end).to.contain("status 0");
  });

  it("report why the server refuses, before any message and after some", async () => {
    const error = Object.assign(new Error(), { code: status.NOT_FOUND, details: "no such key" });
    handle = (call) => call.emit("error", error);
    expect(await read()).to.deep.equal({ messages: [], end: `${PATH} ended: status 5, no such key` });
    handle = (call) => {
      call.write(Buffer.from("one"));
      call.emit("error", error);
    };
    expect(await read()).to.deep.equal({ messages: ["one"], end: `${PATH} ended: status 5, no such key` });
  });

  it("end when a message is not understood", async () => {
    handle = (call) => call.write(Buffer.from("one"));
    const { end } = await read(() => {
      throw new Error("its meaning is unknown");
    });
    expect(end).to.contain("its meaning is unknown");
  });

  it("end when the server is gone", async () => {
    handle = (call) => call.write(Buffer.from("one"), () => server.forceShutdown());
    expect((await read()).messages).to.deep.equal(["one"]);
  });

  it("end silently when they are closed", async () => {
    let hasEnded = false;
    const cancelled = new Promise<void>((resolve) => {
      handle = (call) => {
        call.write(Buffer.from("one"));
        call.once("cancelled", () => resolve());
      };
    });
    void read(() => streams.close()).then(() => {
      hasEnded = true;
    });
    await cancelled;
    expect(hasEnded).to.equal(false);
  });
});
