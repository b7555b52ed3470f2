import { expect } from "chai";
import fc from "fast-check";
import { CLIENT_PREFACE, data, Flag, FrameType, frame, paddedData, ping, settings } from "../../test/http2/index.ts";
import { FrameReader, type FrameSink } from "./frame-reader.ts";

/** Records what a reader passes on, with the parts of DATA joined. */
class Recorder implements FrameSink {
  readonly lines: string[] = [];
  readonly reader = new FrameReader(this);
  /** Stops the reader at the head of a frame on this stream. */
  stopsAt = -1;
  #data = "";

  onWrongPreface(): void {
    this.lines.push("wrong preface");
    this.reader.stop();
  }

  onHead(type: number, flags: number, streamId: number, length: number): void {
    this.lines.push(`head ${type} ${flags} ${streamId} ${length}`);
    if (streamId === this.stopsAt) {
      this.reader.stop();
    }
  }

  onFrame(type: number, flags: number, streamId: number, bytes: Uint8Array, from: number, to: number): void {
    this.lines.push(`frame ${type} ${flags} ${streamId} ${hexOf(bytes, from, to)}`);
  }

  onDataHead(flags: number, streamId: number, length: number, overhead: number): void {
    this.lines.push(`data ${flags} ${streamId} ${length} ${overhead}`);
    if (overhead > length) {
      this.reader.stop();
    }
  }

  onDataPart(bytes: Uint8Array, from: number, to: number): void {
    expect(to).to.be.greaterThan(from);
    this.#data += hexOf(bytes, from, to);
  }

  onDataEnd(): void {
    this.lines.push(`data end ${this.#data}`);
    this.#data = "";
  }

  /** Reads bytes through memory that is overwritten after each part. */
  read(bytes: Uint8Array, partBytes: readonly number[]): void {
    const memory = Buffer.alloc(bytes.length + 2);
    for (let at = 0, part = 0; at < bytes.length; part++) {
      const end = Math.min(bytes.length, at + (partBytes[part % partBytes.length] as number));
      memory.fill(0xa5);
      memory.set(bytes.subarray(at, end), 1);
      this.reader.read(memory, 1, 1 + end - at);
      at = end;
    }
  }
}

function hexOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.subarray(from, to)).toString("hex");
}

function linesOf(bytes: Uint8Array, partBytes: readonly number[] = [bytes.length]): readonly string[] {
  const recorder = new Recorder();
  recorder.read(bytes, partBytes);
  return recorder.lines;
}

const payload = fc.uint8Array({ maxLength: 40 });
const streamId = fc.integer({ min: 0, max: 5 });
const anyFrame = fc.oneof(
  fc.tuple(streamId, payload).map(([id, bytes]) => data(id, bytes)),
  fc.tuple(streamId, payload, fc.nat(30)).map(([id, bytes, padding]) => paddedData(id, bytes, padding)),
  fc
    .tuple(fc.integer({ min: 1, max: 255 }), fc.nat(255), streamId, payload)
    .map(([type, flags, id, bytes]) => frame(type, flags, id, bytes)),
  payload.map((bytes) => frame(FrameType.Headers, 0, 1, Buffer.concat([bytes, Buffer.alloc(400)]))),
);

