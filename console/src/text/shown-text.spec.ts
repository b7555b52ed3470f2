import { expect } from "chai";
import { shownText } from "./shown-text.ts";

describe("shown text", () => {
  it("is what quoinctl shows, for every character", async () => {
    const quoinctl = new URL("../../../client/src/cli/displayed-text.ts", import.meta.url).href;
    const { escapeControls } = (await import(quoinctl)) as { escapeControls(text: string): string };
    const characters = Array.from({ length: 0x11_0000 }, (_, point) => `a${String.fromCodePoint(point)}b`);
    const differing = characters.filter((text) => shownText(text) !== escapeControls(text));
    expect(differing).to.deep.equal([]);
  });

  it("tells names apart that would look the same", () => {
    expect(["cr", "cr\r", "a\u202eb", "a\u200bb", "é 名"].map(shownText)).to.deep.equal([
      ...["cr", "cr\\r", "a\\u{202e}b", "a\\u{200b}b", "é 名"],
    ]);
  });
});
