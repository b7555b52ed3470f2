import { expect } from "chai";
import type { WatchedPut } from "../clusters/index.ts";
import { failureOf } from "../test/index.ts";
import { Deliveries } from "./deliveries.ts";

const put = (key: string, revision: number): WatchedPut => ({ key, revision: BigInt(revision) });

describe("deliveries to watchers", () => {
  let deliveries: Deliveries;

  beforeEach(() => {
    deliveries = new Deliveries(2);
  });

  it("are complete when every watcher has received them, with the time at each", async () => {
    const delivered = deliveries.expect("k");
    deliveries.onDelivered(1, [put("k", 7)], 3.5);
    expect(deliveries.describeMissing()).to.equal("1 watchers did not receive k");
    deliveries.onDelivered(0, [put("k", 7)], 4);
    const { revision, arrivedMs } = await delivered;
    expect([revision, ...arrivedMs]).to.deep.equal([7n, 4, 3.5]);
    expect(deliveries.describeMissing()).to.equal("");
  });

  it("may be of several puts in flight, in one message or in several", async () => {
    const all = [deliveries.expect("k"), deliveries.expect("l")];
    deliveries.onDelivered(0, [put("l", 7), put("k", 8)], 1);
    deliveries.onDelivered(1, [put("l", 7)], 2);
    deliveries.onDelivered(1, [put("k", 8)], 3);
    expect((await Promise.all(all)).map(({ revision }) => revision)).to.deep.equal([8n, 7n]);
  });

  const twoPuts = [put("k", 7), put("l", 8)];
  for (const [what, messages, message] of [
    ["twice in one message", [[0, [put("k", 7), put("k", 7)]]], "behind revision 7"],
    [
      "twice in two messages",
      [
        [0, [put("k", 7)]],
        [0, [put("k", 7)]],
      ],
      "behind revision 7",
    ],
    [
      "twice at two revisions",
      [
        [0, [put("k", 7)]],
        [0, [put("k", 9)]],
      ],
      "k at revision 9 twice",
    ],
    [
      "out of order",
      [
        [0, [put("l", 8)]],
        [0, [put("k", 7)]],
      ],
      "k at revision 7 behind revision 8",
    ],
    [
      "again after it has arrived everywhere",
      [
        [0, twoPuts],
        [1, twoPuts],
        [1, [put("k", 9)]],
      ],
      "not expected",
    ],
    ["of a key that was not put", [[0, [put("m", 7)]]], "m at revision 7 which is not expected"],
    [
      "of another revision than others",
      [
        [0, [put("k", 7)]],
        [1, [put("k", 8)]],
      ],
      "another one at revision 7",
    ],
  ] as const) {
    it(`fail when a watcher receives a put ${what}`, async () => {
      const expected = [deliveries.expect("k"), deliveries.expect("l")];
      for (const [watcher, puts] of messages) {
        deliveries.onDelivered(watcher, puts, 0);
      }
      // If both had arrived before the error, the next one shows it.
      expect(await failureOf(Promise.all([...expected, deliveries.expect("n")]))).to.contain(message);
    });
  }

  it("fail with the first failure, for all current and later expectations", async () => {
    const failure = failureOf(deliveries.expect("k"));
    deliveries.fail(new Error("the stream ended"));
    deliveries.fail(new Error("another one"));
    expect(await failure).to.contain("the stream ended");
    expect(await failureOf(deliveries.expect("l"))).to.contain("the stream ended");
  });
});
