import { gzipSync } from "node:zlib";
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import fc from "fast-check";
import { grpcFrame, until } from "../../../test/harness/index.ts";
import { type CallStatus, REQUEST_BYTES_MAX } from "../calls/index.ts";
import { RequestReader } from "./request-reader.ts";

/** Records its calls. */
class Recorder {
  readonly messages: string[] = [];
  readonly moreMemory: number[] = [];
  end: boolean | null = null;
  problem: CallStatus | null = null;

  onMoreMemory(bytes: number): void {
    this.moreMemory.push(bytes);
  }

  onMessage(message: Buffer): void {
    this.messages.push(message.toString("latin1"));
  }

  async untilEnd(): Promise<void> {
    await until("the end", () => this.end !== null);
  }

  onRequestEnd(isWhole: boolean): void {
    this.end = isWhole;
  }

  onBadRequest(problem: CallStatus): void {
    this.problem = problem;
  }
}

function frameOf(text: string): Buffer {
  return grpcFrame(Buffer.from(text));
}

function compressedFrame(message: Uint8Array): Buffer {
  const frame = grpcFrame(gzipSync(message));
  frame.writeUInt8(1, 0);
  return frame;
}

/** Returns the result of a request with these bytes, cut at these positions. */
function read(bytes: Uint8Array, encoding?: string, cuts: readonly number[] = []): Recorder {
  const recorder = new Recorder();
  const reader = new RequestReader(recorder, encoding, Number.POSITIVE_INFINITY);
  reader.start();
  let from = 0;
  for (const to of [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]) {
    // The caller reuses the memory after the call.
    const part = Buffer.from(bytes.subarray(from, to));
    reader.read(part, 0, part.length);
    part.fill(0);
    from = to;
  }
  reader.end();
  return recorder;
}

