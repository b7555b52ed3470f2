import { expect } from "chai";
import { HeaderDecoder, HeaderEncoder, type HeaderEncoderOptions } from "./index.ts";

function encoderOf(options: Partial<HeaderEncoderOptions> = {}): HeaderEncoder {
  return new HeaderEncoder({ tableBytesMax: 4_096, usesHuffman: false, ...options });
}

function encode(encoder: HeaderEncoder, ...fields: readonly string[]): string {
  const bytes = Buffer.alloc(encoder.boundOf(fields));
  return bytes.toString("latin1", 0, encoder.encode(fields, bytes, 0));
}

describe("a header encoder", () => {
  it("writes only from the given place", () => {
    const bytes = Buffer.alloc(60, 0xaa);
    expect(encoderOf().encode([":method", "GET", "a", "b"], bytes, 3)).to.equal(9);
    expect(bytes.toString("latin1", 0, 10)).to.equal("\xaa\xaa\xaa\x82\x40\x01a\x01b\xaa");
  });

  it("sends a field that it sent before as an index, and also a name", () => {
    const encoder = encoderOf();
    expect(encode(encoder, "name", "one")).to.equal("\x40\x04name\x03one");
    expect(encode(encoder, "name", "one")).to.equal("\xbe");
    expect(encode(encoder, "name", "two")).to.equal("\x7e\x03two");
    expect(encode(encoder, "name", "one", "name", "two")).to.equal("\xbf\xbe");
  });

  it("finds each entry of the static table, and the names of those without a value", () => {
    const encoder = encoderOf();
    expect(encode(encoder, ":status", "200", ":status", "500", ":path", "/index.html")).to.equal("\x88\x8e\x85");
    expect(encode(encoder, "accept-encoding", "gzip, deflate", "www-authenticate", "")).to.equal("\x90\xbd");
    expect(encode(encoder, ":status", "418")).to.equal("\x48\x03418");
    expect(encode(encoder, "www-authenticate", "x")).to.equal("\x7d\x01x");
  });

  it("never indexes secrets (§7.1.3)", () => {
    const encoder = encoderOf({ neverIndexed: new Set(["api-key"]) });
    for (const name of ["authorization", "proxy-authorization", "cookie", "api-key"]) {
      const blocks = [encode(encoder, name, "secret"), encode(encoder, name, "secret")];
      expect(blocks[1]).to.equal(blocks[0]);
      expect(blocks[0]?.charCodeAt(0)).to.be.within(0x10, 0x1f);
    }
    expect(encoder.tableBytes).to.equal(0);
    expect(encode(encoder, "cookie", "secret")).to.equal("\x1f\x11\x06secret");
  });

  it("does not index values that differ each time, nor fields larger than half of the table", () => {
    const encoder = encoderOf({ withoutIndexing: new Set(["grpc-message"]) });
    for (let round = 0; round < 2; round++) {
      expect(encode(encoder, "grpc-message", "no")).to.equal("\x00\x0cgrpc-message\x02no");
    }
    const half = "v".repeat(2_048 - 33);
    expect(encode(encoder, "n", `${half}v`).slice(0, 2)).to.equal("\x00\x01");
    expect(encoder.tableBytes).to.equal(0);
    expect(encode(encoder, "n", half).slice(0, 2)).to.equal("\x40\x01");
    expect(encoder.tableBytes).to.equal(2_048);
  });

  it("uses Huffman code unless it is longer", () => {
    const encoder = encoderOf({ usesHuffman: true, withoutIndexing: new Set(["a"]) });
    expect(encode(encoder, "a", "www.example.com")).to.equal(
      `\x00\x81\x1f\x8c${Buffer.from("f1e3c2e5f23a6ba0ab90f4ff", "hex").toString("latin1")}`,
    );
    expect(encode(encoder, "a", "\xe9\xe9")).to.equal("\x00\x81\x1f\x02\xe9\xe9");
    expect(encode(encoder, "a", "")).to.equal("\x00\x81\x1f\x80");
  });

  it("throws RangeError for a small buffer or for text that is not latin-1, and then has changed nothing", () => {
    const encoder = encoderOf();
    const fields = ["name", "value", "other", "value"];
    const bytes = Buffer.alloc(encoder.boundOf(fields));
    expect(() => encoder.encode(fields, bytes, 1)).to.throw(RangeError, "too small");
    expect(() => encode(encoder, "name", "value", "other", "\u0100")).to.throw(RangeError, "not latin-1");
    expect(() => encode(encoder, "name", "value", "\uffff", "")).to.throw(RangeError, "not latin-1");
    encoder.setPeerTableBytesMax(100);
    expect(() => encode(encoder, "\u0141", "value")).to.throw(RangeError, "not latin-1");
    expect(encoder.tableBytes).to.equal(0);
    expect(encode(encoder, "name", "value")).to.equal("\x3f\x45\x40\x04name\x05value");
  });

  it("returns a limit that the longest block does not exceed", () => {
    const encoder = encoderOf({ tableBytesMax: 1_000_000 });
    encoder.setPeerTableBytesMax(1_000);
    encoder.setPeerTableBytesMax(1_000_000);
    const fields = ["n".repeat(1_000), "v".repeat(100_000)];
    const block = encode(encoder, ...fields);
    expect(block.length).to.be.above(101_000 + 1 + 3 + 4 + 3);
    expect(encoder.boundOf(fields)).to.be.within(block.length, block.length + 20);
  });

  describe("announces the size of its table", () => {
    it("at the beginning of its first block, if that is below 4,096", () => {
      const encoder = encoderOf({ tableBytesMax: 100 });
      expect(encode(encoder, ":method", "GET")).to.equal("\x3f\x45\x82");
      expect(encode(encoder, ":method", "GET")).to.equal("\x82");
      expect(encode(encoderOf(), ":method", "GET")).to.equal("\x82");
      expect(encode(encoderOf({ tableBytesMax: 100_000 }), ":method", "GET")).to.equal("\x82");
    });

    it("when the peer allows less or more, up to its own limit", () => {
      const encoder = encoderOf({ tableBytesMax: 5_000 });
      encoder.setPeerTableBytesMax(0);
      expect(encode(encoder, "a", "b")).to.equal("\x20\x00\x01a\x01b");
      expect(encode(encoder, "a", "b")).to.equal("\x00\x01a\x01b");
      encoder.setPeerTableBytesMax(0xffff_ffff);
      expect(encode(encoder, "a", "b")).to.equal("\x3f\xe9\x26\x40\x01a\x01b");
      encoder.setPeerTableBytesMax(6_000);
      expect(encode(encoder, "a", "b")).to.equal("\xbe");
    });

    it("and the lowest one between two blocks, which evicted entries (§4.2)", () => {
      const encoder = encoderOf();
      encode(encoder, "a", "b", "c", "d");
      for (const bytes of [3_000, 34, 80, 4_096]) {
        encoder.setPeerTableBytesMax(bytes);
      }
      expect(encoder.tableBytes).to.equal(34);
      expect(encode(encoder, "c", "d", "a", "b")).to.equal("\x3f\x03\x3f\xe1\x1f\xbe\x40\x01a\x01b");
      encoder.setPeerTableBytesMax(3_000);
      encoder.setPeerTableBytesMax(100);
      expect(encode(encoder)).to.equal("\x3f\x45");
      encoder.setPeerTableBytesMax(3_000);
      encoder.setPeerTableBytesMax(4_096);
      expect(encode(encoder)).to.equal("\x3f\xe1\x1f");
      expect(encode(encoder)).to.equal("");
    });
  });

  describe("of a repeated list", () => {
    const answer = Object.freeze([":status", "200", "content-type", "application/grpc"]);
    const trailers = Object.freeze(["grpc-status", "0"]);

    function repeat(encoder: HeaderEncoder, fields: readonly string[]): string {
      const bytes = Buffer.alloc(encoder.boundOf(fields), 0xaa);
      return bytes.toString("latin1", 0, encoder.encodeRepeated(fields, bytes, 0));
    }

    it("sends one byte for each field from the second time on", () => {
      const encoder = encoderOf();
      expect(repeat(encoder, answer)).to.equal("\x88\x5f\x10application/grpc");
      expect(repeat(encoder, trailers)).to.equal("\x40\x0bgrpc-status\x010");
      for (let round = 0; round < 4; round++) {
        expect(repeat(encoder, answer)).to.equal("\x88\xbf");
        expect(repeat(encoder, trailers)).to.equal("\xbe");
      }
    });

    it("caches a block independently of the bytes that it was written to", () => {
      const encoder = encoderOf();
      const bytes = Buffer.alloc(100);
      encoder.encodeRepeated(answer, bytes, 0);
      expect(encoder.encodeRepeated(answer, bytes, 0)).to.equal(2);
      bytes.fill(0xaa);
      expect(repeat(encoder, answer)).to.equal("\x88\xbe");
    });

    it("announces a size only once", () => {
      const encoder = encoderOf({ tableBytesMax: 100 });
      const fields = Object.freeze([":status", "200"]);
      expect([repeat(encoder, fields), repeat(encoder, fields)]).to.deep.equal(["\x3f\x45\x88", "\x88"]);
    });

    it("copies into the few bytes that are left", () => {
      const encoder = encoderOf();
      for (let round = 0; round < 2; round++) {
        repeat(encoder, answer);
      }
      const bytes = Buffer.alloc(4);
      expect(encoder.encodeRepeated(answer, bytes, 1)).to.equal(3);
      expect(bytes.toString("latin1")).to.equal("\0\x88\xbe\0");
      expect(() => encoder.encodeRepeated(answer, bytes, 3)).to.throw(RangeError, "too small");
    });

    it("follows the changes of the table by other blocks and sizes", () => {
      const encoder = encoderOf({ tableBytesMax: 200 });
      const decoder = new HeaderDecoder({ tableBytesMax: 4_096, listBytesMax: 10_000 });
      const lists = [answer, trailers, ...Array.from({ length: 12 }, (_, at) => Object.freeze(["n", `${at % 5}`]))];
      for (let step = 0; step < 2_000; step++) {
        const fields = lists[(step * step + (step >> 3)) % lists.length] as readonly string[];
        const other = `${step % 7}`;
        if (step % 11 === 0) {
          encoder.setPeerTableBytesMax(step % 3 === 0 ? 100 : 200);
        }
        const block = Buffer.from(step % 6 === 0 ? encode(encoder, "other", other) : repeat(encoder, fields), "latin1");
        const expected = step % 6 === 0 ? ["other", other] : fields;
        expect(decoder.decode(block, 0, block.length).fields).to.deep.equal(expected);
        expect(decoder.tableBytes).to.equal(encoder.tableBytes);
      }
    });

    it("takes only a frozen list", () => {
      expect(() => repeat(encoderOf(), ["grpc-status", "0"])).to.throw(TypeError, "frozen");
    });
  });
});
