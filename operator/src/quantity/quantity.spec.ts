import { expect } from "chai";
import { amountOf, parseQuantity } from "./quantity.ts";

describe("quantities of Kubernetes", () => {
  it("are read as Kubernetes writes them, rounded up", () => {
    const texts = ["8Gi", "1.5Ki", "2G", "100m", "3e2", "7", "0.5Ti", "2e9", "1288490188800m", "+1E", "7u", "5."];
    expect(texts.map(parseQuantity)).to.deep.equal([
      ...[8 * 1024 ** 3, 1536, 2e9, 1, 300, 7, 512 * 1024 ** 3, 2e9, 1_288_490_189, 1e18, 1, 5],
    ]);
  });

  it("have exact amounts below one", () => {
    expect(["250m", "0.7", "700m", "100u", "5n"].map(amountOf)).to.deep.equal([0.25, 0.7, 0.7, 1e-4, 5e-9]);
  });

  it("are nothing else", () => {
    for (const text of ["", "Gi", "1X", "-1", "1 Gi", "1e", "m", "1mi", "."]) {
      expect(parseQuantity(text), text).to.equal(undefined);
    }
  });
});
