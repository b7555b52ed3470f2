import { expect } from "chai";
import fc from "fast-check";
import { SendQueue } from "./send-queue.ts";
import { ServerStream } from "./server-stream.ts";

describe("a queue of streams", () => {
  it("has the streams in the order of adding, without the removed ones", () => {
    const step = fc.tuple(fc.boolean(), fc.nat(6));
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const streams = Array.from({ length: 7 }, (_, at) => new ServerStream(at, -1, 1, 1));
        const queue = new SendQueue();
        let model: ServerStream[] = [];
        for (const [adds, at] of steps) {
          const stream = streams[at] as ServerStream;
          if (adds) {
            queue.add(stream);
            model = model.includes(stream) ? model : [...model, stream];
          } else {
            queue.remove(stream);
            model = model.filter((each) => each !== stream);
          }
          const found: ServerStream[] = [];
          for (let each = queue.first; each !== null; each = each.next) {
            found.push(each);
          }
          expect(found.map(({ id }) => id)).to.deep.equal(model.map(({ id }) => id));
        }
      }),
    );
  });
});
