import { expect } from "chai";
import fc from "fast-check";
import { ServerStream } from "./server-stream.ts";

describe("a stream", () => {
  it("returns its queued bytes in order, in pieces of any length", () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 8 });
    fc.assert(
      fc.property(chunks, fc.array(fc.nat(25), { minLength: 1 }), (all, counts) => {
        const stream = new ServerStream(1, -1, 1, 1);
        for (const chunk of all) {
          stream.queue(chunk);
        }
        const expected = Buffer.concat(all);
        const given: Buffer[] = [];
        for (let at = 0; stream.queuedBytes > 0 && at < 100; at++) {
          const count = Math.min(stream.queuedBytes, counts[at % counts.length] as number);
          const target = Buffer.alloc(count + 2, 0xa5);
          stream.unqueue(count, target, 1);
          expect([target[0], target[count + 1]]).to.deep.equal([0xa5, 0xa5]);
          given.push(target.subarray(1, count + 1));
        }
        const bytes = Buffer.concat(given);
        expect(bytes).to.deep.equal(expected.subarray(0, bytes.length));
        expect(stream.queuedBytes).to.equal(expected.length - bytes.length);
      }),
    );
  });

  it("drops its queued bytes", () => {
    const stream = new ServerStream(1, -1, 1, 1);
    stream.queue(Buffer.from("abc"));
    stream.unqueue(1, Buffer.alloc(1), 0);
    stream.dropQueued();
    stream.queue(Buffer.from("d"));
    const target = Buffer.alloc(1);
    stream.unqueue(stream.queuedBytes, target, 0);
    expect(target.toString()).to.equal("d");
  });
});
