import { expect } from "chai";
import fc from "fast-check";
import { type Frame, FrameError, FrameParser, frameHeader } from "./frame.ts";

const ANY = { bodyBytesMax: 1_000, accepts: () => true };

function stream(frames: readonly Frame[]): Buffer {
  return Buffer.concat(frames.flatMap(({ type, body }) => [frameHeader({ type, body }), body]));
}

/** The bytes in pieces; the numbers are the lengths, used repeatedly. */
function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let offset = 0, at = 0; offset < bytes.length; at++) {
    const length = lengths[at % lengths.length] as number;
    pieces.push(bytes.subarray(offset, offset + length));
    offset += length;
  }
  return pieces;
}

/** The frames that a parser delivers, and whether it refused the rest. */
function parse(pieces: readonly Buffer[], parser = new FrameParser(ANY)): { frames: Frame[]; error: unknown } {
  const frames: Frame[] = [];
  try {
    for (const piece of pieces) {
      parser.push(piece, ({ type, body }) => frames.push({ type, body: Uint8Array.from(body) }));
    }
  } catch (error) {
    return { frames, error };
  }
  return { frames, error: null };
}

describe("FrameParser", () => {
  const anyFrame = fc.record({ type: fc.integer({ min: 0, max: 255 }), body: fc.uint8Array({ maxLength: 300 }) });
  const anyCut = fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 8 });

  it("finds the same frames however the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 12 }), anyCut, (frames, lengths) => {
        const { frames: found, error } = parse(cut(stream(frames), lengths));
        expect(error).to.equal(null);
        expect(found).to.deep.equal(frames);
      }),
    );
  });

  it("hands nothing over before it is whole, byte by byte", () => {
    const frames = [
      { type: 1, body: Uint8Array.of(1, 2, 3) },
      { type: 2, body: new Uint8Array(0) },
    ];
    const bytes = stream(frames);
    const counts = Array.from(bytes, (_, at) => parse([bytes.subarray(0, at)]).frames.length);
    expect(counts).to.deep.equal([...Array(15).fill(0), ...Array(12).fill(1)]);
    expect(parse([bytes]).frames).to.deep.equal(frames);
  });

  it("raises only FrameErrors, with any bytes, and the same for any chunks", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), anyCut, (bytes, lengths) => {
        const whole = parse([Buffer.from(bytes)]);
        const pieces = parse(cut(Buffer.from(bytes), lengths));
        expect(pieces.frames).to.deep.equal(whole.frames);
        for (const { error } of [whole, pieces]) {
          expect(error === null || error instanceof FrameError).to.equal(true);
        }
        expect(pieces.error === null).to.equal(whole.error === null);
      }),
    );
  });

  it("refuses a frame with any bit changed, and has handed over those before it", () => {
    const first = { type: 5, body: Uint8Array.of(9) };
    const second = { type: 7, body: Uint8Array.of(1, 2, 3, 4) };
    const whole = stream([first, second]);
    const accepts = (type: number) => type === 5 || type === 7;
    for (let bit = 13 * 8; bit < whole.length * 8; bit++) {
      const changed = Buffer.from(whole);
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
      const { frames, error } = parse([changed], new FrameParser({ bodyBytesMax: 1_000, accepts }));
      expect(frames.slice(0, 1)).to.deep.equal([first]);
      // A changed length makes the parser wait, or refuse. A change to another accepted type is not noticed.
      const isTypeBit = bit === (13 + 4) * 8 + 1;
      expect(error instanceof FrameError || frames.length === 1 || isTypeBit, `bit ${bit}`).to.equal(true);
    }
  });

  it("refuses length, type and form by the header alone", () => {
    const expected = { bodyBytesMax: 10, accepts: (type: number) => type === 3 };
    const headers = [
      frameHeader({ type: 3, body: new Uint8Array(11) }),
      frameHeader({ type: 4, body: new Uint8Array(1) }),
      Buffer.from("00000001" + "03010000" + "00000000", "hex"),
      Buffer.from("00000001" + "03000100" + "00000000", "hex"),
    ];
    for (const header of headers) {
      expect(parse([header], new FrameParser(expected)).error).to.be.instanceOf(FrameError);
    }
    expect(parse([frameHeader({ type: 3, body: new Uint8Array(10) })], new FrameParser(expected)).error).to.equal(null);
  });

  it("checks the next frame against the current expectation", () => {
    const frames = [
      { type: 1, body: Uint8Array.of(1) },
      { type: 2, body: Uint8Array.of(2) },
    ];
    const parser = new FrameParser({ bodyBytesMax: 1, accepts: (type) => type === 1 });
    const found: number[] = [];
    parser.push(stream(frames), ({ type }) => {
      found.push(type);
      parser.expect({ bodyBytesMax: 1, accepts: (other) => other === 2 });
    });
    expect(found).to.deep.equal([1, 2]);
  });

  it("copies only frames that span chunks, into memory of their own size", () => {
    const bytes = stream([{ type: 1, body: new Uint8Array(100) }]);
    const kept: Uint8Array[] = [];
    new FrameParser(ANY).push(bytes, ({ body }) => kept.push(body));
    expect(kept[0]?.buffer).to.equal(bytes.buffer);
    const parser = new FrameParser(ANY);
    for (const piece of cut(bytes, [50])) {
      parser.push(piece, ({ body }) => kept.push(body));
    }
    expect(kept[1]?.buffer.byteLength).to.equal(100);
  });

  it("knows the layout", () => {
    expect(stream([{ type: 7, body: Buffer.from("quoin") }]).toString("hex")).to.equal(
      "00000005" + "07" + "00" + "0000" + "03cf7e60" + "71756f696e",
    );
  });
});
