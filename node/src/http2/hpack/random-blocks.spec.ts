/**
 * Blocks that no encoder writes: random ones, and changed ones. QUOIN_HPACK_RUNS is the number of connections to try,
 * with up to four blocks each.
 */
import { expect } from "chai";
import fc from "fast-check";
import { HeaderCompressionError, HeaderDecoder, HeaderEncoder } from "./index.ts";

const RUNS = Number(process.env.QUOIN_HPACK_RUNS ?? 3_000);
const RUN_MS_MAX = 10; // Each takes far less than a millisecond.

const LIST_BYTES_MAX = 300;
/** The bytes before and after the block in memory. */
const SURROUNDINGS = [0x00, 0x82, 0xff] as const;

const lists = [
  [":method", "POST", ":scheme", "http", ":path", "/quoin.v1.KeyValueService/Get", "te", "trailers"],
  ["content-type", "application/grpc", "user-agent", "grpc-node-js/1.14.0", "authorization", "Bearer secret"],
  [":status", "200", "name", "value", "name", "other", "\xe9\xff\0", "\x01\x7f"],
  ["name", "v".repeat(150), "name", "v".repeat(150)],
];
const octet = fc.oneof(
  fc.nat(0xff),
  // The first octets of representations, lengths, and ends of integers and codes.
  fc.constantFrom(0x00, 0x01, 0x04, 0x0f, 0x10, 0x1f, 0x20, 0x3e, 0x3f, 0x40, 0x7f, 0x80, 0x81, 0x82, 0xbe, 0xbf, 0xff),
);
/** A very long integer. */
const longInteger = fc
  .tuple(fc.constantFrom(0x0f, 0x3f, 0x7f, 0xff), fc.nat(6), fc.constantFrom(0x80, 0xff), fc.nat(0x7f))
  .map(([first, length, octets, last]) => [first, ...new Array<number>(length).fill(octets), last]);
const part = fc.oneof({ arbitrary: octet.map((each) => [each]), weight: 9 }, { arbitrary: longInteger, weight: 1 });
const random = fc.array(part, { maxLength: 60 }).map((parts) => Uint8Array.from(parts.flat()));
const change = fc.record({ place: fc.nat(400), octet, kind: fc.constantFrom("set", "cut", "insert", "flip") });
const changed = fc.record({
  list: fc.constantFrom(...lists),
  usesHuffman: fc.boolean(),
  withoutIndexing: fc.boolean(),
  changes: fc.array(change, { maxLength: 3 }),
});
const block = fc.oneof({ arbitrary: random, weight: 1 }, { arbitrary: changed, weight: 2 });
const tableBytesMax = fc.constantFrom(0, 64, 300, 4_096, 10_000);

type Changed = typeof changed extends fc.Arbitrary<infer Value> ? Value : never;

function blockOf({ list, usesHuffman, withoutIndexing, changes }: Changed, bytesMax: number): Uint8Array {
  const names = new Set(withoutIndexing ? list : []);
  const encoder = new HeaderEncoder({ tableBytesMax: bytesMax, usesHuffman, withoutIndexing: names });
  const bytes = new Uint8Array(encoder.boundOf(list));
  let octets = [...bytes.subarray(0, encoder.encode(list, bytes, 0))];
  for (const { place: number, octet: value, kind } of changes) {
    const place = number % (octets.length + 1);
    if (kind === "set") {
      octets[place] = value;
    } else if (kind === "cut") {
      octets = octets.slice(0, place);
    } else if (kind === "insert") {
      octets.splice(place, 0, value);
    } else {
      octets[place] = (octets[place] ?? 0) ^ (1 << (value & 7));
    }
  }
  return Uint8Array.from(octets);
}

/** Returns the result of a block that is surrounded by these octets. */
function outcomeOf(decoder: HeaderDecoder, bytes: Uint8Array, surrounding: number) {
  const memory = new Uint8Array(bytes.length + 10).fill(surrounding);
  memory.set(bytes, 5);
  try {
    return decoder.decode(memory, 5, 5 + bytes.length);
  } catch (error) {
    expect(error).to.be.instanceOf(HeaderCompressionError);
    return (error as Error).message;
  }
}

function bytesOf(fields: readonly string[]): number {
  return fields.reduce((bytes, text) => bytes + text.length, 16 * fields.length);
}

describe("a decoder of arbitrary blocks", () => {
  it("throws only HeaderCompressionError, keeps its limits, and reads only the block", function () {
    this.timeout(20_000 + RUNS * RUN_MS_MAX);
    const outcomes = new Map<string, number>();
    fc.assert(
      fc.property(tableBytesMax, fc.boolean(), fc.array(block, { minLength: 1, maxLength: 4 }), (max, isKnown, all) => {
        const decoders = SURROUNDINGS.map((surrounding) => {
          const decoder = new HeaderDecoder({ tableBytesMax: max, listBytesMax: LIST_BYTES_MAX });
          if (isKnown) {
            decoder.acknowledgeSettings();
          }
          return { decoder, surrounding };
        });
        for (const each of all) {
          const bytes = each instanceof Uint8Array ? each : blockOf(each, max);
          const [outcome, ...others] = decoders.map((one) => outcomeOf(one.decoder, bytes, one.surrounding));
          for (const other of others) {
            expect(other).to.deep.equal(outcome);
          }
          for (const { decoder } of decoders) {
            expect(decoder.tableBytes).to.be.at.most(Math.max(4_096, max));
          }
          const kind = typeof outcome === "string" ? outcome : `isTooLarge: ${outcome?.isTooLarge}`;
          outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
          if (outcome === undefined || typeof outcome === "string") {
            break;
          }
          expect(outcome.fields.length % 2).to.equal(0);
          expect(bytesOf(outcome.fields)).to.be.at.most(LIST_BYTES_MAX);
        }
      }),
      { numRuns: RUNS },
    );
    // The blocks are useful only if they reach each kind of end.
    expect([...outcomes.keys()].sort()).to.deep.equal([
      "A size update is above SETTINGS_HEADER_TABLE_SIZE",
      "A size update of the dynamic table follows a field",
      "A text in Huffman code contains EOS, or its padding is wrong",
      "An index is in neither table",
      "An integer has too many octets",
      "The block does not begin with the required size update",
      "The block ends before a text",
      "The block ends within a text",
      "The block ends within an integer",
      "isTooLarge: false",
      "isTooLarge: true",
    ]);
  });
});
