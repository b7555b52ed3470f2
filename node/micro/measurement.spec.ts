import { expect } from "chai";
import { type MicroCase, measureCase, microCaseGroups } from "./index.ts";

const LIMITS = { warmUpMs: 1, measuredMs: 1 };
const KIBIBYTE = 1024;

/** A case that does what it is given as often as it is asked to, and counts both. */
function counted(perform: () => unknown) {
  const counts = { prepared: 0, performed: 0 };
  const microCase: MicroCase = {
    name: "counted",
    roundMultiple: 7,
    shortRoundOperations: 3,
    prepare: (operations) => {
      counts.prepared += operations;
      return () => {
        for (let at = 0; at < operations; at++) {
          perform();
          counts.performed++;
        }
      };
    },
  };
  return { counts, microCase };
}

describe("measuring a micro-benchmark", () => {
  it("performs what was prepared, in rounds of whole multiples", () => {
    const { counts, microCase } = counted(() => Math.hypot(1, 2));
    const { operations, threadMicros, processMicros } = measureCase(microCase, LIMITS);
    expect(counts.performed).to.equal(counts.prepared);
    expect(operations % microCase.roundMultiple).to.equal(0);
    expect(operations).to.be.within(1, counts.performed);
    expect(threadMicros).to.be.greaterThan(0);
    expect(processMicros).to.be.greaterThan(0);
  });

  it("tells allocations on the heap from those outside of it", () => {
    const kept: unknown[] = [];
    const keep = (value: unknown): void => {
      kept[0] = value;
    };
    const onHeap = measureCase(counted(() => keep(new Array(KIBIBYTE).fill(0.5))).microCase, LIMITS);
    const outside = measureCase(counted(() => keep(new ArrayBuffer(64 * KIBIBYTE))).microCase, LIMITS);
    // An array of numbers takes 8 bytes for each; a backing store is outside of the heap.
    expect(onHeap.heapBytes).to.be.within(8 * KIBIBYTE, 32 * KIBIBYTE);
    expect(outside.heapBytes).to.be.below(4 * KIBIBYTE);
    expect(outside.externalBytes).to.be.within(64 * KIBIBYTE, 80 * KIBIBYTE);
  });
});

describe("the micro-benchmarks", () => {
  it("each run, under names of their own, over stores on a real disk", async () => {
    const names: string[] = [];
    for await (const { cases, close } of microCaseGroups()) {
      try {
        for (const { name, shortRoundOperations, prepare } of cases) {
          names.push(name);
          prepare(shortRoundOperations)();
        }
      } finally {
        await close();
      }
    }
    expect(new Set(names).size).to.equal(names.length);
    for (const operation of ["put", "compare-and-swap", "lock cycle", "append", "memory write"]) {
      for (const slice of [1, 15, 128]) {
        expect(names.filter((name) => name.includes(operation) && name.endsWith(`slices of ${slice}`))).to.have.length(
          1,
        );
      }
    }
  });
});
