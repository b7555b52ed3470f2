import { expect } from "chai";
import fc from "fast-check";
import { EVENT_BYTES_MAX } from "../methods/index.ts";
import { delimiter, splitEvents } from "./event-delimiter.ts";
import { HttpError } from "./http-error.ts";
import { ParameterProblem } from "./parameters.ts";
import { parseQuery } from "./url-encoding.ts";

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof HttpError) {
      return `${error.status} ${error.code}`;
    }
    throw error;
  }
  return "accepted";
}

/** As a request with this query has it. */
function delimiterOf(query: string): Buffer {
  return delimiter.read(parseQuery(query).get("delimiter")?.[0] ?? undefined);
}

const split = (body: string, delimiter: string) =>
  splitEvents(Buffer.from(body), Buffer.from(delimiter)).map((event) => Buffer.from(event).toString());

describe("the delimiter of a batch", () => {
  for (const [query, hex] of [
    ["delimiter=%0A", "0a"],
    ["delimiter=%0a", "0a"],
    ["delimiter=%FF", "ff"],
    ["delimiter=%00", "00"],
    ["delimiter=%C3%A9", "c3a9"],
    ["delimiter=ab", "6162"],
    ["delimiter=+", "20"],
    ["delimiter=%2B", "2b"],
    ["delimiter==", "3d"],
    ["delimiter=%26%3D", "263d"],
    ["a=b&delimiter=x&c", "78"],
    ["%64elimiter=x", "78"],
    [`delimiter=${"%FF".repeat(64)}`, "ff".repeat(64)],
  ] as const) {
    it(`S8: is these bytes: ${query.slice(0, 40)}`, () => {
      expect(delimiterOf(query).toString("hex")).to.equal(hex);
    });
  }

  for (const query of [
    "",
    "delimiter",
    "delimiter=",
    "Delimiter=x",
    "delimiters=x",
    `delimiter=${"x".repeat(65)}`,
    `delimiter=${"%0A".repeat(65)}`,
  ]) {
    it(`is refused: ${JSON.stringify(query.slice(0, 40))}`, () => {
      expect(() => delimiterOf(query)).to.throw(ParameterProblem);
    });
  }

  it("is refused with a code of its own", () => {
    expect(delimiter.badCode).to.equal("invalid_delimiter");
  });

  it("is every byte string of 1 to 64 bytes, percent-encoded", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
        const encoded = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
        expect(delimiterOf(`delimiter=${encoded}`)).to.deep.equal(Buffer.from(bytes));
      }),
    );
  });
});

describe("splitting a batch", () => {
  for (const [body, delimiter, events] of [
    ["a\nb", "\n", ["a", "b"]],
    ["a\nb\n", "\n", ["a", "b"]],
    ["a\nb\n\n", "\n", ["a", "b", ""]],
    ["\na", "\n", ["", "a"]],
    ["\n", "\n", [""]],
    ["\n\n", "\n", ["", ""]],
    ["a", "\n", ["a"]],
    ["a\n\nb", "\n", ["a", "", "b"]],
    ["aXYbXYcXY", "XY", ["a", "b", "c"]],
    ["aXXXb", "XX", ["a", "Xb"]],
    ["XXX", "XX", ["", "X"]],
    ["aX", "XX", ["aX"]],
    ["ab", "abc", ["ab"]],
  ] as const) {
    it(`S8: ${JSON.stringify(body)} by ${JSON.stringify(delimiter)} is ${JSON.stringify(events)}`, () => {
      expect(split(body, delimiter)).to.deep.equal(events);
    });
  }

  it("S8: goes by bytes, within characters and outside of UTF-8", () => {
    const body = Buffer.from([0xc3, 0xa9, 0xff, 0xa9, 0x00]);
    expect(splitEvents(body, Buffer.from([0xa9])).map((event) => Buffer.from(event).toString("hex"))).to.deep.equal([
      "c3",
      "ff",
      "00",
    ]);
  });

  it("S8: finds what straddles the chunks in which a body came", () => {
    const chunks = ["aX", "Yb", "X", "Y", "c"].map((chunk) => Buffer.from(chunk));
    const events = splitEvents(Buffer.concat(chunks), Buffer.from("XY"));
    expect(events.map((event) => Buffer.from(event).toString())).to.deep.equal(["a", "b", "c"]);
  });

  it("is the inverse of joining, for events that do not hold the delimiter", () => {
    const part = fc.uint8Array({ maxLength: 5, max: 3 });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), fc.boolean(), (events, isEnded) => {
        const delimiter = Uint8Array.of(4, 0);
        const joined = events.flatMap((event, at) => (at === 0 ? [...event] : [...delimiter, ...event]));
        // What is empty at the end is only told by a delimiter behind it.
        const isNeeded = isEnded || events.at(-1)?.length === 0;
        const body = Uint8Array.from(isNeeded ? [...joined, ...delimiter] : joined);
        expect(splitEvents(body, delimiter).map((event) => [...event])).to.deep.equal(
          events.map((event) => [...event]),
        );
      }),
    );
  });

  it("refuses an empty body, more than 10,000 events, and an event above 1 MiB, in this order", () => {
    const newline = Buffer.from("\n");
    expect(codeOf(() => splitEvents(new Uint8Array(0), newline))).to.equal("400 empty_body");
    expect(splitEvents(Buffer.from("\n".repeat(10_000)), newline)).to.have.length(10_000);
    expect(splitEvents(Buffer.from(`${"\n".repeat(9_999)}x`), newline)).to.have.length(10_000);
    expect(codeOf(() => splitEvents(Buffer.from("\n".repeat(10_001)), newline))).to.equal("400 too_many_events");
    const large = Buffer.alloc(EVENT_BYTES_MAX, 0x61);
    expect(splitEvents(Buffer.concat([large, newline]), newline)).to.have.length(1);
    const tooLarge = Buffer.concat([large, Buffer.from("a")]);
    expect(codeOf(() => splitEvents(tooLarge, newline))).to.equal("413 payload_too_large");
    const both = Buffer.concat([tooLarge, Buffer.from("\n".repeat(10_001))]);
    expect(codeOf(() => splitEvents(both, newline))).to.equal("400 too_many_events");
  });
});
