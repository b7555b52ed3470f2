import { Writable } from "node:stream";
import { expect } from "chai";
import { parse } from "yaml";
import { CommandError } from "../errors/index.ts";
import { type OutputFormat, printResult, type Result } from "./output.ts";

async function print(format: OutputFormat, result: Partial<Result>, isTTY = false): Promise<string> {
  const chunks: Buffer[] = [];
  const stdout = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      done();
    },
  });
  await printResult({ stdout: Object.assign(stdout, { isTTY }), environment: {} }, format, {
    document: {},
    shown: { columns: [], rows: [] },
    ...result,
  });
  return Buffer.concat(chunks).toString();
}

describe("printResult", () => {
  it("aligns the columns of a table, wide characters too, and leaves no space at the end of a line", async () => {
    const rows = [
      ["short", "1"],
      ["世界世界", "2"],
      ["", ""],
    ];
    expect(await print("table", { shown: { columns: ["NAME", "N"], rows } })).to.equal(
      "NAME      N\nshort     1\n世界世界  2\n\n",
    );
  });

  it("writes the cells of a table as texts, which no terminal obeys", async () => {
    const rows = [["a\u001b[2J\nb", 7, false, new Date(0), undefined]];
    expect(await print("table", { shown: { columns: ["A", "B", "C", "D", "E"], rows } })).to.equal(
      "A              B  C      D                         E\na\\u{1b}[2J\\nb  7  false  1970-01-01T00:00:00.000Z  -\n",
    );
  });

  it("aligns a long table from its first row to its last, in linear time", async () => {
    const rows = Array.from({ length: 5_000 }, (_, index) => [index === 4_321 ? "the widest" : "x", String(index)]);
    const lines = (await print("table", { shown: { columns: ["NAME", "N"], rows } })).split("\n");
    expect(lines).to.have.length(5_002);
    expect(lines[0]).to.equal("NAME        N");
    expect(lines[1]).to.equal("x           0");
    expect(lines[4_322]).to.equal("the widest  4321");
    expect(lines[5_000]).to.equal("x           4999");
    expect(new Set(lines.slice(0, -1).map((line) => line.search(/\S+$/)))).to.deep.equal(new Set([12]));
  });

  it("prints only the head of a table in bold, and only on a terminal", async () => {
    const shown = { columns: ["NAME"], rows: [["x"]] };
    expect(await print("table", { shown }, true)).to.equal("\u001b[1mNAME\u001b[22m\nx\n");
    expect(await print("table", { shown })).to.equal("NAME\nx\n");
  });

  it("prints bytes as they are", async () => {
    expect(await print("table", { shown: Buffer.from("as is") })).to.equal("as is");
  });

  it("writes no binary value to a terminal, which obeys control characters", async () => {
    for (const text of ["plain", "tab\tand\r\nline", "\u{1f600} \u00e4"]) {
      expect(await print("table", { shown: Buffer.from(text) }, true)).to.equal(text);
    }
    for (const bytes of [[0xff], [0x00], [0x1b], [0x7f], [0xc2, 0x9b], [0x61, 0xc3]]) {
      const refused = await print("table", { shown: Uint8Array.from(bytes) }, true).catch((error: unknown) => error);
      expect(refused, bytes.join()).to.be.instanceOf(CommandError).with.property("hint").that.includes("--raw");
      expect(await print("table", { shown: Uint8Array.from(bytes) })).to.equal(Buffer.from(bytes).toString());
    }
  });

  it("prints documents that JSON and YAML read back as they were", async () => {
    const document = { text: "null", number: 1, list: ["yes", "1e3", " \n\u0000\u001b", "\u{1f600}"], none: null };
    expect(JSON.parse(await print("json", { document }))).to.deep.equal(document);
    expect(parse(await print("yaml", { document }))).to.deep.equal(document);
  });
});
