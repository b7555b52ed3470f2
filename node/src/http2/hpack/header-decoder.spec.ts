import { expect } from "chai";
import { HeaderCompressionError, HeaderDecoder } from "./index.ts";

function decoderOf(options: { tableBytesMax?: number; listBytesMax?: number } = {}): HeaderDecoder {
  return new HeaderDecoder({ tableBytesMax: 4_096, listBytesMax: 10_000, ...options });
}

/** Decodes a block of octets and texts. */
function decode(decoder: HeaderDecoder, ...parts: readonly (number | string)[]) {
  const block = Buffer.concat(
    parts.map((part) => (typeof part === "number" ? Buffer.of(part) : Buffer.from(part, "latin1"))),
  );
  return decoder.decode(block, 0, block.length);
}

/** A text of up to 16,000 characters, with its length. */
const textOf = (text: string) =>
  text.length < 127 ? [text.length, text] : [0x7f, 0x80 | ((text.length - 127) & 0x7f), (text.length - 127) >> 7, text];
/** A literal with indexing. */
const added = (name: string, value: string) => [0x40, ...textOf(name), ...textOf(value)];
const refused = (parts: readonly (number | string)[], message: string, decoder = decoderOf()) =>
  expect(() => decode(decoder, ...parts), JSON.stringify(parts)).to.throw(HeaderCompressionError, message);

