import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { readStamps, StampLog, type TimedStamp, TimelineError } from "./stamp-log.ts";

function stampAt(atNs: number, name: TimedStamp["name"], first = 0): TimedStamp {
  return { atNs, name, first, second: 0, third: 0, text: "" };
}

describe("the stamps of a process", () => {
  const log = new StampLog("member 2", [
    stampAt(30, "turn.begun"),
    stampAt(10, "turn.begun"),
    stampAt(20, "log.begun", 7),
    stampAt(40, "log.begun", 8),
  ]);

  it("are found by name and time, in any order of writing", () => {
    expect(log.first("turn.begun", 11).atNs).to.equal(30);
    expect(log.first("turn.begun", 10).atNs).to.equal(10);
    expect(log.last("turn.begun", 30).atNs).to.equal(30);
    expect(log.last("turn.begun", 29).atNs).to.equal(10);
  });

  it("are found by the identifiers of the write", () => {
    expect(log.first("log.begun", 0, ({ first }) => first === 8).atNs).to.equal(40);
    expect(log.last("log.begun", 99, ({ first }) => first === 7).atNs).to.equal(20);
  });

  it("are missing with an error that names the process, the step and the time", () => {
    expect(log.find("turn.begun", 31)).to.equal(null);
    expect(() => log.first("turn.begun", 31)).to.throw(TimelineError, "member 2 has no stamp turn.begun after 31 ns");
    expect(() => log.last("log.begun", 19)).to.throw(TimelineError, "member 2 has no stamp log.begun before 19 ns");
  });
});

describe("files of stamps", () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "quoin-stamps-"));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it("are put together by process", () => {
    writeFileSync(join(directory, "12-0.jsonl"), '[5,"progress.sent",1,2,3,"append"]\n[6,"turn.begun",0,0,0,""]\n');
    writeFileSync(join(directory, "12-1.jsonl"), '[7,"log.begun",9,0,0,""]\n');
    writeFileSync(join(directory, "34-0.jsonl"), '[8,"turn.begun",0,0,0,""]\n');
    expect([...readStamps(directory)].map(([pid, stamps]) => [pid, stamps.length])).to.have.deep.members([
      [12, 3],
      [34, 1],
    ]);
    const sent = { atNs: 5, name: "progress.sent", first: 1, second: 2, third: 3, text: "append" };
    expect(readStamps(directory).get(12)).to.deep.include(sent);
  });
});
