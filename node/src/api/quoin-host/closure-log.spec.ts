import { expect } from "chai";
import { ClosureLog, type ClosureReason, CUT } from "./closure-log.ts";

describe("ClosureLog", () => {
  let nowMs: number;
  let lines: string[];
  let log: ClosureLog;

  beforeEach(() => {
    nowMs = 0;
    lines = [];
    const warn = (fields: object, message: string) => {
      const { port, reason, address, notLogged } = fields as Readonly<Record<string, unknown>>;
      expect([port, message]).to.deep.equal(["grpc", "a connection was closed because of what its client did"]);
      lines.push(`${reason} ${address} ${notLogged}`);
    };
    log = new ClosureLog({ log: { warn }, portName: "grpc", monotonicMs: () => nowMs });
  });

  function close(reason: ClosureReason, count: number): void {
    for (let at = 0; at < count; at++) {
      log.closed(reason, "a:1");
    }
  }

  it("logs one line a second of each reason, with the number of lines that it left out before", () => {
    close("too-many-pings", 3);
    nowMs = 999;
    close("too-many-pings", 2);
    expect(lines).to.deep.equal(["too-many-pings a:1 0"]);
    nowMs = 1_000;
    close("too-many-pings", 2);
    expect(lines).to.deep.equal(["too-many-pings a:1 0", "too-many-pings a:1 4"]);
  });

  it("logs each reason in the same second: one reason never hides another", () => {
    close("too-many-resets", 1_000);
    close("answers-not-taken", 1);
    close(CUT, 2);
    expect(lines).to.deep.equal(["too-many-resets a:1 0", "answers-not-taken a:1 0", "too-many-refused-calls a:1 0"]);
  });
});
