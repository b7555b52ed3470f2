import { expect } from "chai";
import fc from "fast-check";
import { InvariantViolation } from "../../primitives/index.ts";
import { decodeText, encodeText, RecordReader, RecordWriter } from "./record.ts";

/** Text without lone surrogates, including characters of one to four bytes and NUL. */
const text = fc.string({ unit: "grapheme", maxLength: 20 }).filter((value) => value.isWellFormed());

const field = fc.oneof(
  fc.record({ type: fc.constant("uint8" as const), value: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ type: fc.constant("boolean" as const), value: fc.boolean() }),
  fc.record({ type: fc.constant("uint32" as const), value: fc.integer({ min: 0, max: 2 ** 32 - 1 }) }),
  fc.record({ type: fc.constant("uint53" as const), value: fc.maxSafeNat() }),
  fc.record({ type: fc.constant("fixed" as const), value: fc.uint8Array({ maxLength: 40 }) }),
  // Sometimes long ones, so that the buffer grows at many different places.
  fc.record({ type: fc.constant("bytes" as const), value: fc.uint8Array({ maxLength: 700 }) }),
  fc.record({ type: fc.constant("text" as const), value: text }),
);
type Field = typeof field extends fc.Arbitrary<infer Value> ? Value : never;

function write(fields: readonly Field[]): Uint8Array {
  const writer = new RecordWriter();
  for (const { type, value } of fields) {
    switch (type) {
      case "uint8":
        writer.uint8(value);
        break;
      case "boolean":
        writer.boolean(value);
        break;
      case "uint32":
        writer.uint32(value);
        break;
      case "uint53":
        writer.uint53(value);
        break;
      case "fixed":
        writer.fixed(value, value.length);
        break;
      case "bytes":
        writer.bytes(value);
        break;
      case "text":
        writer.text(value);
        break;
    }
  }
  return writer.finish();
}

function read(fields: readonly Field[], bytes: Uint8Array): unknown[] {
  const reader = new RecordReader(bytes);
  const values = fields.map(({ type, value }) => (type === "fixed" ? reader.fixed(value.length) : reader[type]()));
  reader.end();
  return values;
}

