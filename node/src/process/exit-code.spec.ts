import { expect } from "chai";
import { UsageError } from "../command-line/index.ts";
import { JoinTokenFileError, TlsFilesError } from "../peers/index.ts";
import { InvariantViolation } from "../primitives/index.ts";
import { UnknownVersion } from "../state/index.ts";
import { StoreError } from "../storage/index.ts";
import { exitCodeOf, kindOf } from "./exit-code.ts";

describe("exitCodeOf", () => {
  it("shows by its number how to handle an error", () => {
    const codes = new Map<unknown, number>([
      [new InvariantViolation("a rule"), 70],
      [new TypeError("a bug"), 70],
      ["not even an error", 70],
      [new StoreError("io", "the disk"), 71],
      [new UnknownVersion("data of a later release"), 75],
      [new UsageError("--grpc"), 76],
      [new JoinTokenFileError("a file"), 76],
      [new TlsFilesError("a file"), 76],
    ]);
    for (const [error, code] of codes) {
      expect(exitCodeOf(error), String(error)).to.equal(code);
    }
  });

  it("and in words", () => {
    expect(kindOf(new InvariantViolation("a rule"))).to.equal("invariant violated");
    expect(kindOf(new TypeError("a bug"))).to.equal("unexpected failure");
    expect(kindOf(new StoreError("io", "the disk"))).to.equal("the store has failed (io)");
    expect(kindOf(new UnknownVersion("data of a later release"))).to.equal("another release is needed");
    expect(kindOf(new UsageError("--grpc"))).to.equal("wrong configuration");
  });
});
