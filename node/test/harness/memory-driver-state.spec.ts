import { expect } from "chai";
import { PROGRESS_ROW, readProgress } from "../../src/state/index.ts";
import type { StateReplacement } from "../../src/storage/index.ts";
import { AppliedLog } from "../index.ts";
import { FakeTime } from "./fake-time.ts";
import { MemoryDriverState } from "./memory-driver-state.ts";
import { itIsAMemberStateStore } from "./state-store-conformance.ts";

describe("MemoryDriverState", () => {
  let time: FakeTime;
  let state: MemoryDriverState;
  beforeEach(() => {
    time = new FakeTime();
    state = new MemoryDriverState(time);
  });

  describe("as any state store of a member", () => {
    itIsAMemberStateStore(async () => ({ store: state, drain: () => time.drain() }));
  });

  /** Takes these steps with a replacement that holds a founding: entry 1 of term 1. */
  function replace(steps: "write" | "finish" | "place"): StateReplacement {
    const founding = new AppliedLog().store.get(PROGRESS_ROW) as Uint8Array;
    const begun: StateReplacement[] = [];
    state.beginReplacement((replacement) => begun.push(replacement));
    time.drain();
    const replacement = begun[0] as StateReplacement;
    replacement.write([{ key: PROGRESS_ROW, value: founding }], () => undefined);
    time.drain();
    if (steps !== "write") {
      replacement.finish(1, 1, () => undefined);
      time.drain();
    }
    if (steps === "place") {
      replacement.place(() => undefined);
      time.drain();
    }
    return replacement;
  }

  it("holds syncs and steps of a replacement until the spec releases them", () => {
    const called: string[] = [];
    state.isHeld = true;
    state.isReplacementHeld = true;
    state.sync(() => called.push("sync"));
    state.beginReplacement(() => called.push("begin"));
    time.drain();
    expect([state.isSyncing, state.isReplacing, ...called]).to.deep.equal([true, true]);
    state.finishStep();
    state.finishSync();
    expect([state.isSyncing, state.isReplacing, ...called]).to.deep.equal([false, false, "begin", "sync"]);
    state.finishStep();
    state.finishSync();
    expect(called).to.have.length(2);
  });

  it("keeps after a crash the state that was live before a replacement was placed", () => {
    for (const steps of ["write", "finish"] as const) {
      replace(steps);
      state.crash();
      expect(readProgress(state).appliedIndex, steps).to.equal(0);
      expect(state.installed).to.equal(null);
    }
    const finished = replace("finish");
    state.isReplacementHeld = true;
    finished.place(() => undefined);
    state.crash();
    time.drain();
    expect(readProgress(state).appliedIndex, "placing").to.equal(0);
  });

  it("has after a crash the replacement that was placed, and says which snapshot it was", () => {
    replace("place");
    expect(readProgress(state).appliedIndex).to.equal(0);
    state.openView();
    state.crash();
    expect(readProgress(state).appliedIndex).to.equal(1);
    expect(state.installed).to.deep.equal({ index: 1, term: 1 });
    expect(state.openViews).to.equal(0);
    state.switchTo(replace("place"));
  });

  it("is a violation to finish a replacement that has come less far than announced", () => {
    const replacement = replace("write");
    replacement.finish(2, 1, () => undefined);
    expect(() => time.drain()).to.throw("a snapshot has come as far as it was announced");
  });
});
