import { expect } from "chai";
import { type AnsweredRequest, RequestLog } from "./request-log.ts";

const PUT: AnsweredRequest = { protocol: "grpc", method: "/s/Put", status: "OK", requestId: "an id", reason: "" };

describe("RequestLog", () => {
  let nowMs: number;
  let lines: [level: string, fields: Record<string, unknown>, message: string][];

  beforeEach(() => {
    nowMs = 1_000;
    lines = [];
  });

  function logAt(level: "debug" | "info", slowMs = 500): RequestLog {
    const write = (name: string) => (fields: object, message: string) => {
      lines.push([name, { ...fields }, message]);
    };
    const logger = {
      debug: write("debug"),
      warn: write("warn"),
      isLevelEnabled: (asked: string) => asked === "warn" || level === "debug",
    };
    return new RequestLog(logger, slowMs, () => nowMs);
  }

  it("has a line for each request at level debug, and does not evaluate its fields at other levels", () => {
    logAt("debug").add(12.345_67, false, () => PUT);
    expect(lines).to.deep.equal([["debug", { ...PUT, durationMs: 12.346 }, "request"]]);
    logAt("info").add(12, false, () => {
      throw new Error("the fields are not needed");
    });
    expect(lines).to.have.length(1);
  });

  it("warns of slow requests, except requests that wait because the client wants it", () => {
    const log = logAt("info");
    log.add(499.9, false, () => PUT);
    log.add(60_000, true, () => PUT);
    expect(lines).to.deep.equal([]);
    log.add(500, false, () => PUT);
    expect(lines).to.deep.equal([["warn", { ...PUT, durationMs: 500 }, "slow request"]]);
  });

  it("warns of nothing with a threshold of 0", () => {
    logAt("info", 0).add(1e9, false, () => PUT);
    expect(lines).to.deep.equal([]);
  });

  it("has ten lines a second about slow requests, and then says how many it left out", () => {
    const log = logAt("info");
    for (let at = 0; at < 25; at++) {
      log.add(700, false, () => PUT);
    }
    expect(lines).to.have.length(10);
    nowMs += 1_000;
    log.add(700, false, () => PUT);
    log.add(700, false, () => PUT);
    expect(lines.slice(10).map(([, { suppressed }]) => suppressed)).to.deep.equal([15, undefined]);
  });
});
