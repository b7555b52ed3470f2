import { expect } from "chai";
import { HoldOrder } from "./hold-order.ts";

describe("holds of one lock", () => {
  function judge(holds: readonly (readonly [token: number, releasedAt: number])[]): void {
    const order = new HoldOrder();
    for (const [token, releasedAt] of holds) {
      order.add(BigInt(token), BigInt(releasedAt));
    }
  }

  it("follow each other, at once or later", () => {
    judge([]);
    judge([
      [5, 6],
      [7, 8],
      [8, 20],
      [30, 31],
    ]);
  });

  for (const [what, holds, message] of [
    [
      "overlap",
      [
        [5, 9],
        [7, 10],
      ],
      "held at revision 7, but the hold before it ended at 9",
    ],
    [
      "have the same token",
      [
        [5, 6],
        [5, 7],
      ],
      "held at revision 5",
    ],
    [
      "have an older token",
      [
        [5, 6],
        [3, 4],
      ],
      "held at revision 3",
    ],
    ["end before they begin", [[5, 5]], "held at revision 5, but released at 5"],
  ] as const) {
    it(`are refused when they ${what}`, () => {
      expect(() => judge(holds)).to.throw(message);
    });
  }
});
