import { expect } from "chai";
import fc from "fast-check";
import { countTurns } from "../../../../test/harness/index.ts";
import { BATCH_BYTES_MAX } from "../../methods/index.ts";
import { HttpError, parseQuery } from "../answers/index.ts";
import { ParameterProblem } from "../requests/index.ts";
import { delimiter, splitEvents } from "./event-delimiter.ts";

async function codeOf(action: () => Promise<unknown>): Promise<string> {
  try {
    await action();
  } catch (error) {
    if (error instanceof HttpError) {
      return `${error.status} ${error.code}`;
    }
    throw error;
  }
  return "accepted";
}

/** Returns the delimiter of a request with this query. */
function delimiterOf(query: string): Buffer {
  return delimiter.read(parseQuery(query).get("delimiter")?.[0] ?? undefined);
}

async function split(body: string, delimiter: string): Promise<string[]> {
  return [...(await splitEvents(Buffer.from(body), Buffer.from(delimiter)))].map((event) =>
    Buffer.from(event).toString(),
  );
}

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
      expect(() => delimiterOf(query)).to.throw(ParameterProblem, "write %2B for a plus");
    });
  }

  it("is refused with its own code", () => {
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
    it(`S8: ${JSON.stringify(body)} by ${JSON.stringify(delimiter)} is ${JSON.stringify(events)}`, async () => {
      expect(await split(body, delimiter)).to.deep.equal(events);
    });
  }

  it("S8: works on bytes, also within characters and outside UTF-8", async () => {
    const body = Buffer.from([0xc3, 0xa9, 0xff, 0xa9, 0x00]);
    const events = [...(await splitEvents(body, Buffer.from([0xa9])))];
    expect(events.map((event) => event.toHex())).to.deep.equal(["c3", "ff", "00"]);
  });

  it("S8: finds delimiters across the chunks of a body", async () => {
    const chunks = ["aX", "Yb", "X", "Y", "c"].map((chunk) => Buffer.from(chunk));
    const events = await splitEvents(Buffer.concat(chunks), Buffer.from("XY"));
    expect([...events].map((event) => Buffer.from(event).toString())).to.deep.equal(["a", "b", "c"]);
  });

  it("is the inverse of joining, for events that do not contain the delimiter", async () => {
    const part = fc.uint8Array({ maxLength: 5, max: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 8 }), fc.boolean(), async (events, isEnded) => {
        const delimiter = Uint8Array.of(4, 0);
        const joined = events.flatMap((event, at) => (at === 0 ? [...event] : [...delimiter, ...event]));
        // An empty event at the end is visible only with a delimiter after it.
        const isNeeded = isEnded || events.at(-1)?.length === 0;
        const body = Uint8Array.from(isNeeded ? [...joined, ...delimiter] : joined);
        expect([...(await splitEvents(body, delimiter))].map((event) => [...event])).to.deep.equal(
          events.map((event) => [...event]),
        );
      }),
    );
  });

  it("refuses an empty body and more than 1,000,000 events, and takes one event as large as the body", async () => {
    const newline = Buffer.from("\n");
    const countOf = async (body: string) => (await splitEvents(Buffer.from(body), newline)).count;
    expect(await codeOf(() => splitEvents(new Uint8Array(0), newline))).to.equal("400 empty_body");
    expect(await countOf("\n".repeat(1_000_000))).to.equal(1_000_000);
    expect(await countOf(`${"\n".repeat(999_999)}x`)).to.equal(1_000_000);
    expect(await codeOf(() => countOf("\n".repeat(1_000_001)))).to.equal("400 too_many_events");
    const large = Buffer.alloc(BATCH_BYTES_MAX, 0x61);
    expect([...(await splitEvents(large, newline))].map((event) => large.equals(event))).to.deep.equal([true]);
  });

  it("S44: lets other turns of the event loop run while it splits a large batch", async () => {
    const body = Buffer.from("event..\n".repeat(1_000_000));
    const { result: events, turns } = await countTurns(() => splitEvents(body, Buffer.from("\n")));
    expect(events.count).to.equal(1_000_000);
    expect(turns).to.be.above(1);
    expect([0, 1, 999_999].map((at) => Buffer.from(events.at(at)).toString())).to.deep.equal(Array(3).fill("event.."));
  });
});