describe("a header decoder", () => {
  it("decodes only the bytes between start and end", () => {
    const block = Buffer.of(0xff, 0x82, 0x84, 0xff);
    expect(decoderOf().decode(block, 1, 3).fields).to.deep.equal([":method", "GET", ":path", "/"]);
    expect(decoderOf().decode(block, 1, 1)).to.deep.equal({ fields: [], isTooLarge: false });
  });

  it("decodes bytes above ASCII as latin-1, with and without Huffman code", () => {
    expect(decode(decoderOf(), 0x00, 1, "\xe9", 2, "\xff\x80").fields).to.deep.equal(["\xe9", "\xff\x80"]);
    // 0xe9 has the code 3fffeb of 22 bits.
    const inHuffman = decode(decoderOf(), 0x00, 1, "a", 0x83, 0xff, 0xff, 0xaf);
    expect(inHuffman.fields).to.deep.equal(["a", "\xe9"]);
  });

  it("decodes a long text in Huffman code", () => {
    // "0" has 5 bits, all of them zeros.
    const block = Buffer.concat([Buffer.of(0x04, 0xff, 0x89, 0x26), Buffer.alloc(5_000)]);
    const { fields } = decoderOf().decode(block, 0, block.length);
    expect(fields).to.deep.equal([":path", "0".repeat(8_000)]);
  });

  it("reuses an earlier path only if its literal is the same", () => {
    const decoder = decoderOf();
    const path = [0x04, 0x84, 0x61, 0x09, 0x09, 0x3f];
    const first = decode(decoder, ...path).fields;
    expect(decode(decoder, ...path).fields).to.deep.equal(first);
    expect(decode(decoder, 0x04, 0x84, 0x61, 0x09, 0x09, 0x7f).fields).not.to.deep.equal(first);
  });

  it("reuses no path because of the same place in a reused Buffer", () => {
    const decoder = decoderOf();
    const memory = Buffer.alloc(20);
    // Both texts have the same place in the cache.
    for (const path of ["/a/Method", "/b/Method"]) {
      const end = memory.write(`\x04\x09${path}`, "latin1");
      expect(decoder.decode(memory, 0, end).fields).to.deep.equal([":path", path]);
    }
  });

  it("takes the name of a literal from a table even if its own insertion evicts that entry (§4.4)", () => {
    const decoder = decoderOf({ tableBytesMax: 100 });
    decoder.acknowledgeSettings();
    decode(decoder, 0x3f, 100 - 0x1f, ...added("long-name", "v".repeat(59)));
    expect(decoder.tableBytes).to.equal(100);
    const { fields } = decode(decoder, 0x40 | 0x3e, 2, "v2");
    expect(fields).to.deep.equal(["long-name", "v2"]);
    expect(decode(decoder, 0xbe).fields).to.deep.equal(["long-name", "v2"]);
    expect(decoder.tableBytes).to.equal(9 + 2 + 32);
  });

  it("empties the table for an entry that is larger than the table (§4.4)", () => {
    const decoder = decoderOf();
    decode(decoder, ...added("a", "b"));
    expect(decode(decoder, ...added("n", "v".repeat(4_064))).isTooLarge).to.equal(false);
    expect(decoder.tableBytes).to.equal(0);
    refused([0xbe], "in neither table", decoder);
  });

  describe("refuses an index", () => {
    it("of 0 (§6.1)", () => {
      refused([0x80], "in neither table");
    });

    it("beyond both tables, of a field or of a name (§2.3.3)", () => {
      for (const parts of [[0xbe], [0x7e, 1, "v"], [0x0f, 0x2f, 1, "v"], [0x1f, 0x2f, 1, "v"]]) {
        refused(parts, "in neither table");
        const decoder = decoderOf();
        decode(decoder, ...added("n", "w"));
        expect(decode(decoder, ...parts).fields[0]).to.equal("n");
      }
      refused([0xff, 0xff, 0xff, 0xff, 0x7f], "in neither table");
    });

    it("of an entry that was evicted", () => {
      const decoder = decoderOf();
      decode(decoder, ...added("a", "1"), ...added("b", "2"));
      expect(decode(decoder, 0xbf).fields).to.deep.equal(["a", "1"]);
      expect(decode(decoder, 0x3f, 34 - 0x1f, 0xbe).fields).to.deep.equal(["b", "2"]);
      refused([0xbf], "in neither table", decoder);
    });
  });

  describe("refuses a block that ends", () => {
    it("within an integer", () => {
      for (const parts of [[0xff], [0xff, 0x80], [0x7f], [0x0f], [0x1f], [0x3f], [0x3f, 0x80], [0x41, 0x7f]]) {
        refused(parts, "ends within an integer");
      }
    });

    it("before or within a text", () => {
      refused([0x40], "ends before a text");
      refused([0x41], "ends before a text");
      refused([0x00, 1, "n"], "ends before a text");
      refused([0x00, 2, "n"], "ends within a text");
      refused([0x00, 1, "n", 2, "v"], "ends within a text");
      refused([0x04, 0x82, 0x60], "ends within a text");
      refused([0x41, 0x7f, 0xff, 0xff, 0xff, 0x7f, "v"], "ends within a text");
      expect(decode(decoderOf(), 0x00, 1, "n", 1, "v").fields).to.deep.equal(["n", "v"]);
      expect(decode(decoderOf(), 0x00, 0, 0).fields).to.deep.equal(["", ""]);
    });

    it("although the buffer continues after it", () => {
      const block = Buffer.from("\x00\x01n\x02vv", "latin1");
      expect(decoderOf().decode(block, 0, 6).fields).to.deep.equal(["n", "vv"]);
      for (let end = 1; end < 6; end++) {
        expect(() => decoderOf().decode(block, 0, end)).to.throw(HeaderCompressionError, "The block ends");
      }
    });
  });

  it("refuses integers with too many octets: an index, a length, a size", () => {
    for (const first of [[0xff], [0x7f], [0x0f], [0x1f], [0x41, 0x7f], [0x3f]]) {
      refused([...first, 0x80, 0x80, 0x80, 0x80, 0x01], "too many octets");
    }
  });

  it("refuses wrong Huffman code in a name or a value, also of a path", () => {
    for (const text of [
      [0x81, 0x00],
      [0x81, 0xff],
      [0x84, 0xff, 0xff, 0xff, 0xff],
    ]) {
      refused([0x00, ...text, 1, "v"], "Huffman");
      refused([0x41, ...text], "Huffman");
      refused([0x04, ...text], "Huffman");
    }
    expect(decode(decoderOf(), 0x04, 0x81, 0x63).fields).to.deep.equal([":path", "/"]);
  });

  describe("of a list above its limit", () => {
    it("cuts the fields, and keeps the table up to date", () => {
      const decoder = decoderOf({ listBytesMax: 100 });
      const first = decode(decoder, ...added("a", "1"), 0x82, ...added("b", "2"), 0x87, ...added("c", "3"));
      expect(first).to.deep.equal({ fields: ["a", "1", ":method", "GET"], isTooLarge: true });
      const next = decode(decoder, 0xbe, 0xbf);
      expect(next).to.deep.equal({ fields: ["c", "3", "b", "2"], isTooLarge: false });
    });

    it("counts 32 bytes per field, and names and values", () => {
      const fields = [0x00, 2, "nn", 4, "vvvv"];
      const exact = decode(decoderOf({ listBytesMax: 38 }), ...fields);
      expect(exact).to.deep.equal({ fields: ["nn", "vvvv"], isTooLarge: false });
      expect(decode(decoderOf({ listBytesMax: 37 }), ...fields)).to.deep.equal({ fields: [], isTooLarge: true });
      expect(decode(decoderOf({ listBytesMax: 75 }), ...fields, ...fields).fields.length).to.equal(2);
    });

    it("leaves out all later fields, however small", () => {
      const { fields } = decode(decoderOf({ listBytesMax: 90 }), 0x82, 0x00, 1, "n", 30, "v".repeat(30), 0x84);
      expect(fields).to.deep.equal([":method", "GET"]);
    });

    it("uses no memory for repeated entries", () => {
      const decoder = decoderOf({ listBytesMax: 10_000 });
      decode(decoder, ...added("n", "v".repeat(4_000)));
      const { fields, isTooLarge } = decoder.decode(new Uint8Array(50_000).fill(0xbe), 0, 50_000);
      expect([fields.length, isTooLarge]).to.deep.equal([4, true]); // Twice 4,033 bytes.
    });
  });

  describe("of size updates", () => {
    /** A size from 31 to 158. */
    const sizeOf = (bytes: number) => [0x3f, bytes - 0x1f];

    it("takes any number of them before the first field, up to the announced size", () => {
      const decoder = decoderOf();
      decode(decoder, ...added("a", "1"));
      expect(decode(decoder, 0x3f, 0xe1, 0x1f, 0xbe).fields).to.deep.equal(["a", "1"]);
      expect(decode(decoder, 0x20, 0x3f, 0xe1, 0x1f).fields).to.deep.equal([]);
      expect(decoder.tableBytes).to.equal(0);
      refused([0x3f, 0xe2, 0x1f], "above SETTINGS_HEADER_TABLE_SIZE", decoder);
    });

    it("takes more than 4,096 bytes if that was announced", () => {
      expect(decode(decoderOf({ tableBytesMax: 4_097 }), 0x3f, 0xe2, 0x1f).fields).to.deep.equal([]);
      refused([0x3f, 0xe3, 0x1f], "above", decoderOf({ tableBytesMax: 4_097 }));
      // The table itself grows only then.
      const decoder = decoderOf({ tableBytesMax: 100_000 });
      for (let number = 0; number < 200; number++) {
        decode(decoder, ...added("n", "v".repeat(100)));
      }
      expect(decoder.tableBytes).to.equal(30 * 133);
    });

    it("refuses them after a field (§4.2)", () => {
      refused([0x82, 0x20], "follows a field");
      refused([...added("a", "1"), ...sizeOf(100)], "follows a field");
    });

    it("lets the peer use 4,096 bytes until it has acknowledged less, and then requires an update", () => {
      const decoder = decoderOf({ tableBytesMax: 100 });
      decode(decoder, ...added("a", "v".repeat(1_000)));
      expect(decode(decoder, 0xbe).fields[0]).to.equal("a");
      expect(decode(decoder, 0x3f, 0xe1, 0x1f, 0xbe).fields[0]).to.equal("a");
      decoder.acknowledgeSettings();
      expect(() => decode(decoder, 0x82)).to.throw(HeaderCompressionError, "required size update");
      expect(() => decode(decoder)).to.throw(HeaderCompressionError, "required size update");
      expect(() => decode(decoder, ...sizeOf(101), 0x82)).to.throw(HeaderCompressionError, "above");
      expect(decode(decoder, ...sizeOf(100), 0x82).fields).to.deep.equal([":method", "GET"]);
      expect(decoder.tableBytes).to.equal(0);
      expect(decode(decoder, 0x82).fields).to.deep.equal([":method", "GET"]);
    });

    it("requires none if the peer uses no more already, or if the size was not lowered", () => {
      const small = decoderOf({ tableBytesMax: 100 });
      decode(small, ...sizeOf(50));
      small.acknowledgeSettings();
      expect(decode(small, 0x82).fields).to.deep.equal([":method", "GET"]);
      const large = decoderOf();
      large.acknowledgeSettings();
      expect(decode(large, 0x82).fields).to.deep.equal([":method", "GET"]);
    });
  });
});
