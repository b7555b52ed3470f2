/** The examples of RFC 7541, Appendix C, in both directions. */
import { expect } from "chai";
import { HeaderDecoder, HeaderEncoder } from "./index.ts";
import { writeInteger } from "./integers.ts";

interface Example {
  readonly fields: readonly string[];
  readonly block: string;
  /** The dynamic table after the block, the newest entry first. */
  readonly table: readonly string[];
  readonly tableBytes: number;
}

interface Connection {
  readonly title: string;
  readonly tableBytesMax: number;
  readonly usesHuffman: boolean;
  readonly examples: readonly Example[];
}

const authority = [":authority", "www.example.com"];
const noCache = ["cache-control", "no-cache"];
const custom = ["custom-key", "custom-value"];
const requests = [
  { fields: [":method", "GET", ":scheme", "http", ":path", "/", ...authority], table: authority, tableBytes: 57 },
  {
    fields: [":method", "GET", ":scheme", "http", ":path", "/", ...authority, ...noCache],
    table: [...noCache, ...authority],
    tableBytes: 110,
  },
  {
    fields: [":method", "GET", ":scheme", "https", ":path", "/index.html", ...authority, ...custom],
    table: [...custom, ...noCache, ...authority],
    tableBytes: 164,
  },
];

const isPrivate = ["cache-control", "private"];
const date = ["date", "Mon, 21 Oct 2013 20:13:21 GMT"];
const laterDate = ["date", "Mon, 21 Oct 2013 20:13:22 GMT"];
const location = ["location", "https://www.example.com"];
const gzip = ["content-encoding", "gzip"];
const cookie = ["set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"];
const responses = [
  {
    fields: [":status", "302", ...isPrivate, ...date, ...location],
    table: [...location, ...date, ...isPrivate, ":status", "302"],
    tableBytes: 222,
  },
  {
    fields: [":status", "307", ...isPrivate, ...date, ...location],
    table: [":status", "307", ...location, ...date, ...isPrivate],
    tableBytes: 222,
  },
  {
    fields: [":status", "200", ...isPrivate, ...laterDate, ...location, ...gzip, ...cookie],
    table: [...cookie, ...gzip, ...laterDate],
    tableBytes: 215,
  },
];

function withBlocks(examples: readonly Omit<Example, "block">[], blocks: readonly string[]): readonly Example[] {
  return examples.map((example, at) => ({ ...example, block: (blocks[at] as string).replaceAll(/\s/g, "") }));
}

const connections: readonly Connection[] = [
  {
    title: "C.3, requests without Huffman code",
    tableBytesMax: 4_096,
    usesHuffman: false,
    examples: withBlocks(requests, [
      "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
      "8286 84be 5808 6e6f 2d63 6163 6865",
      "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ]),
  },
  {
    title: "C.4, requests in Huffman code",
    tableBytesMax: 4_096,
    usesHuffman: true,
    examples: withBlocks(requests, [
      "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
      "8286 84be 5886 a8eb 1064 9cbf",
      "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ]),
  },
  {
    title: "C.5, responses without Huffman code, with eviction",
    tableBytesMax: 256,
    usesHuffman: false,
    examples: withBlocks(responses, [
      `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d
       546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
      "4803 3330 37c1 c0bf",
      `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f
       6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b
       2076 6572 7369 6f6e 3d31`,
    ]),
  },
  {
    title: "C.6, responses in Huffman code, with eviction",
    tableBytesMax: 256,
    usesHuffman: true,
    examples: withBlocks(responses, [
      `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7
       8f0b 97c8 e9ae 82ae 43d3`,
      "4883 640e ffc1 c0bf",
      `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335
       dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
    ]),
  },
];

function decode(decoder: HeaderDecoder, hex: string): readonly string[] {
  const block = Buffer.from(hex, "hex");
  const { fields, isTooLarge } = decoder.decode(block, 0, block.length);
  expect(isTooLarge).to.equal(false);
  return fields;
}

function encode(encoder: HeaderEncoder, fields: readonly string[]): string {
  const bytes = Buffer.alloc(encoder.boundOf(fields));
  return bytes.toString("hex", 0, encoder.encode(fields, bytes, 0));
}

/** The size update that examples with a table of 256 bytes need, because the table begins with 4,096 bytes. */
function sizeUpdate(bytesMax: number): string {
  const bytes = Buffer.alloc(8);
  return bytes.toString("hex", 0, writeInteger(bytesMax, 0x1f, 0x20, bytes, 0));
}

describe("the examples of RFC 7541", () => {
  for (const { title, tableBytesMax, usesHuffman, examples } of connections) {
    it(`are decoded: ${title}`, () => {
      const decoder = new HeaderDecoder({ tableBytesMax, listBytesMax: 1_000 });
      decode(decoder, sizeUpdate(tableBytesMax));
      for (const { fields, block, table, tableBytes } of examples) {
        expect(decode(decoder, block)).to.deep.equal(fields);
        expect(decoder.tableBytes).to.equal(tableBytes);
        // The index of the newest entry is 62.
        const indexes = Uint8Array.from({ length: table.length / 2 }, (_, at) => 0x80 + 62 + at);
        expect(decode(decoder, Buffer.from(indexes).toString("hex"))).to.deep.equal(table);
      }
    });

    it(`are encoded: ${title}`, () => {
      const encoder = new HeaderEncoder({ tableBytesMax, usesHuffman });
      expect(encode(encoder, [])).to.equal(tableBytesMax < 4_096 ? sizeUpdate(tableBytesMax) : "");
      for (const { fields, block, tableBytes } of examples) {
        expect(encode(encoder, fields)).to.equal(block);
        expect(encoder.tableBytes).to.equal(tableBytes);
      }
    });
  }

  const options = { tableBytesMax: 4_096, usesHuffman: false };
  const singles = [
    {
      title: "C.2.1, a literal with indexing",
      fields: ["custom-key", "custom-header"],
      block: "400a637573746f6d2d6b65790d637573746f6d2d686561646572",
      tableBytes: 55,
      encoder: new HeaderEncoder(options),
    },
    {
      title: "C.2.2, a literal without indexing",
      fields: [":path", "/sample/path"],
      block: "040c2f73616d706c652f70617468",
      tableBytes: 0,
      encoder: new HeaderEncoder({ ...options, withoutIndexing: new Set([":path"]) }),
    },
    {
      title: "C.2.3, a literal that is never indexed",
      fields: ["password", "secret"],
      block: "100870617373776f726406736563726574",
      tableBytes: 0,
      encoder: new HeaderEncoder({ ...options, neverIndexed: new Set(["password"]) }),
    },
    {
      title: "C.2.4, an entry of the static table",
      fields: [":method", "GET"],
      block: "82",
      tableBytes: 0,
      encoder: new HeaderEncoder(options),
    },
  ];
  for (const { title, fields, block, tableBytes, encoder } of singles) {
    it(`are decoded and encoded: ${title}`, () => {
      const decoder = new HeaderDecoder({ tableBytesMax: 4_096, listBytesMax: 1_000 });
      expect(decode(decoder, block)).to.deep.equal(fields);
      expect(decoder.tableBytes).to.equal(tableBytes);
      expect(encode(encoder, fields)).to.equal(block);
      expect(encoder.tableBytes).to.equal(tableBytes);
    });
  }
});
