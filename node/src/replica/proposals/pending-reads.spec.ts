import { expect } from "chai";
import { CoordinationError } from "../../state/index.ts";
import { PendingReads } from "./pending-reads.ts";

const noLeader = (): CoordinationError => new CoordinationError("NO_LEADER", "no leader");

/** A read waits for its confirmation and for its index to be applied (S35). */
describe("pending reads", () => {
  let reads: PendingReads;
  let answers: string[];
  beforeEach(() => {
    reads = new PendingReads();
    answers = [];
  });

  function add(name: string, nowMs = 0, deadlineMs = 1_000): void {
    reads.add(nowMs, deadlineMs, (error) => answers.push(`${name}: ${error === null ? "served" : error.reason}`));
  }

  it("P11: are served when their index is applied, not when it is confirmed", () => {
    add("a");
    reads.requested(1);
    reads.confirmed(1, 10);
    reads.serve(9);
    expect(answers).to.deep.equal([]);
    expect(reads.size).to.equal(1);
    reads.serve(10);
    expect(answers).to.deep.equal(["a: served"]);
    expect(reads.size).to.equal(0);
  });

  it("are not served before they are confirmed, however much is applied", () => {
    add("a");
    reads.serve(1_000);
    reads.requested(1);
    reads.serve(1_000);
    expect(answers).to.deep.equal([]);
  });

  it("wait together for one position, and one confirmation serves all positions up to it", () => {
    add("a");
    add("b");
    expect(reads.hasUnrequested).to.equal(true);
    reads.requested(1);
    expect(reads.hasUnrequested).to.equal(false);
    add("c");
    reads.requested(2);
    add("d");
    reads.requested(3);
    reads.confirmed(2, 5);
    reads.serve(5);
    expect(answers).to.deep.equal(["a: served", "b: served", "c: served"]);
    reads.confirmed(3, 5);
    reads.serve(5);
    expect(answers).to.have.length(4);
  });

  it("keep the index of their own confirmation when a later one has a greater index", () => {
    add("a");
    reads.requested(1);
    reads.confirmed(1, 5);
    add("b");
    reads.requested(2);
    reads.confirmed(2, 9);
    reads.serve(5);
    expect(answers).to.deep.equal(["a: served"]);
  });

  it("P9: are asked again under a new position when theirs is lost, and a late confirmation of it serves no read", () => {
    add("a");
    reads.requested(1);
    reads.failed(1);
    expect(reads.hasUnrequested).to.equal(true);
    reads.confirmed(1, 1);
    reads.serve(100);
    expect(answers).to.deep.equal([]);
    reads.requested(2);
    reads.confirmed(1, 1);
    reads.serve(100);
    expect(answers, "the old position").to.deep.equal([]);
    reads.confirmed(2, 3);
    reads.serve(3);
    expect(answers).to.deep.equal(["a: served"]);
  });

  it("lose only what is not confirmed yet", () => {
    add("a");
    reads.requested(1);
    reads.confirmed(1, 5);
    add("b");
    reads.requested(2);
    reads.failed(2);
    reads.serve(5);
    expect(answers).to.deep.equal(["a: served"]);
    expect(reads.size).to.equal(1);
  });

  it("S36: are refused with the reason when they were held too long without being asked", () => {
    add("a");
    reads.expire(800, 850, noLeader);
    expect(answers).to.deep.equal([]);
    reads.expire(851, 901, noLeader);
    expect(answers).to.deep.equal(["a: NO_LEADER"]);
    expect(reads.size).to.equal(0);
    expect(reads.hasUnrequested).to.equal(false);
  });

  it("P11: fail at their deadline when what they wait for is never confirmed or never applied", () => {
    add("unconfirmed");
    reads.requested(1);
    reads.expire(999, 1_049, noLeader);
    expect(answers).to.deep.equal([]);
    add("unapplied", 0, 1_500);
    reads.requested(2);
    reads.confirmed(2, 10);
    reads.expire(1_000, 1_050, noLeader);
    expect(answers).to.deep.equal(["unconfirmed: DEADLINE"]);
    reads.expire(1_500, 1_550, noLeader);
    expect(answers).to.deep.equal(["unconfirmed: DEADLINE", "unapplied: DEADLINE"]);
    reads.serve(10);
    expect(answers).to.have.length(2);
    expect(reads.size).to.equal(0);
  });

  it("keep their first deadline and hold time when they are asked again", () => {
    add("a");
    reads.requested(1);
    reads.failed(1);
    reads.expire(900, 950, noLeader);
    expect(answers).to.deep.equal(["a: NO_LEADER"]);
  });

  it("are all refused at the end, asked or not", () => {
    add("unasked");
    add("asked");
    reads.requested(1);
    add("late");
    reads.refuseAll(new CoordinationError("SHUTTING_DOWN", "stop"));
    expect(answers.sort()).to.deep.equal(["asked: SHUTTING_DOWN", "late: SHUTTING_DOWN", "unasked: SHUTTING_DOWN"]);
    expect(reads.size).to.equal(0);
    reads.confirmed(1, 1);
    reads.serve(10);
    expect(answers).to.have.length(3);
  });

  it("let an answer ask for another read", () => {
    reads.add(0, 1_000, () => add("second"));
    reads.requested(1);
    reads.confirmed(1, 1);
    reads.serve(1);
    expect(reads.size).to.equal(1);
    expect(reads.hasUnrequested).to.equal(true);
  });
});
