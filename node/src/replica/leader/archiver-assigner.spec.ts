import { expect } from "chai";
import { NO_ARCHIVE } from "../../peers/index.ts";
import { ARCHIVER_AWAY_MS, ArchiverAssigner } from "./archiver-assigner.ts";

const LEADER = 1;
const IDLE = NO_ARCHIVE;
const ARCHIVING = { ...NO_ARCHIVE, isArchiving: true, index: 9 };
const FAILING = { ...ARCHIVING, failures: 3 };

describe("duty to archive", () => {
  let duties: ArchiverAssigner;
  let nowMs: number;

  /** Lets these members ask in turn for some seconds, and returns which one archives in the end. */
  function ask(reports: Readonly<Record<number, typeof IDLE>>, seconds = 4, term = 1): number {
    let archiverId = 0;
    for (let second = 0; second < seconds; second++) {
      nowMs += 1_000;
      for (const [id, report] of Object.entries(reports)) {
        archiverId = duties.onReport(Number(id), report, term, nowMs).archiverId;
      }
    }
    return archiverId;
  }

  beforeEach(() => {
    duties = new ArchiverAssigner(LEADER);
    nowMs = 0;
  });

  it("goes to a follower, once all had time to ask", () => {
    expect(ask({ 1: IDLE, 2: IDLE }, 2)).to.equal(0);
    expect(ask({ 1: IDLE, 2: IDLE, 3: IDLE })).to.equal(2);
  });

  it("is the leader's while no other member asks, and goes to the first follower that does", () => {
    expect(ask({ 1: IDLE }, 5)).to.equal(LEADER);
    expect(ask({ 1: ARCHIVING, 3: IDLE })).to.equal(3);
  });

  it("stays where it is with a new leader", () => {
    expect(ask({ 1: IDLE, 2: IDLE, 3: ARCHIVING }, 1, 2)).to.equal(3);
    expect(ask({ 1: IDLE, 2: IDLE, 3: ARCHIVING }, 9, 2)).to.equal(3);
  });

  it("is no member's in a later term of the same leader until all had time to ask", () => {
    expect(ask({ 1: IDLE, 2: IDLE, 3: IDLE })).to.equal(2);
    expect(ask({ 1: IDLE, 2: IDLE, 3: IDLE }, 2, 3)).to.equal(0);
    expect(ask({ 1: IDLE, 2: IDLE, 3: ARCHIVING }, 9, 3)).to.equal(3);
  });

  it("goes on to another follower when the archiving one is not heard any more", () => {
    expect(ask({ 1: IDLE, 2: IDLE, 3: IDLE })).to.equal(2);
    expect(ask({ 1: IDLE, 3: IDLE }, ARCHIVER_AWAY_MS / 1_000 - 1)).to.equal(2);
    expect(ask({ 1: IDLE, 3: IDLE }, 1)).to.equal(3);
  });

  it("goes on when the archiving member fails again and again, and stays where all fail", () => {
    expect(ask({ 1: IDLE, 2: ARCHIVING, 3: IDLE })).to.equal(2);
    expect(ask({ 1: IDLE, 2: FAILING, 3: IDLE }, 1)).to.equal(3);
    expect(ask({ 1: IDLE, 2: IDLE, 3: FAILING }, 1)).to.equal(LEADER);
    expect(ask({ 1: FAILING, 2: IDLE, 3: IDLE }, 3)).to.equal(LEADER);
  });

  it("remembers the progress of the archive when the archiving member restarts and knows nothing", () => {
    ask({ 1: IDLE, 2: ARCHIVING, 3: IDLE });
    expect(duties.onReport(2, IDLE, 1, nowMs).archive.index).to.equal(9);
  });

  it("takes the progress of the archive from the archiving member", () => {
    ask({ 1: IDLE, 2: { ...ARCHIVING, index: 7 }, 3: { ...IDLE, index: 5 } });
    expect(duties.onReport(1, IDLE, 1, nowMs).archive.index).to.equal(7);
  });
});