describe("records", () => {
  it("come back as written", () => {
    fc.assert(
      fc.property(fc.array(field, { maxLength: 12 }), (fields) => {
        const values: unknown[] = fields.map(({ value }) => value);
        expect(read(fields, write(fields))).to.deep.equal(values);
      }),
    );
  });

  it("are refused after every truncation, and with a byte more", () => {
    fc.assert(
      fc.property(fc.array(field, { minLength: 1, maxLength: 6 }), (fields) => {
        const bytes = write(fields);
        for (let length = 0; length < bytes.length; length++) {
          expect(() => read(fields, bytes.subarray(0, length))).to.throw(InvariantViolation);
        }
        expect(() => read(fields, Uint8Array.of(...bytes, 0))).to.throw(InvariantViolation, "to their end");
      }),
      { numRuns: 20 },
    );
  });

  it("have these bytes", () => {
    const record = new RecordWriter()
      .uint8(0xab)
      .boolean(true)
      .boolean(false)
      .uint32(0x1234_5678)
      .uint53(0x12_3456_789a_bcde)
      .fixed(Uint8Array.of(1, 2), 2)
      .bytes(Uint8Array.of(3))
      .text("é😀")
      .finish();
    expect(record.toHex()).to.equal(
      "ab0100123456780012345678 9abcde 0102 0000000103 00000006c3a9f09f9880".replaceAll(" ", ""),
    );
  });

  it("can be empty", () => {
    const record = new RecordWriter().finish();
    expect(record.length).to.equal(0);
    new RecordReader(record).end();
  });

  it("are independent when finished: the writer cannot continue", () => {
    const writer = new RecordWriter().uint8(1);
    const first = writer.finish();
    expect(() => writer.uint8(2)).to.throw(InvariantViolation, "finished");
    expect(new RecordWriter().uint8(3).finish().toHex()).to.equal("03");
    expect(first.toHex()).to.equal("01");
  });

  it("can be nested", () => {
    const outer = new RecordWriter().uint8(1);
    const inner = new RecordWriter().text("inner").finish();
    expect(outer.bytes(inner).finish().toHex()).to.equal(`01${"00000009"}00000005${"696e6e6572"}`);
  });

  it("grow beyond any size, and keep what was written", () => {
    const text = "é".repeat(50_000);
    const record = new RecordWriter().text("before").text(text).bytes(new Uint8Array(70_000).fill(7)).finish();
    const reader = new RecordReader(record);
    expect([reader.text(), reader.text() === text]).to.deep.equal(["before", true]);
    expect(reader.bytes().every((byte) => byte === 7)).to.equal(true);
    reader.end();
  });

  it("take memory of their own, and little more than they need, when they are large", () => {
    for (const length of [33_000, 100_000, 1_048_576]) {
      const value = new Uint8Array(length).fill(7);
      const one = new RecordWriter().uint53(1).bytes(value).uint53(2).finish();
      const two = new RecordWriter()
        .reserve(2 * length)
        .bytes(value)
        .bytes(value)
        .finish();
      expect(one.buffer.byteLength - one.length, `${length}`).to.be.below(2_100);
      expect(two.buffer.byteLength - two.length, `two of ${length}`).to.be.below(2_100);
      const reader = new RecordReader(two);
      expect(reader.bytes()).to.deep.equal(reader.bytes());
      reader.end();
    }
  });

  it("replace lone surrogates, which have no UTF-8", () => {
    expect(new RecordReader(new RecordWriter().text("a\ud800b").finish()).text()).to.equal("a\ufffdb");
  });

  it("give byte strings as views of themselves", () => {
    const record = new RecordWriter().bytes(Uint8Array.of(7, 8)).finish();
    const reader = new RecordReader(record);
    expect(reader.bytes().buffer).to.equal(record.buffer);
  });

  it("accept fields of a fixed length only at that length", () => {
    for (const length of [0, 15, 17]) {
      expect(() => new RecordWriter().fixed(new Uint8Array(length), 16)).to.throw(InvariantViolation, "fixed length");
    }
  });

  it("accept numbers only within their range", () => {
    for (const value of [-1, 256, 0.5]) {
      expect(() => new RecordWriter().uint8(value)).to.throw(InvariantViolation);
    }
    for (const value of [-1, 2 ** 32, 0.5]) {
      expect(() => new RecordWriter().uint32(value)).to.throw(InvariantViolation);
    }
    for (const value of [-1, 2 ** 53, 0.5]) {
      expect(() => new RecordWriter().uint53(value)).to.throw(InvariantViolation);
    }
  });

  it("accept two booleans", () => {
    for (const byte of [2, 255]) {
      expect(() => new RecordReader(Uint8Array.of(byte)).boolean()).to.throw(InvariantViolation);
    }
  });

  for (const [name, hex] of [
    ["an invalid first byte", "ff"],
    ["a character cut off", "c3"],
    ["an overlong form", "c080"],
    ["a surrogate", "eda080"],
    ["a character above U+10FFFF", "f4908080"],
  ] as const) {
    it(`refuse text with ${name}, and still read the next text`, () => {
      const bytes = new RecordWriter().bytes(Uint8Array.fromHex(hex)).text("é").finish();
      const reader = new RecordReader(bytes);
      expect(() => reader.text()).to.throw(InvariantViolation, "UTF-8");
      expect(reader.text()).to.equal("é");
    });
  }

  it("refuse lengths beyond their end, however large", () => {
    expect(() => new RecordReader(Uint8Array.fromHex("ffffffff00")).bytes()).to.throw(InvariantViolation);
    expect(() => new RecordReader(Uint8Array.fromHex("ffffffff00")).text()).to.throw(InvariantViolation);
  });
});

describe("texts", () => {
  it("keep every character, including a byte order mark and NUL", () => {
    for (const value of ["", "\0", "\uFEFFa", "\uFFFF", "😀", "__proto__"]) {
      expect(decodeText(encodeText(value))).to.equal(value);
      expect(new RecordReader(new RecordWriter().text(value).finish()).text()).to.equal(value);
    }
  });
});

describe("a byte string that is written in place", () => {
  it("equals one that was made before, also at the end of a slab", () => {
    for (const length of [0, 1, 500, 4_000, 5_000, 20_000, 40_000]) {
      const bytes = new Uint8Array(length).fill(7);
      const expected = new RecordWriter().uint8(1).bytes(bytes).uint8(2).finish();
      const writer = new RecordWriter().uint8(1);
      const begin = writer.beginBytes();
      for (let at = 0; at < length; at += 1_000) {
        writer.plainBytes(bytes.subarray(at, at + 1_000));
      }
      expect(writer.endBytes(begin)).to.equal(length);
      expect(writer.uint8(2).finish()).to.deep.equal(expected);
    }
  });
});