describe("the reader of requests", () => {
  it("finds the same messages however their bytes are cut", () => {
    const lengths = fc.array(fc.oneof(fc.nat(20), fc.nat(200_000)), { maxLength: 4 });
    fc.assert(
      fc.property(lengths, fc.array(fc.nat(), { maxLength: 8 }), (sizes, cuts) => {
        const messages = sizes.map((size, at) => Buffer.alloc(size, String.fromCharCode(97 + at)));
        const { messages: found, end } = read(Buffer.concat(messages.map(grpcFrame)), undefined, cuts);
        expect(found.length).to.equal(messages.length);
        expect(found.every((text, at) => text === messages[at]?.toString("latin1"))).to.equal(true);
        expect(end).to.equal(true);
      }),
      { numRuns: 50 },
    );
  });

  it("reports a request that ends within a message as incomplete", () => {
    const frame = grpcFrame(Buffer.from("message"));
    for (let length = 1; length < frame.length; length++) {
      expect(read(frame.subarray(0, length)), String(length)).to.deep.include({ messages: [], end: false });
    }
    const { messages, end } = read(Buffer.concat([frame, frame.subarray(0, 6)]));
    expect([messages, end]).to.deep.equal([["message"], false]);
  });

  it("refuses a message above the limit as soon as its length arrives, and takes one at the limit", () => {
    const prefix = grpcFrame(Buffer.alloc(0));
    prefix.writeUInt32BE(REQUEST_BYTES_MAX + 1, 1);
    const { problem, end } = read(prefix);
    expect([problem?.code, end]).to.deep.equal([status.RESOURCE_EXHAUSTED, null]);
    expect(problem?.message).to.include(`(${REQUEST_BYTES_MAX + 1} vs ${REQUEST_BYTES_MAX})`);
    expect(read(grpcFrame(Buffer.alloc(REQUEST_BYTES_MAX))).messages[0]).to.have.length(REQUEST_BYTES_MAX);
  });

  it("decompresses messages one after the other, with plain ones between them", async () => {
    const [first, second, third] = ["first", "second", "third"].map((text) => Buffer.from(text)) as [
      ...[Buffer, Buffer, Buffer],
    ];
    const recorder = read(Buffer.concat([compressedFrame(first), grpcFrame(second), compressedFrame(third)]), "gzip");
    await until("the end", () => recorder.end !== null);
    expect(recorder).to.deep.include({ messages: ["first", "second", "third"], end: true, problem: null });
  });

  it("bounds the size of a decompressed message", async () => {
    const bomb = read(compressedFrame(Buffer.alloc(REQUEST_BYTES_MAX + 1)), "gzip");
    await until("the refusal", () => bomb.problem !== null);
    expect([bomb.problem?.code, bomb.messages, bomb.end]).to.deep.equal([status.RESOURCE_EXHAUSTED, [], null]);
    const largest = read(compressedFrame(Buffer.alloc(REQUEST_BYTES_MAX)), "gzip");
    await until("the message", () => largest.messages.length === 1);
  });

  it("refuses malformed compressed bytes", async () => {
    const frame = grpcFrame(Buffer.from("plain"));
    frame.writeUInt8(1, 0);
    const wrong = read(frame, "gzip");
    await until("the refusal", () => wrong.problem !== null);
    expect(wrong.problem?.code).to.equal(status.INTERNAL);
    expect(read(frame).problem?.code).to.equal(status.INTERNAL);
    expect(read(frame, "identity").problem?.code).to.equal(status.INTERNAL);
    frame.writeUInt8(2, 0);
    expect(read(frame, "gzip").problem?.code).to.equal(status.INTERNAL);
  });

  it("refuses an unknown encoding by name, and names the known ones", () => {
    const frame = grpcFrame(Buffer.from("message"));
    expect(read(frame, "br"), "a message that is not compressed").to.deep.include({ messages: ["message"], end: true });
    frame.writeUInt8(1, 0);
    const { problem } = read(frame, "br");
    expect(problem?.code).to.equal(status.UNIMPLEMENTED);
    expect(problem?.message).to.include('grpc-encoding: "br"');
    expect(problem?.trailers).to.deep.equal(["grpc-accept-encoding", "identity,gzip"]);
  });

  it("reports the bytes of a message after its decompression, and each message that waits for one", async () => {
    const texts = ["first", "second", "third"];
    const frames = texts.map((text) => (text === "first" ? compressedFrame(Buffer.from(text)) : frameOf(text)));
    const recorder = read(Buffer.concat(frames), "gzip");
    expect(recorder.moreMemory).to.deep.equal([0, 0]);
    await until("the end", () => recorder.end !== null);
    expect(recorder.moreMemory).to.deep.equal([0, 0, "first".length]);
    expect(read(Buffer.concat(texts.map(frameOf))).moreMemory, "without compression").to.deep.equal([]);
  });

  it("delivers nothing, and decompresses nothing, before it is started", async () => {
    const bytes = compressedFrame(Buffer.from("message"));
    const recorder = new Recorder();
    const reader = new RequestReader(recorder, "gzip", 1);
    reader.read(bytes, 0, bytes.length);
    reader.end();
    await read(bytes, "gzip").untilEnd();
    expect(recorder).to.deep.include({ messages: [], moreMemory: [], end: null, problem: null });
    reader.start();
    await recorder.untilEnd();
    expect(recorder).to.deep.include({ messages: ["message"], moreMemory: ["message".length] });
  });

  it("reports a problem that it found before the start, at the start", () => {
    const recorder = new Recorder();
    const reader = new RequestReader(recorder, undefined, 1);
    const bytes = Buffer.concat([frameOf("message"), Buffer.alloc(5, 0xff)]);
    reader.read(bytes, 0, bytes.length);
    reader.end();
    expect(recorder.problem).to.equal(null);
    reader.start();
    expect([recorder.problem?.code, recorder.end]).to.deep.equal([status.RESOURCE_EXHAUSTED, null]);
  });

  it("keeps no message beyond those that the request may have", () => {
    const recorder = new Recorder();
    const reader = new RequestReader(recorder, "gzip", 1);
    reader.start();
    const bytes = Buffer.concat([compressedFrame(Buffer.from("message")), Buffer.alloc(5_000)]);
    reader.read(bytes, 0, bytes.length);
    expect([recorder.problem?.code, recorder.messages]).to.deep.equal([status.UNIMPLEMENTED, []]);
    expect(recorder.moreMemory).to.deep.equal([]);
  });

  it("calls nothing after it was stopped", async () => {
    const recorder = new Recorder();
    const reader = new RequestReader(recorder, "gzip", 1);
    reader.start();
    const bytes = compressedFrame(Buffer.from("message"));
    reader.read(bytes, 0, bytes.length);
    reader.stop();
    reader.end();
    // Queued after it for the threads that decompress.
    const next = read(compressedFrame(Buffer.from("next")), "gzip");
    await until("the next one", () => next.end !== null);
    expect(recorder).to.deep.include({ messages: [], end: null, problem: null });
  });
});
