import { expect } from "chai";
import { parseOptions, UsageError } from "./options.ts";

describe("options of a benchmark", () => {
  it("have defaults: three members, their leader, and nobody beside", () => {
    expect(parseOptions(["put"])).to.deep.equal({
      scenario: "put",
      members: 3,
      beside: null,
      target: "leader",
      inFlight: [1, 64],
      valueBytes: 256,
      seconds: 10,
      operations: 30_000,
      warmUpSeconds: 2,
      output: null,
    });
  });

  it("are read from the arguments", () => {
    const flags = "--members 5 --beside etcd --target any --in-flight 2,8 --value-bytes 1 --seconds 3 --operations 4";
    const options = parseOptions(["get", ...flags.split(" "), "--warm-up-seconds", "1", "--output", "raw.jsonl"]);
    expect(options).to.deep.equal({
      scenario: "get",
      members: 5,
      beside: "etcd",
      target: "any",
      inFlight: [2, 8],
      valueBytes: 1,
      seconds: 3,
      operations: 4,
      warmUpSeconds: 1,
      output: "raw.jsonl",
    });
  });

  for (const args of [
    [],
    ["pot"],
    ["put", "more"],
    ["put", "--members", "2"],
    ["put", "--beside", "nothing"],
    ["put", "--target", "follower"],
    ["put", "--in-flight", "1,,2"],
    ["put", "--in-flight", "0"],
    ["put", "--seconds", "1.5"],
    ["put", "--value-bytes", "1048577"],
  ]) {
    it(`refuse ${JSON.stringify(args)}`, () => {
      expect(() => parseOptions(args)).to.throw(UsageError);
    });
  }
});
