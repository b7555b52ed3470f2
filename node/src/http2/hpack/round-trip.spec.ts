/**
 * The decoder reads what the encoder writes, with any fields, any table sizes, and any changes of them between blocks.
 */
import { expect } from "chai";
import fc from "fast-check";
import { HeaderDecoder, HeaderEncoder } from "./index.ts";

const latin1 = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes).toString("latin1"));
const ascii = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
// Few of them, so that many are in a table already.
const name = fc.oneof(
  fc.constantFrom(":method", ":status", ":path", "content-type", "te", "cookie", "request-id", "n", ""),
  latin1(40),
);
const value = fc.oneof(fc.constantFrom("GET", "200", "/", "trailers", "", "v".repeat(90)), ascii, latin1(60));
const field = fc.oneof({ weight: 3, arbitrary: fc.tuple(name, value) }, fc.constantFrom(["n", "1"], ["n", "2"]));
const fieldsOf = fc.array(field, { maxLength: 12 }).map((fields) => fields.flat());
const tableSize = fc.oneof(fc.nat(300), fc.nat(9_000), fc.constantFrom(0, 4_096, 4_097));

const step = fc.record({
  fields: fieldsOf,
  /** The values of the peer's SETTINGS, one after the other, before the block. */
  sizes: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(tableSize, { maxLength: 3 })),
  /** The number of the frozen list that follows the fields in its own block. */
  repeated: fc.nat(3),
});
const repeatedLists = fc.array(
  fieldsOf.map((fields) => Object.freeze(fields)),
  { minLength: 4, maxLength: 4 },
);
const options = fc.record({
  tableBytesMax: tableSize,
  usesHuffman: fc.boolean(),
  withoutIndexing: fc.constantFrom(new Set<string>(), new Set(["request-id", ":path"])),
  neverIndexed: fc.constantFrom(new Set<string>(), new Set(["te"])),
});

describe("an encoder and a decoder", () => {
  it("agree on the fields and on the size of the table, block after block", () => {
    fc.assert(
      fc.property(options, repeatedLists, fc.array(step, { maxLength: 20 }), (chosen, lists, steps) => {
        const encoder = new HeaderEncoder(chosen);
        const decoder = new HeaderDecoder({ tableBytesMax: 9_000, listBytesMax: 100_000 });
        const agree = (fields: readonly string[], isRepeated: boolean) => {
          const room = encoder.boundOf(fields);
          const bytes = new Uint8Array(room + 5).fill(0xaa);
          const end = isRepeated ? encoder.encodeRepeated(fields, bytes, 3) : encoder.encode(fields, bytes, 3);
          expect(end).to.be.at.most(3 + room);
          expect(bytes[end]).to.equal(0xaa);
          expect(decoder.decode(bytes, 3, end)).to.deep.equal({ fields, isTooLarge: false });
          expect(decoder.tableBytes).to.equal(encoder.tableBytes);
          expect(decoder.tableBytes).to.be.at.most(Math.max(4_096, chosen.tableBytesMax));
        };
        for (const { fields, sizes, repeated } of steps) {
          for (const size of sizes) {
            encoder.setPeerTableBytesMax(size);
          }
          agree(fields, false);
          agree(lists[repeated] as readonly string[], true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("agree on a table of any announced size, acknowledged at any time", () => {
    fc.assert(
      fc.property(tableSize, fc.nat(5), fc.array(fieldsOf, { maxLength: 8 }), (tableBytesMax, after, blocks) => {
        const encoder = new HeaderEncoder({ tableBytesMax: 9_000 });
        const decoder = new HeaderDecoder({ tableBytesMax, listBytesMax: 100_000 });
        for (const [at, fields] of blocks.entries()) {
          if (at === after) {
            encoder.setPeerTableBytesMax(tableBytesMax);
            decoder.acknowledgeSettings();
          }
          const bytes = new Uint8Array(encoder.boundOf(fields));
          expect(decoder.decode(bytes, 0, encoder.encode(fields, bytes, 0)).fields).to.deep.equal(fields);
          expect(decoder.tableBytes).to.equal(encoder.tableBytes);
        }
      }),
    );
  });
});
