import { expect } from "chai";
import fc from "fast-check";
import { anyText } from "../../../../testing/random/index.ts";
import { decodeText, displayValue, escapeControls } from "./displayed-text.ts";

/** Whether a terminal acts on a character instead of showing it: C0, DEL, C1, and changes of the writing direction. */
function isObeyed(code: number): boolean {
  const ranges = [
    [0x00, 0x1f],
    [0x7f, 0x9f],
    [0x200e, 0x200f],
    [0x202a, 0x202e],
    [0x2066, 0x2069],
  ] as const;
  return ranges.some(([first, last]) => code >= first && code <= last);
}

describe("escapeControls", () => {
  it("lets no control sequence reach a terminal", () => {
    expect(escapeControls("a\u001b[31mred\n\tb\r\u0000\u009b1m\u202e\u2028")).to.equal(
      "a\\u{1b}[31mred\\n\\tb\\r\\u{0}\\u{9b}1m\\u{202e}\\u{2028}",
    );
    fc.assert(
      fc.property(anyText(), (text) => {
        for (const character of escapeControls(text)) {
          expect(isObeyed(character.codePointAt(0)!)).to.equal(false);
        }
      }),
    );
  });

  it("leaves other text as it is", () => {
    expect(escapeControls("Grüße, 世界 \u{1f600} \\n")).to.equal("Grüße, 世界 \u{1f600} \\n");
  });
});

describe("decodeText", () => {
  it("returns every text, even with a leading U+FEFF, and undefined for bytes that are not text", () => {
    for (const text of ["", "\ufeffx", "\u{10ffff}", "\u0000"]) {
      expect(decodeText(Buffer.from(text))).to.equal(text);
    }
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe4, 0xb8]]) {
      expect(decodeText(Uint8Array.from(bytes))).to.equal(undefined);
    }
  });
});

describe("displayValue", () => {
  it("shows text with escapes, and other bytes in base64", () => {
    expect(displayValue(Buffer.from("line\n"), 60)).to.equal("line\\n");
    expect(displayValue(Uint8Array.of(0xff, 0), 60)).to.equal("base64:/wA=");
    expect(displayValue(new Uint8Array(), 60)).to.equal("");
  });

  it("cuts after characters, not within one", () => {
    expect(displayValue(Buffer.from("\u{1f600}".repeat(4)), 3)).to.equal(`${"\u{1f600}".repeat(3)}…`);
    expect(displayValue(Buffer.from("\u{1f600}".repeat(3)), 3)).to.equal("\u{1f600}".repeat(3));
  });
});
