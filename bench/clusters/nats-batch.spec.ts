import { expect } from "chai";
import { encodeBatch, linesOf } from "./nats-batch.ts";

describe("a batch for NATS", () => {
  it("is a publish with headers for each message, numbered from 1 on", () => {
    const headers = (sequence: number) => `NATS/1.0\r\nNats-Batch-Id: b\r\nNats-Batch-Sequence: ${sequence}\r\n\r\n`;
    expect(headers(1)).to.have.length(54);
    expect(encodeBatch("log", "b", [Buffer.from("one"), Buffer.alloc(0)]).toString()).to.equal(
      `HPUB log 54 57\r\n${headers(1)}one\r\nHPUB log 54 54\r\n${headers(2)}\r\n`,
    );
    expect(encodeBatch("log", "b", [])).to.have.length(0);
  });

  it("has room for the longest names and numbers", () => {
    const [subject, batch] = ["s".repeat(255), "b".repeat(64)];
    const messages = Array.from({ length: 10_000 }, () => Buffer.from("v"));
    const lines = encodeBatch(subject, batch, messages).toString().split("\r\n");
    expect(lines.slice(-7)).to.deep.equal([
      `HPUB ${subject} 121 122`,
      "NATS/1.0",
      `Nats-Batch-Id: ${batch}`,
      "Nats-Batch-Sequence: 10000",
      ...["", "v", ""],
    ]);
  });

  it("comes from lines", () => {
    const text = (lines: string) => linesOf(Buffer.from(lines)).map(String);
    expect(text("one\n\ntwo\n")).to.deep.equal(["one", "", "two"]);
    expect(text("one\nno line")).to.deep.equal(["one"]);
    expect(text("")).to.deep.equal([]);
  });
});
