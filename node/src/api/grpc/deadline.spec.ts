import { expect } from "chai";
import { allowedMs } from "./deadline.ts";

describe("deadline", () => {
  const NOW_MS = 1_750_000_000_000;

  it("is 5 s where the client sets none", () => {
    expect(allowedMs(Infinity, NOW_MS)).equal(5_000);
  });

  it("is what the client sets, up to 60 s", () => {
    expect(allowedMs(NOW_MS + 1, NOW_MS)).equal(1);
    expect(allowedMs(new Date(NOW_MS + 10_000), NOW_MS)).equal(10_000);
    expect(allowedMs(NOW_MS + 60_000, NOW_MS)).equal(60_000);
    expect(allowedMs(NOW_MS + 60_001, NOW_MS)).equal(60_000);
  });

  it("is over when it is now or was before", () => {
    expect(allowedMs(NOW_MS, NOW_MS)).equal(0);
    expect(allowedMs(NOW_MS - 7, NOW_MS)).equal(-7);
  });
});
