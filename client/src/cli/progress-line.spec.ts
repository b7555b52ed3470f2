import { Writable } from "node:stream";
import { expect } from "chai";
import { ProgressLine } from "./progress-line.ts";

const erase = "\r\u001b[K";

function lineOn(terminal: { readonly isTTY?: boolean; readonly columns?: number }) {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  return { chunks, line: new ProgressLine({ stderr: Object.assign(stream, terminal) }) };
}

describe("a progress line", () => {
  it("is replaced by the next one, and removed at the end", () => {
    const { chunks, line } = lineOn({ isTTY: true });
    line.show("one");
    line.show("two\n\u001b[2J");
    line.clear();
    line.clear();
    expect(chunks).to.deep.equal([`${erase}one`, `${erase}two\\n\\u{1b}[2J`, erase]);
  });

  it("is never longer than the terminal is wide", () => {
    const { chunks, line } = lineOn({ isTTY: true, columns: 6 });
    line.show("12345");
    line.show("123456");
    expect(chunks).to.deep.equal([`${erase}12345`, `${erase}1234…`]);
  });

  it("is empty if the output is not a terminal", () => {
    const { chunks, line } = lineOn({});
    line.show("one");
    line.clear();
    expect(chunks).to.deep.equal([]);
  });
});
