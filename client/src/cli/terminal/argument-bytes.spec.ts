import { expect } from "chai";
import { UsageError } from "../errors/index.ts";
import { requireUtf8 } from "./argument-bytes.ts";

function commandLine(...words: readonly (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(words.flatMap((word) => [Buffer.from(word as string), Buffer.of(0)]));
}

describe("requireUtf8", () => {
  it("does not look at the command line without U+FFFD", () => {
    requireUtf8(["kv", "put", "n/Grüße", ""], () => expect.fail("it was read"));
  });

  it("finds the argument behind those of Node, empty ones included", () => {
    const bytes = Uint8Array.of(0x78, 0xfe);
    const given = commandLine("node", "--flag", "main.js", "kv", "", bytes, "");
    expect(() => requireUtf8(["kv", "", "x\ufffd", ""], () => given)).to.throw(
      UsageError,
      "argument 3 of quoinctl is not UTF-8: x\\xfe",
    );
    requireUtf8(["kv", "", "x\ufffd", ""], () => commandLine("node", "main.js", "kv", "", "x\ufffd", ""));
  });

  it("refuses U+FFFD where it cannot know the bytes", () => {
    for (const given of [null, new Uint8Array(0), commandLine("another title"), commandLine("node", "y\ufffd")]) {
      expect(() => requireUtf8(["x\ufffd"], () => given)).to.throw(
        UsageError,
        "argument 1 of quoinctl has the character",
      );
    }
  });

  it("shows the beginning of a long argument", () => {
    const bytes = Buffer.concat([Buffer.alloc(100, "a"), Buffer.of(0xff)]);
    expect(() => requireUtf8([bytes.toString()], () => commandLine(bytes))).to.throw(
      UsageError,
      `is not UTF-8: ${"a".repeat(60)}…`,
    );
  });
});
