import { expect } from "chai";
import { FakePeerClock } from "../../test/peers/index.ts";
import { RejectedConnectionLog } from "./rejected-connection-log.ts";

describe("RejectedConnectionLog", () => {
  it("writes each kind of line once in ten seconds, and how many it left out", () => {
    const clock = new FakePeerClock();
    const lines: string[] = [];
    const line = (level: string) => (fields: object, message: string) =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
    const log = new RejectedConnectionLog({ info: line("info"), warn: line("warn") }, clock);
    for (let times = 0; times < 1_000; times++) {
      log.add("warn", "not let in", `reason ${times}`);
    }
    log.add("info", "failed in TLS", "reset");
    clock.advance(9_999);
    log.add("warn", "not let in", "too early");
    clock.advance(1);
    log.add("warn", "not let in", "late");
    expect(lines).to.deep.equal([
      'warn not let in {"reason":"reason 0","notLogged":0}',
      'info failed in TLS {"reason":"reset","notLogged":0}',
      'warn not let in {"reason":"late","notLogged":1000}',
    ]);
  });
});
