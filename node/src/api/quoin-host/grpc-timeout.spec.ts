import { expect } from "chai";
import { timeoutMsOf } from "./grpc-timeout.ts";

describe("grpc-timeout", () => {
  it("may have any unit; the result is whole milliseconds, rounded down", () => {
    const cases: readonly (readonly [string, number])[] = [
      ["2H", 7_200_000],
      ["3M", 180_000],
      ["4S", 4_000],
      ["5m", 5],
      ["1999u", 1],
      ["999u", 0],
      ["99999999n", 99],
      ["0m", 0],
      ["99999999H", 359_999_996_400_000],
    ];
    for (const [field, ms] of cases) {
      expect(timeoutMsOf(field), field).to.equal(ms);
    }
  });

  it("is infinite without the field", () => {
    expect(timeoutMsOf(undefined)).to.equal(Infinity);
  });

  it("is malformed in any other form", () => {
    for (const field of ["", "5", "m", "5s", "123456789m", "-1m", "1.5S", "5m ", " 5m", "5mm"]) {
      expect(timeoutMsOf(field), JSON.stringify(field)).to.equal(null);
    }
  });
});
