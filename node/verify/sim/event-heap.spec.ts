import { expect } from "chai";
import { EventHeap } from "./event-heap.ts";
import { streamsOf } from "./random.ts";

describe("the events of a run", () => {
  it("come in the order of their times, and of their creation where these are equal", () => {
    const heap = new EventHeap();
    const { plan: random } = streamsOf(1);
    const made = Array.from({ length: 500 }, (_, id) => ({ id, atMs: random.below(50) }));
    const happened: { readonly id: number; readonly atMs: number }[] = [];
    for (const one of made) {
      heap.at(one.atMs, () => happened.push(one));
    }
    heap.runUntil(100);
    expect(happened).to.deep.equal(made.sort((one, other) => one.atMs - other.atMs || one.id - other.id));
    expect(heap.nowMs).to.equal(100);
  });

  it("may add others, also for now", () => {
    const heap = new EventHeap();
    const times: number[] = [];
    const again = (): void => {
      times.push(heap.nowMs);
      heap.after(10, again);
      heap.at(0, () => times.push(heap.nowMs));
    };
    heap.after(5, again);
    heap.runUntil(20);
    expect(times).to.deep.equal([5, 5, 15, 15]);
  });
});
