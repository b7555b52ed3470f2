import { expect } from "chai";
import { Turns } from "../../collections/index.ts";
import { allowedMs, startDeadline } from "./deadline.ts";

describe("deadline", () => {
  const NOW_MS = 1_750_000_000_000;

  it("is 5 s if the client sets none", () => {
    expect(allowedMs(Infinity, NOW_MS)).equal(5_000);
  });

  it("is what the client sets, up to 60 s", () => {
    expect(allowedMs(NOW_MS + 1, NOW_MS)).equal(1);
    expect(allowedMs(NOW_MS + 10_000, NOW_MS)).equal(10_000);
    expect(allowedMs(NOW_MS + 60_000, NOW_MS)).equal(60_000);
    expect(allowedMs(NOW_MS + 60_001, NOW_MS)).equal(60_000);
  });

  it("of a call that waits for a lock is what the client sets, up to an hour, else the wait and 5 s", () => {
    expect(allowedMs(Infinity, NOW_MS, 20_000)).equal(25_000);
    expect(allowedMs(Infinity, NOW_MS, 7_200_000)).equal(3_600_000);
    expect(allowedMs(NOW_MS + 100_000, NOW_MS, 20_000)).equal(100_000);
    expect(allowedMs(NOW_MS + 1, NOW_MS, 20_000)).equal(1);
    expect(allowedMs(NOW_MS + 3_600_001, NOW_MS, 1)).equal(3_600_000);
    expect(allowedMs(NOW_MS + 60_001, NOW_MS, 0)).equal(60_000);
  });

  it("has passed if it is now or earlier", () => {
    expect(allowedMs(NOW_MS, NOW_MS)).equal(0);
    expect(allowedMs(NOW_MS - 7, NOW_MS)).equal(-7);
  });

  it("is missed by one call after the other, in turns", async () => {
    const missed: number[] = [];
    let nowMs = 0;
    const later: (() => void)[] = [];
    const turns = new Turns({ nowMs: () => nowMs, later: (callback) => void later.push(callback) });
    await new Promise<void>((resolve) => {
      for (let at = 0; at < 10; at++) {
        startDeadline("a", 0, () => (nowMs = missed.push(at)), turns);
      }
      // Timers of the same time end in their order.
      startDeadline("b", 0, resolve, new Turns());
    });
    expect(missed, "a slice is 4 ms").to.deep.equal([0, 1, 2, 3]);
    for (const callback of later.splice(0)) {
      callback();
    }
    expect(missed).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});
