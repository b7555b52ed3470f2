import { expect } from "chai";
import { DrivenReplica, resultOf } from "../../../test/harness/index.ts";
import { listenToMarks } from "../../primitives/index.ts";
import { EntryType, entryType } from "../../raft/index.ts";
import { readProgress } from "../../state/index.ts";

describe("Replica that applies", () => {
  afterEach(() => listenToMarks(null));

  it("S44: goes on in slices of bounded entries, in turns of their own", () => {
    const driven = DrivenReplica.leading({ sliceEntries: 10 });
    for (let at = 0; at < 95; at++) {
      driven.put("k", String(at));
    }
    driven.time.turn();
    driven.log.flush();
    const before = driven.state.batches;
    driven.time.drain();
    expect(driven.state.batches - before).to.be.within(10, 11);
    expect(driven.stored("k")?.version).to.equal(95);
  });

  it("S44: ends a slice at so many bytes, and at so many milliseconds", () => {
    const byBytes = DrivenReplica.leading({ sliceBytes: 3_000 });
    for (let at = 0; at < 20; at++) {
      byBytes.put(`k${at}`, "x".repeat(900));
    }
    byBytes.time.turn();
    byBytes.log.flush();
    const before = byBytes.state.batches;
    byBytes.time.drain();
    expect(byBytes.state.batches - before).to.be.within(7, 11);

    const byTime = DrivenReplica.leading({ sliceMs: 4 });
    for (let at = 0; at < 20; at++) {
      byTime.put(`k${at}`, "v");
    }
    byTime.time.turn();
    byTime.log.flush();
    const start = byTime.state.batches;
    // Every read of the state takes a while: each entry needs at least two.
    const get = byTime.state.get.bind(byTime.state);
    byTime.state.get = (key) => {
      byTime.time.stall(1);
      return get(key);
    };
    byTime.time.drain();
    expect(byTime.state.batches - start).to.be.greaterThan(5);
    expect(byTime.answered).to.have.length(20);
  });

  it("S11, P42: writes effects and applied index as one batch", () => {
    const driven = DrivenReplica.leading();
    const passed: string[] = [];
    listenToMarks((name) => passed.push(name));
    driven.put("k", "v");
    driven.time.turn();
    driven.log.flush();
    const before = driven.state.batches;
    driven.time.drain();
    expect(driven.state.batches - before).to.equal(1);
    expect(readProgress(driven.state).appliedIndex).to.equal(driven.replica.status().appliedIndex);
    expect(passed.filter((name) => name.startsWith("replica."))).to.deep.equal([
      "replica.answers.before",
      "replica.answers.after",
    ]);
  });

  it("waits while the store holds writes back, and goes on at a later tick", () => {
    const driven = DrivenReplica.leading();
    driven.state.isStalled = true;
    const call = driven.put("k", "v");
    driven.time.advance(5_000);
    expect(resultOf(call)).to.equal("open");
    driven.state.isStalled = false;
    driven.time.advance(50);
    expect(resultOf(call)).to.equal("done");
  });

  it("P27: hands over at each tick what is in memory alone, and makes nothing durable before that is done", () => {
    const driven = DrivenReplica.leading({ syncBytes: 1e9, syncMs: 1_000 });
    let isKept = true;
    let asked = 0;
    driven.state.flush = () => {
      asked++;
      return !isKept;
    };
    expect(resultOf(driven.put("k", "v"))).to.equal("open");
    const before = driven.state.syncs;
    driven.time.advance(5_000);
    expect(driven.state.syncs).to.equal(before);
    expect(asked).to.be.at.least(100);
    isKept = false;
    driven.time.advance(50);
    expect(driven.state.syncs).to.equal(before + 1);
  });

  it("P59: pauses during a sync of the state, and no other write waits for it", () => {
    const driven = DrivenReplica.leading({ syncBytes: 1 });
    driven.state.isHeld = true;
    const first = driven.put("a", "v");
    driven.time.drain();
    expect(driven.state.isSyncing).to.equal(true);
    expect(resultOf(first)).to.equal("done");
    const second = driven.put("b", "v");
    driven.time.advance(1_000);
    expect(driven.log.durable.bounds.last).to.equal(driven.replica.status().lastIndex);
    expect(resultOf(second)).to.equal("open");
    driven.state.isHeld = false;
    driven.state.finishSync();
    driven.time.drain();
    expect(resultOf(second)).to.equal("done");
  });

  it("P59: writes no batch in a slice that was armed before the sync began", () => {
    const driven = DrivenReplica.leading({ proposalsPerTurn: 1, syncBytes: 1e9, syncMs: 1_000 });
    driven.put("a", "v");
    driven.time.drain();
    driven.log.isHeld = true;
    driven.state.isHeld = true;
    const calls = [driven.put("b", "v")];
    driven.time.turn();
    calls.push(driven.put("c", "v"), driven.put("d", "v"));
    driven.log.flush();
    // Arms another turn for the rest, then a slice; the sync is due in that turn.
    driven.time.turn();
    driven.time.stall(1_100);
    driven.time.turn();
    expect(driven.state.isSyncing).to.equal(true);
    expect(calls.map(resultOf)).to.deep.equal(["open", "open", "open"]);
    driven.log.isHeld = false;
    driven.log.flush();
    driven.state.finishSync();
    driven.time.drain();
    expect(calls.map(resultOf)).to.deep.equal(["done", "done", "done"]);
  });

  it("syncs the state after so many bytes, or after so long if anything was applied, and not without reason", () => {
    const driven = DrivenReplica.leading({ syncBytes: 10_000, syncMs: 5_000 });
    driven.time.advance(5_100);
    const before = driven.state.syncs;
    driven.time.advance(60_000);
    expect(driven.state.syncs, "nothing was applied").to.equal(before);
    driven.put("a", "x".repeat(20_000));
    driven.time.drain();
    expect(driven.state.syncs).to.equal(before + 1);
    driven.put("a", "x");
    driven.time.advance(4_900);
    expect(driven.state.syncs).to.equal(before + 1);
    driven.time.advance(200);
    expect(driven.state.syncs).to.equal(before + 2);
  });

  it("shortens the log only to where the state is durable", () => {
    const compaction = { keptEntries: 10, keptBytes: 1e9, dueEntries: 10, dueBytes: 1e9, neededBytes: 0 };
    const driven = DrivenReplica.leading({ compaction, syncBytes: 1e9, syncMs: 1_000 });
    driven.state.isHeld = true;
    for (let at = 0; at < 100; at++) {
      driven.put("k", String(at));
      driven.time.drain();
    }
    expect(driven.replica.status().firstIndex).to.equal(1);
    driven.time.advance(1_100);
    expect(driven.state.isSyncing).to.equal(true);
    const durable = driven.replica.status().appliedIndex;
    for (let at = 0; at < 100; at++) {
      driven.put("k", String(at));
      driven.time.drain();
    }
    expect(driven.replica.status().firstIndex).to.equal(1);
    driven.state.finishSync();
    driven.time.drain();
    const { firstIndex } = driven.replica.status();
    expect(firstIndex)
      .to.be.greaterThan(1)
      .and.at.most(durable + 1);
    driven.put("k", "last");
    driven.time.drain();
    expect(driven.log.durable.bounds.first).to.equal(firstIndex);
    driven.restart();
    driven.time.drain();
    expect(driven.stored("k")).to.deep.include({ version: 201, value: Buffer.from("last") });
  });

  it("logs the empty entry of each term and nothing else by itself", () => {
    const driven = DrivenReplica.leading();
    driven.restart();
    driven.time.drain();
    const rows = driven.log.entries(1, driven.log.durable.bounds.last, 1e9);
    expect(rows.map(entryType)).to.deep.equal([EntryType.Bootstrap, EntryType.Empty, EntryType.Empty]);
    expect(driven.log.terms).to.deep.equal([1, 2, 3]);
  });
});
