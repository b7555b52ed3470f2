import { expect } from "chai";
import { bytesOfHex, hexLines } from "./hex.ts";

describe("hex dumps", () => {
  it("have sixteen bytes in a line, with the printable characters beside them", () => {
    const bytes = new TextEncoder().encode("<b>bold</b>\n\u{1F600} and more");
    const [first, second, ...rest] = hexLines(bytes, 0x100);
    expect(first).to.deep.equal({
      offset: "00000100",
      bytes: ["3c", "62", "3e", "62", "6f", "6c", "64", "3c", "2f", "62", "3e", "0a", "f0", "9f", "98", "80"],
      text: "<b>bold</b>.....",
    });
    expect([second?.offset, second?.text, rest]).to.deep.equal(["00000110", " and more", []]);
  });

  it("are empty without bytes", () => {
    expect(hexLines(new Uint8Array())).to.deep.equal([]);
  });

  it("are read with spaces and line ends, and refused with anything else", () => {
    expect(bytesOfHex("0aFF\n 7f")).to.deep.equal(new Uint8Array([10, 255, 127]));
    expect(bytesOfHex("")).to.deep.equal(new Uint8Array());
    for (const text of ["0", "0g", "0x0a"]) {
      expect(bytesOfHex(text), text).to.equal(null);
    }
  });
});
