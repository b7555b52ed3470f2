import { expect } from "chai";
import fc from "fast-check";
import { MessageSplitter, withPrefix } from "./message-splitter.ts";

describe("messages of a stream", () => {
  it("are the same however the stream is cut into pieces", () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 });
    fc.assert(
      fc.property(messages, fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }), (sent, sizes) => {
        const stream = Buffer.concat(sent.map(withPrefix));
        const splitter = new MessageSplitter();
        const received: Buffer[] = [];
        for (let at = 0, count = 0; at < stream.length; count++) {
          const size = sizes[count % sizes.length] as number;
          received.push(...splitter.push(stream.subarray(at, at + size)));
          at += size;
        }
        expect(received.map((message) => message.toString("hex"))).to.deep.equal(
          sent.map((message) => Buffer.from(message).toString("hex")),
        );
      }),
    );
  });

  it("are refused when compressed", () => {
    const compressed = withPrefix(Buffer.from("x"));
    compressed[0] = 1;
    expect(() => new MessageSplitter().push(compressed)).to.throw("compressed");
  });
});
