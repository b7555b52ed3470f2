import { randomUUID } from "node:crypto";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { gzipSync } from "node:zlib";
import { status } from "@grpc/grpc-js";
import { PutKeyRequest, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { GrpcPorts, grpcFrame, rawGrpcCall, until } from "../../../test/harness/index.ts";
import { DEFAULT_CLIENT_LIMITS } from "../connections/index.ts";

const { path } = serviceDefinitions.KeyValueService.putKey;
const BYTES_MAX = 600_000;
const ALLOWED_BYTES = 500_000;
const EXCESSIVE_BYTES = 700_000;
const CLIENTS = 20;

/** A request with a value of so many bytes. */
function put(bytes: number): Uint8Array {
  return PutKeyRequest.encode(
    PutKeyRequest.fromPartial({ namespace: "default", key: "k", value: Buffer.alloc(bytes, "v") }),
  ).finish();
}

function compressed(message: Uint8Array): Buffer {
  const frame = grpcFrame(gzipSync(message));
  frame.writeUInt8(1, 0);
  return frame;
}

describe("compressed requests over gRPC", () => {
  let ports: GrpcPorts;
  let token: string;

  beforeEach(async () => {
    const requestBytes = { ...DEFAULT_CLIENT_LIMITS.requestBytes, user: BYTES_MAX };
    ports = await GrpcPorts.founded({ clientLimits: { ...DEFAULT_CLIENT_LIMITS, requestBytes } });
    token = await ports.token();
  });

  afterEach(() => ports.close());

  function headers() {
    const identity = { authorization: `Bearer ${token}`, "api-version": "v1", "request-id": randomUUID() };
    return { ...identity, "grpc-encoding": "gzip" };
  }

  async function answerOf(body: Buffer): Promise<string> {
    const { grpcStatus, headers: answered } = await rawGrpcCall(ports.publicPort, path, headers(), body);
    return `${status[Number(grpcStatus)]} ${answered["error-reason"] ?? ""}`.trim();
  }

  /** Sends this request once on each of several connections, and passes each stream on while it is open. */
  async function leave(body: Buffer, by: (stream: ClientHttp2Stream, session: ClientHttp2Session) => void) {
    for (let at = 0; at < CLIENTS; at++) {
      const session = connect(`http://127.0.0.1:${ports.publicPort}`).on("error", () => undefined);
      const fixed = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
      const stream = session.request({ ...fixed, ...headers() }).on("error", () => undefined);
      stream.resume();
      await new Promise((resolve) => stream.end(body, () => setImmediate(resolve)));
      by(stream, session);
      await new Promise((resolve) => (stream.closed ? resolve(null) : stream.once("close", resolve)));
      session.destroy();
    }
  }

  it("count with the bytes that they have without gzip", async () => {
    expect(await answerOf(compressed(put(EXCESSIVE_BYTES)))).to.equal("UNAVAILABLE OVERLOADED");
    expect(ports.replica.proposed).to.have.lengthOf(0);
    expect(await answerOf(compressed(put(ALLOWED_BYTES)))).to.equal("OK");
  });

  it("give their bytes back exactly once, however they end", async () => {
    const request = compressed(put(ALLOWED_BYTES));
    const broken = Buffer.from(request.subarray(0, -8));
    broken.writeUInt32BE(broken.length - 5, 1);
    for (let round = 0; round < 3; round++) {
      expect(await answerOf(request)).to.equal("OK");
      expect(await answerOf(compressed(put(EXCESSIVE_BYTES)))).to.equal("UNAVAILABLE OVERLOADED");
      expect(await answerOf(broken)).to.equal("INTERNAL");
    }
    await leave(request, (stream) => stream.close(constants.NGHTTP2_CANCEL));
    await leave(request, (_stream, session) => session.destroy());
    await until("all calls to end", () => ports.observer.methods.every(({ inFlight }) => inFlight === 0));
    // Bytes that were not given back would refuse the first; bytes that were given back twice would allow the second.
    expect(await answerOf(grpcFrame(put(ALLOWED_BYTES)))).to.equal("OK");
    expect(await answerOf(grpcFrame(put(EXCESSIVE_BYTES)))).to.equal("UNAVAILABLE OVERLOADED");
  });
});
