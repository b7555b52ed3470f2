/**
 * Writes to the gRPC port of a member frame by frame: a valid put with one change around its message, and every unary
 * method with messages of random bytes and of random fields.
 *
 * Every call ends with a status that is no internal error, a refused call has no effect, and the member goes on
 * serving. The effect of a call that ran out of time is unknown: the library reads a malformed deadline as a few
 * milliseconds. The seed is the same in each run, unless QUOIN_SEED says otherwise.
 */

import { randomUUID } from "node:crypto";
import { status } from "@grpc/grpc-js";
import { PutKeyRequest, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { drawnSeed, seedFor } from "../../../testing/index.ts";
import { type RandomStream, streamOf } from "../../verify/sim/index.ts";
import { ClusterUnderTest, GrpcCaller, grpcFrame, rawGrpcCall } from "../harness/index.ts";

type Headers = Readonly<Record<string, string | string[]>>;

/** The body instead of the frame of a put, and headers in addition to or instead of the usual ones. */
interface Changed {
  readonly body: Buffer;
  readonly headers?: Headers;
}

const { putKey, getKey } = serviceDefinitions.KeyValueService;
const UNARY = [
  serviceDefinitions.KeyValueService,
  serviceDefinitions.LockService,
  serviceDefinitions.MemoryService,
  serviceDefinitions.ClusterService,
  serviceDefinitions.EventLogService,
  serviceDefinitions.AccountService,
].flatMap((service) => Object.values(service));
const PREFIX_BYTES = 5;
/** Number of random messages for each method. */
const ROUNDS = 4;
const FIELDS_MAX = 8;
const FIELD_NUMBERS = 16;
const WIRE_TYPES = 8;
const RANDOM_BYTES_MAX = 64;
/** A field that no request has: number 2,000, a varint. */
const UNKNOWN_FIELD = [0x80, 0x7d, 0x01];
const LARGE_HEADER = "x".repeat(100_000);
/** Codes that say that the outcome is unknown, which only a bug can cause. */
const BUGS = [status.UNKNOWN, status.DATA_LOSS].map(String);
/** The status of the transport for malformed frames; for messages it would be a bug. */
const INTERNAL = String(status.INTERNAL);
const OK = String(status.OK);
const DEADLINE_EXCEEDED = String(status.DEADLINE_EXCEEDED);

/** By name: changes that must be refused, with any status. */
const REFUSED: Readonly<Record<string, (frame: Buffer, random: RandomStream) => Changed>> = {
  "cut in the prefix": (frame, random) => ({ body: frame.subarray(0, random.whole(1, PREFIX_BYTES - 1)) }),
  "cut in the message": (frame, random) => ({ body: frame.subarray(0, random.whole(PREFIX_BYTES, frame.length - 1)) }),
  "no message": () => ({ body: Buffer.alloc(0) }),
  "two messages": (frame) => ({ body: Buffer.concat([frame, frame]) }),
  "a length too many": (frame) => ({ body: withLength(frame, frame.length - PREFIX_BYTES + 1) }),
  "a length too few": (frame) => ({ body: withLength(frame, frame.length - PREFIX_BYTES - 1) }),
  "the greatest length": (frame) => ({ body: withLength(frame, 0xffffffff) }),
  "a coding that is none": (frame) => ({ body: withFlag(frame, 1), headers: { "grpc-encoding": "none-such" } }),
  "compressed, and is not": (frame) => ({ body: withFlag(frame, 1), headers: { "grpc-encoding": "gzip" } }),
  "another type": (frame) => ({ body: frame, headers: { "content-type": "application/json" } }),
  "no token": (frame) => ({ body: frame, headers: { authorization: "" } }),
  "another version": (frame) => ({ body: frame, headers: { "api-version": "v2" } }),
  "a request id that is none": (frame) => ({ body: frame, headers: { "request-id": "%FF" } }),
  "a deadline that has passed": (frame) => ({ body: frame, headers: { "grpc-timeout": "0n" } }),
  "too large a header": (frame) => ({ body: frame, headers: { "x-large": LARGE_HEADER } }),
};

/** By name: changes after which the call may be done or refused. */
const ANY: Readonly<Record<string, (frame: Buffer, random: RandomStream) => Changed>> = {
  "bytes behind the message": (frame, random) => ({ body: Buffer.concat([frame, random.bytes(random.whole(1, 4))]) }),
  "compressed without a coding": (frame) => ({ body: withFlag(frame, 1) }),
  "another method of HTTP": (frame) => ({ body: frame, headers: { ":method": "PUT" } }),
  "a flag that is none": (frame, random) => ({ body: withFlag(frame, random.whole(2, 255)) }),
  "a deadline that is none": (frame, random) => ({
    body: frame,
    headers: { "grpc-timeout": random.pick(["-1S", "abc", "1", "1X", "123456789S", "0x1S", "1e3m"]) ?? "" },
  }),
  "bytes that are none in a header": (frame) => ({ body: frame, headers: { "x-bin": "!!!" } }),
  "many headers": (frame) => ({ body: frame, headers: { x: Array.from({ length: 500 }, (_, at) => String(at)) } }),
  "a random bit of the message": (frame, random) => {
    const body = Buffer.from(frame);
    const at = random.whole(PREFIX_BYTES, frame.length - 1);
    body[at] = (body[at] ?? 0) ^ (1 << random.below(8));
    return { body };
  },
};

describe("the gRPC port of a member, with calls changed on the wire", function () {
  this.timeout(180_000);
  const seed = drawnSeed("calls on the wire");
  let cluster: ClusterUnderTest;
  let caller: GrpcCaller;
  let token: string;
  let port: number;

  before(async () => {
    cluster = await ClusterUnderTest.start(1);
    port = cluster.member("q-0").ports.grpc;
    token = await cluster.tokens.token();
    caller = new GrpcCaller(port, new Map([...Object.entries(headers()).filter(([name]) => name !== "request-id")]));
  });

  after(async () => {
    caller?.close();
    await cluster?.dispose();
  });

  function headers(): Record<string, string> {
    return { authorization: `Bearer ${token}`, "api-version": "v1", "request-id": randomUUID() };
  }

  /** The status with which a call ends; "reset" if only its stream was reset. */
  async function statusOf(path: string, { body, headers: more = {} }: Changed): Promise<string> {
    try {
      return (await rawGrpcCall(port, path, { ...headers(), ...more }, body)).grpcStatus;
    } catch {
      return "reset";
    }
  }

  async function isThere(key: string): Promise<boolean> {
    const { code } = await caller.call(getKey, { namespace: "default", key, consistency: 0 });
    expect(code).to.be.oneOf(["OK", "NOT_FOUND"]);
    return code === "OK";
  }

  function put(key: string): Buffer {
    const request = PutKeyRequest.fromPartial({ namespace: "default", key, value: Buffer.from("value") });
    return grpcFrame(PutKeyRequest.encode(request).finish());
  }

  it("executes a valid call, and ignores unknown additions", async () => {
    const key = randomUUID();
    expect(await statusOf(putKey.path, { body: put(key) })).to.equal(OK);
    expect(await isThere(key)).to.equal(true);
    const message = Buffer.concat([put(randomUUID()).subarray(PREFIX_BYTES), Buffer.from(UNKNOWN_FIELD)]);
    expect(await statusOf(putKey.path, { body: grpcFrame(message) })).to.equal(OK);
  });

  for (const [name, change] of Object.entries(REFUSED)) {
    it(`refuses without an effect: ${name}`, async () => {
      const key = randomUUID();
      const answered = await statusOf(putKey.path, change(put(key), streamOf(seedFor(name, seed))));
      expect([OK, ...BUGS]).not.to.include(answered);
      expect(await isThere(key)).to.equal(false);
    });
  }

  for (const [name, change] of Object.entries(ANY)) {
    it(`executes or refuses: ${name}`, async () => {
      const random = streamOf(seedFor(name, seed));
      for (let round = 0; round < ROUNDS; round++) {
        const key = randomUUID();
        const answered = await statusOf(putKey.path, change(put(key), random));
        expect(BUGS).not.to.include(answered);
        if (answered !== OK && answered !== DEADLINE_EXCEEDED) {
          expect(await isThere(key)).to.equal(false);
        }
      }
    });
  }

  it("answers messages of random bytes and fields properly, for every method", async () => {
    const random = streamOf(seedFor("messages", seed));
    for (const { path } of UNARY) {
      for (let round = 0; round < ROUNDS; round++) {
        const messages = [Buffer.from(random.bytes(random.below(RANDOM_BYTES_MAX))), randomFields(random)];
        for (const message of messages) {
          const answered = await statusOf(path, { body: grpcFrame(message), headers: { "grpc-timeout": "2S" } });
          expect([INTERNAL, "reset", ...BUGS], `${path} with ${message.toString("hex")}`).not.to.include(answered);
        }
      }
    }
  });

  it("serves as before", async () => {
    const key = randomUUID();
    expect(await statusOf(putKey.path, { body: put(key) })).to.equal(OK);
    expect(await isThere(key)).to.equal(true);
    expect(cluster.member("q-0").isAlive).to.equal(true);
  });
});

function withFlag(frame: Buffer, flag: number): Buffer {
  const changed = Buffer.from(frame);
  changed.writeUInt8(flag, 0);
  return changed;
}

function withLength(frame: Buffer, length: number): Buffer {
  const changed = Buffer.from(frame);
  changed.writeUInt32BE(length, 1);
  return changed;
}

/** The namespace that there is, then fields of random numbers, types and bytes. */
function randomFields(random: RandomStream): Buffer {
  const parts = [Buffer.from([0x0a, 7]), Buffer.from("default")];
  for (let left = random.below(FIELDS_MAX); left > 0; left--) {
    const tag = (random.whole(2, FIELD_NUMBERS - 1) << 3) | random.below(WIRE_TYPES);
    parts.push(Buffer.from([tag, random.below(FIELD_NUMBERS)]), Buffer.from(random.bytes(random.below(FIELD_NUMBERS))));
  }
  return Buffer.concat(parts);
}
