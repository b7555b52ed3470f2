import { expect } from "chai";
import { parseOptions, UsageError } from "./options.ts";

describe("options of a benchmark", () => {
  it("have defaults: three members, their leader, and nobody beside", () => {
    const { scenario, ...others } = parseOptions(["put"]) ?? {};
    expect(scenario?.name).to.equal("put");
    expect(others).to.deep.equal({
      members: 3,
      beside: null,
      target: "leader",
      concurrency: [1, 64],
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
    const { scenario, ...others } = options ?? {};
    expect(scenario?.name).to.equal("get");
    expect(others).to.deep.equal({
      members: 5,
      beside: "etcd",
      target: "any",
      concurrency: [2, 8],
      valueBytes: 1,
      seconds: 3,
      operations: 4,
      warmUpSeconds: 1,
      output: "raw.jsonl",
    });
  });

  for (const [scenario, flag, counts] of [
    ["lock", "--in-flight", [1, 64]],
    ["handover", "--waiters", [50]],
    ["cas", "--clients", [1, 16]],
    ["memory", "--in-flight", [1, 64]],
    ["watch", "--watchers", [1, 100, 1000]],
  ] as const) {
    it(`of ${scenario} say with ${flag} how many there are at once`, () => {
      expect(parseOptions([scenario])).to.deep.include({ concurrency: counts, beside: null });
      expect(parseOptions([scenario, flag, "3,4"])?.concurrency).to.deep.equal([3, 4]);
    });
  }

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
    ["put", "--watchers", "3"],
    ["watch", "--in-flight", "3"],
    ["watch", "--watchers", "0"],
    ["handover", "--waiters", "many"],
    ["lock", "--value-bytes", "1"],
    ["memory", "--beside", "etcd"],
  ]) {
    it(`refuse ${JSON.stringify(args)}`, () => {
      expect(() => parseOptions(args)).to.throw(UsageError);
    });
  }
});
