import { expect } from "chai";
import type { ExpiryLimits } from "./expiries.ts";
import {
  acquire,
  acquired,
  change,
  described,
  describeIt,
  type LockLine,
  locksOf,
  notAcquired,
  release,
  released,
  viewAt,
} from "./lock-example.ts";
import { contradictionsOfQueue } from "./lock-queue.ts";

const LIMITS: ExpiryLimits = { clockDrift: 0, clockResolutionMs: 0, lateMsMax: 2_000, leaderless: [] };
const WAIT_MS = 1_000;

function judged(lines: readonly LockLine[]): string {
  return contradictionsOfQueue(locksOf(...lines), LIMITS).join("\n");
}

const wait = (owner: string, mode?: "read" | "write") => acquire(owner, mode ?? "exclusive", WAIT_MS);
const HELD: LockLine = [acquire("a"), 0, 10, acquired(["a", 5])];
const READ: LockLine = [acquire("r", "read"), 0, 10, acquired(["r", 5, "read"])];
const RELEASED: LockLine = [release(5), 200, 210, released(6)];

const HISTORIES: readonly (readonly [
  rule: string,
  good: readonly LockLine[],
  bad: readonly LockLine[],
  said: string,
])[] = [
  [
    "the first waiter is served first",
    // "b" was in the queue 150 ms before its answer, when "c" had not begun.
    [
      HELD,
      [wait("b"), 20, 220, acquired(["b", 7], [], 150)],
      [wait("c"), 80, 400, acquired(["c", 9], [], 300)],
      RELEASED,
    ],
    [
      HELD,
      [wait("c"), 80, 220, acquired(["c", 7], [], 130)],
      [wait("b"), 20, 400, acquired(["b", 9], [], 350)],
      RELEASED,
    ],
    "in the order of waiting",
  ],
  [
    "requests that overlap may be served in any order",
    [
      HELD,
      [wait("c"), 40, 220, acquired(["c", 7], [], 150)],
      [wait("b"), 20, 400, acquired(["b", 9], [], 350)],
      RELEASED,
    ],
    [
      HELD,
      [wait("c"), 60, 220, acquired(["c", 7], [], 150)],
      [wait("b"), 20, 400, acquired(["b", 9], [], 350)],
      RELEASED,
    ],
    "in the order of waiting",
  ],
  [
    "no reader overtakes a writer that waits",
    [
      READ,
      [wait("w", "write"), 20, 220, acquired(["w", 7, "write"], [], 190)],
      RELEASED,
      [wait("s", "read"), 50, 320, acquired(["s", 9, "read"], [], 260)],
    ],
    [
      READ,
      [wait("w", "write"), 20, 220, acquired(["w", 7, "write"], [], 190)],
      [acquire("s", "read"), 50, 60, acquired(["s", 6, "read"], [["r", 5, "read"]])],
    ],
    "in the order of waiting",
  ],
  [
    "no reader overtakes a writer that waits in vain",
    [
      READ,
      [wait("w", "write"), 20, 1_040, notAcquired(viewAt(5, [["r", 5, "read"]]), 1_010)],
      [acquire("s", "read"), 1_030, 1_050, acquired(["s", 6, "read"], [["r", 5, "read"]])],
    ],
    [
      READ,
      [wait("w", "write"), 20, 1_040, notAcquired(viewAt(6, [["r", 5, "read"]]), 1_010)],
      [acquire("s", "read"), 500, 510, acquired(["s", 6, "read"], [["r", 5, "read"]])],
    ],
    "in the order of waiting",
  ],
  [
    "no request is refused a free lock",
    [HELD, [acquire("b"), 20, 30, notAcquired(viewAt(5, [["a", 5]]))]],
    [HELD, RELEASED, [acquire("b"), 220, 230, notAcquired(viewAt(6, []))]],
    "no waiter is forgotten",
  ],
  [
    "no request waits in vain for a free lock",
    [HELD, [wait("b"), 20, 1_030, notAcquired(viewAt(5, [["a", 5]]), 1_001)]],
    [HELD, [wait("b"), 20, 1_030, notAcquired(viewAt(6, []), 1_001)]],
    "no waiter is forgotten",
  ],
  [
    "no reader waits in vain beside readers, if no writer does",
    [READ, [wait("s", "read"), 20, 1_030, notAcquired(viewAt(5, [["r", 5, "read"]], { waiters: 1 }), 1_001)]],
    [READ, [wait("s", "read"), 20, 1_030, notAcquired(viewAt(5, [["r", 5, "read"]]), 1_001)]],
    "no waiter is forgotten",
  ],
  [
    "no answer shows waiters for a free lock",
    [[describeIt, 0, 5, described(viewAt(4, [], { state: "cooldown", waiters: 1 }))]],
    [[describeIt, 0, 5, described(viewAt(4, [], { waiters: 1 }))]],
    "no waiter is forgotten",
  ],
  [
    "a released lock goes to the first waiter at once",
    [HELD, RELEASED, [wait("b"), 20, 220, acquired(["b", 7], [], 150)]],
    [HELD, RELEASED, [wait("b"), 20, 420, acquired(["b", 9], [], 350)]],
    "gave the lock back at 6, and no waiter got it",
  ],
  [
    "a released lock goes on at once, also to a waiter whose answer is lost",
    [HELD, [wait("c"), 15, 90, "unknown"], RELEASED, [wait("b"), 20, 420, acquired(["b", 9], [], 350)]],
    [HELD, RELEASED, [wait("b"), 20, 420, acquired(["b", 9], [], 350)], [wait("c"), 220, 300, "unknown"]],
    "gave the lock back at 6, and no waiter got it",
  ],
  [
    "a released lock goes on at once while another request waits in vain",
    [HELD, RELEASED, [wait("b"), 20, 1_030, notAcquired(viewAt(7, [["c", 7]]), 1_000)]],
    [HELD, RELEASED, [wait("b"), 20, 1_030, notAcquired(viewAt(8, [["c", 8]]), 1_000)]],
    "gave the lock back at 6, and no waiter got it",
  ],
];

describe("the judgement of waiters for a lock", () => {
  for (const [rule, good, bad, said] of HISTORIES) {
    it(`${rule}: passes what keeps to it`, () => {
      expect(judged(good)).to.equal("");
    });
    it(`${rule}: finds what does not`, () => {
      expect(judged(bad)).to.contain(said);
    });
  }

  it("treats a replay as a view of a later time", () => {
    const replay = { ...notAcquired(viewAt(6, [])), isRepeated: true } as LockLine[3];
    expect(judged([HELD, RELEASED, [wait("b"), 20, 1_030, replay]])).to.equal("");
  });

  it("does not expect a handover from a reader beside other readers", () => {
    const waiting: LockLine = [wait("w", "write"), 20, 420, acquired(["w", 9, "write"], [], 350)];
    expect(judged([READ, RELEASED, waiting])).to.equal("");
    const writer: LockLine = [acquire("a", "write"), 0, 10, acquired(["a", 5, "write"])];
    expect(judged([writer, RELEASED, waiting])).to.contain("no waiter is forgotten");
    const downgrade: LockLine = [change(5, "read"), 50, 60, acquired(["a", 5, "read"], [], 0, 6)];
    expect(judged([writer, downgrade, RELEASED, waiting])).to.equal("");
  });
});
