import { expect } from "chai";
import fc from "fast-check";
import { decodedBytesMax, decodeHuffman, encodeHuffman, huffmanBytesOf } from "./huffman.ts";
import { CODE_WIDTHS, CODES, EOS } from "./huffman-code.ts";
import { HeaderCompressionError } from "./index.ts";

function decode(bytes: Uint8Array): string {
  const text = Buffer.alloc(decodedBytesMax(bytes.length));
  return text.toString("latin1", 0, decodeHuffman(bytes, 0, bytes.length, text));
}

function encode(text: string): Buffer {
  const bytes = Buffer.alloc(huffmanBytesOf(text));
  expect(encodeHuffman(text, bytes, 0)).to.equal(bytes.length);
  return bytes;
}

/** The bytes of a sequence of bits, padded with ones to a whole byte. */
function bytesOf(bits: string): Uint8Array {
  return Uint8Array.from(bits.match(/.{1,8}/g) ?? [], (byte) => Number.parseInt(byte.padEnd(8, "1"), 2));
}

function bitsOf(symbol: number): string {
  return (CODES[symbol] as number).toString(2).padStart(CODE_WIDTHS[symbol] as number, "0");
}

describe("the Huffman code", () => {
  it("has the codes of RFC 7541, Appendix B, first and last of each width", () => {
    const codes: Record<number, readonly [number, number]> = {
      48: [0x0, 5],
      116: [0x9, 5],
      32: [0x14, 6],
      117: [0x2d, 6],
      58: [0x5c, 7],
      122: [0x7b, 7],
      38: [0xf8, 8],
      90: [0xfd, 8],
      33: [0x3f8, 10],
      63: [0x3fc, 10],
      39: [0x7fa, 11],
      124: [0x7fc, 11],
      35: [0xffa, 12],
      62: [0xffb, 12],
      0: [0x1ff8, 13],
      126: [0x1ffd, 13],
      94: [0x3ffc, 14],
      125: [0x3ffd, 14],
      60: [0x7ffc, 15],
      123: [0x7ffe, 15],
      92: [0x7fff0, 19],
      208: [0x7fff2, 19],
      128: [0xfffe6, 20],
      226: [0xfffed, 20],
      153: [0x1fffdc, 21],
      230: [0x1fffe8, 21],
      129: [0x3fffd2, 22],
      233: [0x3fffeb, 22],
      1: [0x7fffd8, 23],
      239: [0x7ffff4, 23],
      9: [0xffffea, 24],
      237: [0xfffff5, 24],
      199: [0x1ffffec, 25],
      235: [0x1ffffef, 25],
      192: [0x3ffffe0, 26],
      255: [0x3ffffee, 26],
      203: [0x7ffffde, 27],
      254: [0x7fffff0, 27],
      2: [0xfffffe2, 28],
      249: [0xffffffe, 28],
      10: [0x3ffffffc, 30],
      [EOS]: [0x3fffffff, 30],
    };
    for (const [symbol, [code, width]] of Object.entries(codes)) {
      expect([CODES[Number(symbol)], CODE_WIDTHS[Number(symbol)]], `symbol ${symbol}`).to.deep.equal([code, width]);
    }
  });

  it("survives a round trip for each byte, alone and between others", () => {
    for (let byte = 0; byte < 256; byte++) {
      for (const text of [String.fromCharCode(byte), `a${String.fromCharCode(byte)}~\0z`]) {
        expect(decode(encode(text))).to.equal(text);
      }
    }
  });

  it("survives a round trip for any text, encoded as its codes one after the other", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const text = Buffer.from(bytes).toString("latin1");
        const encoded = encode(text);
        expect([...encoded]).to.deep.equal([...bytesOf([...bytes].map(bitsOf).join(""))]);
        expect(decode(encoded)).to.equal(text);
      }),
    );
  });

  it("ends with at most 7 bits of padding, all of them ones", () => {
    // "0" has 5 bits, "&" has 8.
    expect(decode(bytesOf("00000111"))).to.equal("0");
    expect(decode(bytesOf("00000"))).to.equal("0");
    for (const padding of ["000", "110", "101", "011"]) {
      expect(() => decode(bytesOf(`00000${padding}`)), padding).to.throw(HeaderCompressionError);
    }
    expect(decode(bytesOf("11111000"))).to.equal("&");
    expect(() => decode(bytesOf("1111100011111111"))).to.throw(HeaderCompressionError);
    expect(() => decode(bytesOf("11111111"))).to.throw(HeaderCompressionError);
    // ":" has 7 bits, so the padding has 1 bit or 9.
    expect(decode(bytesOf(bitsOf(58)))).to.equal(":");
    expect(() => decode(bytesOf(`${bitsOf(58)}111111111`))).to.throw(HeaderCompressionError);
    expect(decode(new Uint8Array(0))).to.equal("");
  });

  it("refuses EOS at any position", () => {
    for (const before of ["", "0", "/path", "\0"]) {
      const bits = [...Buffer.from(before)].map(bitsOf).join("");
      for (const after of ["", bitsOf(48), `${bitsOf(48)}${bitsOf(48)}`]) {
        expect(() => decode(bytesOf(`${bits}${bitsOf(EOS)}${after}`))).to.throw(HeaderCompressionError);
      }
    }
  });

  it("refuses a code that is cut off", () => {
    const bits = bitsOf(0xe9);
    for (let length = 8; length < 22; length += 8) {
      expect(() => decode(bytesOf(bits.slice(0, length)))).to.throw(HeaderCompressionError);
    }
  });

  it("reads and writes only the given range", () => {
    const bytes = Buffer.alloc(10, 0xaa);
    expect(encodeHuffman("000", bytes, 3)).to.equal(5);
    expect(bytes.toString("hex")).to.equal("aaaaaa0001aaaaaaaaaa");
    const text = Buffer.alloc(10);
    expect(decodeHuffman(bytes, 3, 5, text)).to.equal(3);
  });
});
