import { expect } from "chai";
import fc from "fast-check";
import { type SentEvent, sentEvents } from "./sent-events.ts";

const EVENTS = [
  { id: "1", data: "one" },
  { id: "2", data: "" },
  { id: "3", data: "x".repeat(50) },
];
const TEXT = `: \n\n${EVENTS.map(({ id, data }) => `id: ${id}\ndata: ${data}\n\n`).join("")}: \n\n`;

async function heard(chunks: readonly string[]): Promise<(SentEvent | undefined)[]> {
  async function* arriving(): AsyncGenerator<string> {
    yield* chunks;
  }
  return await Array.fromAsync(sentEvents(arriving()));
}

describe("server-sent events", () => {
  it("are the same whatever the pieces, even with empty ones", async () => {
    const cuts = fc.array(fc.integer({ min: 0, max: TEXT.length }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const at = [0, ...places.sort((one, other) => one - other), TEXT.length];
        const chunks = at.slice(1).map((to, from) => TEXT.slice(at[from], to));
        expect(await heard(chunks)).to.deep.equal([undefined, ...EVENTS, undefined]);
      }),
    );
  });

  it("are yielded as soon as they end, one character at a time", async () => {
    expect(await heard([...TEXT])).to.deep.equal([undefined, ...EVENTS, undefined]);
    expect(await heard([TEXT.slice(0, -1)])).to.deep.equal([undefined, ...EVENTS]);
  });
});
