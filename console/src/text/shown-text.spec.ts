import { expect } from "chai";
import { meantText, shownText } from "./shown-text.ts";

describe("shown text", () => {
  it("is what quoinctl shows, for every character", async () => {
    const quoinctl = new URL("../../../client/src/cli/text/displayed-text.ts", import.meta.url).href;
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

  it("lead back to the characters from what a person reads and types", () => {
    for (const name of ["cr\r", "a\tb\nc", "a\u202eb", "\u0000", "\u{e0001}", "plain"]) {
      expect(meantText(shownText(name))).to.equal(name);
    }
    for (const typed of ["C:\\data", "\\u{41}", "\\u{110000}", "\\u{}", "\\u{000a}"]) {
      expect(meantText(typed)).to.equal(typed);
    }
  });
});