describe("a reader of frames", () => {
  it("passes on a frame with its head", () => {
    expect(linesOf(Buffer.concat([CLIENT_PREFACE, settings([4, 7]), ping("12345678")]))).to.deep.equal([
      "head 4 0 0 6",
      "frame 4 0 0 000400000007",
      "head 6 0 0 8",
      "frame 6 0 0 3132333435363738",
    ]);
  });

  it("passes on DATA without its padding", () => {
    const bytes = Buffer.concat([CLIENT_PREFACE, data(1, "abc", Flag.EndStream), paddedData(3, "d", 4), data(5, "")]);
    expect(linesOf(bytes)).to.deep.equal([
      ...["head 0 1 1 3", "data 1 1 3 0", "data end 616263"],
      ...["head 0 8 3 6", "data 8 3 6 5", "data end 64"],
      ...["head 0 0 5 0", "data 0 5 0 0", "data end "],
    ]);
  });

  it("ignores the reserved bit of a stream's number", () => {
    const bytes = ping("12345678");
    bytes[5] = 0x80;
    expect(linesOf(Buffer.concat([CLIENT_PREFACE, bytes]))[0]).to.equal("head 6 0 0 8");
  });

  it("passes on the same frames however the bytes are cut, from reused memory", () => {
    fc.assert(
      fc.property(
        fc.array(anyFrame, { maxLength: 12 }),
        fc.array(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 300 })), { minLength: 1 }),
        (frames, partBytes) => {
          const bytes = Buffer.concat([CLIENT_PREFACE, ...frames]);
          expect(linesOf(bytes, partBytes)).to.deep.equal(linesOf(bytes));
        },
      ),
    );
  });

  it("ends a piece with a whole frame, and stores nothing of the next one", () => {
    const frames = [settings(), ping("first"), ping("other")];
    const bytes = Buffer.concat([CLIENT_PREFACE, ...frames]);
    const end = bytes.length - frames[2]!.length;
    const recorder = new Recorder();
    expect(recorder.reader.read(bytes, 0, bytes.length, end - 5)).to.equal(end);
    expect(recorder.reader.bufferedBytes).to.equal(0);
    expect(recorder.reader.read(bytes, end, bytes.length)).to.equal(bytes.length);
    expect(recorder.lines.filter((line) => line.startsWith("frame"))).to.have.length(3);
  });

  it("detects a wrong preface at its first wrong byte, and reads nothing after it", () => {
    for (let at = 0; at < CLIENT_PREFACE.length; at++) {
      const bytes = Buffer.from(CLIENT_PREFACE.subarray(0, at + 1));
      bytes[at] = (bytes[at] as number) ^ 1;
      const recorder = new Recorder();
      recorder.read(Buffer.concat([bytes, CLIENT_PREFACE, ping("")]), [7]);
      expect(recorder.lines).to.deep.equal(["wrong preface"]);
    }
  });

  it("stores only the incomplete frame, and nothing of DATA", () => {
    const recorder = new Recorder();
    recorder.read(
      Buffer.concat([CLIENT_PREFACE, frame(FrameType.Headers, 0, 1, Buffer.alloc(1_000))]).subarray(0, 600),
      [600],
    );
    expect(recorder.reader.bufferedBytes).to.equal(600 - CLIENT_PREFACE.length);
    recorder.read(Buffer.alloc(1_000 - (600 - CLIENT_PREFACE.length - 9)), [100]);
    expect(recorder.reader.bufferedBytes).to.equal(0);
    recorder.read(data(1, Buffer.alloc(1_000)).subarray(0, 900), [100]);
    expect(recorder.reader.bufferedBytes).to.equal(0);
  });

  for (const partBytes of [1, 5, 10_000]) {
    it(`passes on nothing after a stop at a head, in parts of ${partBytes} bytes`, () => {
      for (const wrong of [data(7, "x"), paddedData(7, "x", 1), frame(FrameType.Headers, 0, 7, Buffer.alloc(9))]) {
        const recorder = new Recorder();
        recorder.stopsAt = 7;
        recorder.read(Buffer.concat([CLIENT_PREFACE, wrong, ping("")]), [partBytes]);
        expect(recorder.lines.map((line) => line.split(" ")[0])).to.deep.equal(["head"]);
        expect(recorder.reader.bufferedBytes).to.equal(0);
      }
    });
  }

  it("passes on padding that is longer than its frame, for the sink to refuse", () => {
    const wrong = paddedData(1, "", 5).subarray(0, 9 + 3);
    wrong[2] = 3;
    expect(linesOf(Buffer.concat([CLIENT_PREFACE, wrong, ping("")]))).to.deep.equal(["head 0 8 1 3", "data 8 1 3 6"]);
  });
});
