import { expect } from "chai";
import { RepeatedMessages } from "./repeated-messages.ts";

describe("repeated messages", () => {
  it("are decoded once as long as the bytes are the same, and again when they differ", () => {
    const decoded: string[] = [];
    const messages = new RepeatedMessages((bytes) => {
      decoded.push(bytes.toString());
      return bytes.toString().toUpperCase();
    });
    const told = ["one", "one", "two", "onet", "one"].map((text) => messages.decode(Buffer.from(text)));
    expect(told).to.deep.equal(["ONE", "ONE", "TWO", "ONET", "ONE"]);
    expect(decoded).to.deep.equal(["one", "two", "onet", "one"]);
  });

  it("that cannot be decoded are refused each time", () => {
    const messages = new RepeatedMessages(() => {
      throw new Error("cut");
    });
    for (let times = 0; times < 2; times++) {
      expect(() => messages.decode(Buffer.from("x"))).to.throw("cut");
    }
  });
});
