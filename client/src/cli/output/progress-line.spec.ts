import { Writable } from "node:stream";
import { expect } from "chai";
import { FakeRuntime } from "../../../test/index.ts";
import type { OutputFormat } from "./output.ts";
import { ProgressLine } from "./progress-line.ts";

const ERASE = "\r\u001b[K";

function lineOn(shown: { readonly isTTY?: boolean; readonly columns?: number }, outputFormat: OutputFormat = "table") {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  const runtime = new FakeRuntime();
  const terminal = { stderr: Object.assign(stream, shown), runtime };
  return { chunks, runtime, line: new ProgressLine({ terminal, outputFormat }) };
}

describe("a progress line", () => {
  it("is replaced by the next one, and removed at the end", () => {
    const { chunks, line } = lineOn({ isTTY: true });
    line.show("one");
    line.show("two\n\u001b[2J");
    line.clear();
    line.clear();
    expect(chunks).to.deep.equal([`${ERASE}one`, `${ERASE}two\\n\\u{1b}[2J`, ERASE]);
  });

  it("is shown at most ten times a second where it changes often, and then its text is not made either", () => {
    const { chunks, line, runtime } = lineOn({ isTTY: true });
    let made = 0;
    for (let atMs = 0; atMs < 250; atMs += 10) {
      line.showOften(() => `${++made} of ${atMs}`);
      runtime.advance(10);
    }
    expect(chunks).to.deep.equal([`${ERASE}1 of 0`, `${ERASE}2 of 100`, `${ERASE}3 of 200`]);
    expect(made).to.equal(3);
  });

  it("is never longer than the terminal is wide", () => {
    const { chunks, line } = lineOn({ isTTY: true, columns: 6 });
    line.show("12345");
    line.show("123456");
    expect(chunks).to.deep.equal([`${ERASE}12345`, `${ERASE}1234…`]);
  });

  it("is empty if the output is not a terminal, or is for programs", () => {
    for (const { chunks, line } of [lineOn({}), lineOn({ isTTY: true }, "json"), lineOn({ isTTY: true }, "yaml")]) {
      line.show("one");
      line.clear();
      expect(chunks).to.deep.equal([]);
    }
  });
});
