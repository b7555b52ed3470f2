import { expect } from "chai";
import { type BenchOptions, parseOptions, UsageError } from "./options.ts";

/** The options of a measurement of clusters. */
function clusterOptions(args: readonly string[]): BenchOptions {
  const asked = parseOptions(args);
  if (asked?.kind !== "clusters") {
    throw new Error(`${args.join(" ")} asks for no clusters`);
  }
  return asked.options;
}

describe("options of a benchmark", () => {
  it("have defaults: three members, their leader, and no other system", () => {
    const { scenario, ...others } = clusterOptions(["put"]);
    expect(scenario.name).to.equal("put");
    expect(others).to.deep.equal({
      members: 3,
      beside: null,
      besideFlags: [],
      besideCheckout: null,
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
    const options = clusterOptions(["get", ...flags.split(" "), "--warm-up-seconds", "1", "--output", "raw.jsonl"]);
    const { scenario, ...others } = options;
    expect(scenario.name).to.equal("get");
    expect(others).to.deep.equal({
      members: 5,
      beside: "etcd",
      besideFlags: [],
      besideCheckout: null,
      target: "any",
      concurrency: [2, 8],
      valueBytes: 1,
      seconds: 3,
      operations: 4,
      warmUpSeconds: 1,
      output: "raw.jsonl",
    });
  });

  it("name another cluster of Quoin, its flags and its sources", () => {
    const flags = ["--beside-flags", " --trace-ratio 0.01  --trace-slow-ms 0 ", "--beside-checkout", "../other"];
    expect(clusterOptions(["memory", "--beside", "quoin", ...flags])).to.deep.include({
      beside: "quoin",
      besideFlags: ["--trace-ratio", "0.01", "--trace-slow-ms", "0"],
      besideCheckout: "../other",
    });
    expect(clusterOptions(["put", "--beside", "quoin"])).to.deep.include({ besideFlags: [], besideCheckout: null });
  });

  for (const [scenario, flag, counts] of [
    ["lock", "--in-flight", [1, 64]],
    ["handover", "--waiters", [50]],
    ["cas", "--clients", [1, 16]],
    ["memory", "--in-flight", [1, 64]],
    ["watch", "--watchers", [1, 100, 1000]],
    ["transact", "--puts", [1, 10, 100, 1000]],
    ["increment", "--clients", [1, 16]],
    ["session", "--in-flight", [1, 64]],
    ["keep-alive", "--sessions", [10_000]],
  ] as const) {
    it(`of ${scenario} set the concurrency with ${flag}`, () => {
      expect(clusterOptions([scenario])).to.deep.include({ concurrency: counts, beside: null });
      expect(clusterOptions([scenario, flag, "3,4"]).concurrency).to.deep.equal([3, 4]);
    });
  }

  it("of micro-benchmarks have defaults, and are read from the arguments", () => {
    expect(parseOptions(["micro"])).to.deep.equal({
      kind: "micro",
      options: { pattern: null, measuredMs: 300, output: null, against: null },
    });
    const args = ["micro", "--grep", "put", "--milliseconds", "50", "--output", "now.json", "--against", "before.json"];
    expect(parseOptions(args)).to.deep.equal({
      kind: "micro",
      options: { pattern: /put/, measuredMs: 50, output: "now.json", against: "before.json" },
    });
  });

  it("of noisy have defaults, and are read from the arguments", () => {
    const defaults = { seconds: 10, only: null, markdown: null, json: null };
    expect(parseOptions(["noisy"])).to.deep.equal({ kind: "noisy", options: defaults });
    const args = "noisy --seconds 2 --only ^puts --markdown m --json j";
    expect(parseOptions(args.split(" "))).to.deep.equal({
      kind: "noisy",
      options: { seconds: 2, only: /^puts/, markdown: "m", json: "j" },
    });
    expect(() => parseOptions(["noisy", "--only", "("])).to.throw(UsageError, "--only");
  });

  it("of interference have defaults, and are read from the arguments", () => {
    const counts = { rounds: 3, seconds: 20, inFlight: 16, valueBytes: 4_096, missedMib: 256, warmUpSeconds: 5 };
    expect(parseOptions(["interference"])).to.deep.equal({
      kind: "interference",
      options: { ...counts, markdown: null, json: null },
    });
    const args = "interference --rounds 1 --seconds 2 --in-flight 3 --value-bytes 4 --missed-mib 192 --json j";
    expect(parseOptions([...args.split(" "), "--warm-up-seconds", "6"])).to.deep.equal({
      kind: "interference",
      options: {
        rounds: 1,
        seconds: 2,
        inFlight: 3,
        valueBytes: 4,
        missedMib: 192,
        warmUpSeconds: 6,
        markdown: null,
        json: "j",
      },
    });
    expect(() => parseOptions(["interference", "--missed-mib", "191"])).to.throw(UsageError, "at least 192");
  });

  it("of soak have defaults, and are read from the arguments", () => {
    const files = { output: null, markdown: null, svg: null };
    expect(parseOptions(["soak"])).to.deep.equal({
      kind: "soak",
      options: { seconds: 3_600, eventSeconds: 120, sampleSeconds: 10, ...files },
    });
    const args = "soak --minutes 2 --event-seconds 20 --output o --markdown m --svg s";
    expect(parseOptions(args.split(" "))).to.deep.equal({
      kind: "soak",
      options: { seconds: 120, eventSeconds: 20, sampleSeconds: 10, output: "o", markdown: "m", svg: "s" },
    });
    expect(() => parseOptions(["soak", "--minutes", "0.5"])).to.throw(UsageError, "--minutes");
  });

  it("of scale have defaults, and are read from the arguments", () => {
    const burdens = { locks: 10_000, sessions: 20_000, watches: 10_000, logs: 1_000 };
    const fixed = { restSeconds: 15, burdens };
    const counts = { keys: 10_000_000, valueBytes: 100, inFlight: 16, diskGib: 60 };
    expect(parseOptions(["scale"])).to.deep.equal({
      kind: "scale",
      options: { ...counts, ...fixed, markdown: null, json: null },
    });
    const args = "scale --keys 5 --value-bytes 6 --in-flight 7 --disk-gib 8 --markdown m --json j";
    expect(parseOptions(args.split(" "))).to.deep.equal({
      kind: "scale",
      options: { keys: 5, valueBytes: 6, inFlight: 7, diskGib: 8, ...fixed, markdown: "m", json: "j" },
    });
    expect(() => parseOptions(["scale", "--value-bytes", "32769"])).to.throw(UsageError, "at most 32768");
  });

  it("of sessions have defaults, and are read from the arguments", () => {
    const counts = { sessions: 20_000, ttlSeconds: 10, seconds: 60, elections: 10 };
    expect(parseOptions(["sessions"])).to.deep.equal({
      kind: "sessions",
      options: { ...counts, markdown: null, json: null },
    });
    const args = "sessions --sessions 60 --ttl-seconds 2 --seconds 3 --elections 1 --markdown m --json j";
    expect(parseOptions(args.split(" "))).to.deep.equal({
      kind: "sessions",
      options: { sessions: 60, ttlSeconds: 2, seconds: 3, elections: 1, markdown: "m", json: "j" },
    });
    for (const sessions of ["1", "5001"]) {
      const tooMany = ["sessions", "--ttl-seconds", "2", "--sessions", sessions];
      expect(() => parseOptions(tooMany)).to.throw(UsageError, "2 to 5000");
    }
  });

  it("of a timeline have defaults, and are read from the arguments", () => {
    expect(parseOptions(["timeline"])).to.deep.equal({
      kind: "timeline",
      options: { operations: 500, warmUpSeconds: 3, markdown: null, json: null },
    });
    const args = "timeline --operations 9 --warm-up-seconds 1 --markdown m --json j";
    expect(parseOptions(args.split(" "))).to.deep.equal({
      kind: "timeline",
      options: { operations: 9, warmUpSeconds: 1, markdown: "m", json: "j" },
    });
  });

  for (const args of [
    [],
    ["timeline", "--operations", "0"],
    ["timeline", "--members", "5"],
    ["micro", "--grep", "("],
    ["micro", "--milliseconds", "0"],
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
    ["put", "--beside-flags", "--trace-slow-ms 0"],
    ["put", "--beside", "etcd", "--beside-checkout", "."],
  ]) {
    it(`refuse ${JSON.stringify(args)}`, () => {
      expect(() => parseOptions(args)).to.throw(UsageError);
    });
  }
});

function comparison(...args: readonly string[]) {
  const asked = parseOptions(["compare", ...args]);
  if (asked?.kind !== "compare") {
    throw new Error("this asks for no comparison");
  }
  const { scenarios, ...others } = asked.options;
  return { scenarios: scenarios.map(({ name }) => name), ...others };
}

describe("options of a comparison", () => {
  it("have defaults: everything that the other system supports as well", () => {
    expect(comparison("--peer", "etcd")).to.deep.equal({
      peer: "etcd",
      generator: "node",
      scenarios: [
        ...["put", "get", "lock", "handover", "watch", "cas"],
        ...["transact", "increment", "session", "keep-alive"],
      ],
      seconds: 10,
      operations: 30_000,
      warmUpSeconds: 2,
      markdown: null,
      json: null,
    });
  });

  it("have the scenarios that the other system has a counterpart for", () => {
    expect(comparison("--peer", "nats").scenarios).to.deep.equal(["append-keyed", "append-http", "append-batch"]);
    expect(comparison("--peer", "nats", "--scenario", "append-batch").scenarios).to.deep.equal(["append-batch"]);
  });

  it("have only puts and gets with the generator in Go", () => {
    const { generator, scenarios } = comparison("--peer", "etcd", "--generator", "go");
    expect({ generator, scenarios }).to.deep.equal({ generator: "go", scenarios: ["put", "get"] });
  });

  it("are read from the arguments", () => {
    const args = "--peer etcd --scenario get,put --seconds 3 --operations 4 --warm-up-seconds 1 --markdown m --json j";
    expect(comparison(...args.split(" "))).to.deep.equal({
      peer: "etcd",
      generator: "node",
      scenarios: ["get", "put"],
      seconds: 3,
      operations: 4,
      warmUpSeconds: 1,
      markdown: "m",
      json: "j",
    });
  });

  for (const [what, args] of [
    ["no other system", []],
    ["an unknown system", ["--peer", "consul"]],
    ["an unknown scenario", ["--peer", "etcd", "--scenario", "pot"]],
    ["a scenario that the other system does not have", ["--peer", "etcd", "--scenario", "put,append"]],
    ["a scenario that is only beside another system", ["--peer", "nats", "--scenario", "put"]],
    ["an unknown generator", ["--peer", "etcd", "--generator", "rust"]],
    ["a scenario that the generator cannot do", ["--peer", "etcd", "--generator", "go", "--scenario", "lock"]],
    ["a system that the generator cannot ask", ["--peer", "nats", "--generator", "go"]],
    ["a scenario twice", ["--peer", "etcd", "--scenario", "put,put"]],
    ["a run without a length", ["--peer", "etcd", "--seconds", "0"]],
  ] as const) {
    it(`refuse ${what}`, () => {
      expect(() => comparison(...args)).to.throw(UsageError);
    });
  }
});
