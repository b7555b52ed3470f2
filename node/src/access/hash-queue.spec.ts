import { expect } from "chai";
import { FakeTime } from "../../test/harness/index.ts";
import { CoordinationError } from "../state/index.ts";
import { type EndTurn, type HashJob, HashQueue } from "./hash-queue.ts";

const UNLIMITED = { atATime: 1, waitersMax: 64, processorShare: 1, burstMs: 1_000_000 };

describe("HashQueue", () => {
  let time: FakeTime;
  let queue: HashQueue;
  /** The turns and the refusals, in order. */
  let events: string[];
  let end: EndTurn;

  beforeEach(() => {
    time = new FakeTime();
    queue = new HashQueue(UNLIMITED, time, time);
    events = [];
    end = () => expect.fail("there is no turn to end");
  });

  async function enter(client: string, account: string, more: Partial<HashJob> = {}): Promise<void> {
    const name = `${client}/${account}`;
    const order = { client, account, deadlineMs: time.monotonicMs() + 10_000, ...more };
    queue.enter(order).then(
      (endTurn) => {
        events.push(name);
        end = endTurn;
      },
      (error: unknown) => events.push(`${name} ${error instanceof CoordinationError ? error.reason : String(error)}`),
    );
    await settled();
  }

  /** Ends the turn after so many milliseconds of processor time, and advances the clock by them. */
  async function endAfter(processorMs: number): Promise<void> {
    time.advance(processorMs);
    end(processorMs);
    await settled();
  }

  async function settled(): Promise<void> {
    time.drain();
    await new Promise((resolve) => setImmediate(resolve));
  }

  it("gives one turn at a time, and the next one after its end", async () => {
    await enter("a", "1");
    await enter("b", "2");
    expect(events).deep.equal(["a/1"]);
    await endAfter(10);
    expect(events).deep.equal(["a/1", "b/2"]);
  });

  it("gives as many turns at a time as allowed", async () => {
    queue = new HashQueue({ ...UNLIMITED, atATime: 2 }, time, time);
    await enter("a", "1");
    await enter("b", "2");
    await enter("c", "3");
    expect(events).deep.equal(["a/1", "b/2"]);
    await endAfter(10);
    expect(events).deep.equal(["a/1", "b/2", "c/3"]);
  });

  it("prefers addresses with little recent hashing, whatever accounts the others name", async () => {
    await enter("a", "1");
    await enter("a", "2");
    await enter("a", "3");
    await enter("b", "4");
    await enter("a", "5");
    for (let turns = 0; turns < 4; turns++) {
      await endAfter(10);
    }
    expect(events).deep.equal(["a/1", "b/4", "a/2", "a/3", "a/5"]);
  });

  it("prefers accounts with little recent hashing, from any address", async () => {
    await enter("a", "1");
    await enter("b", "1");
    await enter("c", "1");
    await enter("d", "2");
    for (let turns = 0; turns < 3; turns++) {
      await endAfter(10);
    }
    expect(events).deep.equal(["a/1", "d/2", "b/1", "c/1"]);
  });

  it("forgets a hash after a minute", async () => {
    await enter("a", "1");
    await endAfter(10);
    await enter("z", "9");
    time.advance(60_000);
    await enter("a", "1", { deadlineMs: time.monotonicMs() + 10_000 });
    await enter("b", "2");
    await endAfter(10);
    expect(events).deep.equal(["a/1", "z/9", "a/1"]);
  });

  it("refuses a waiter at its deadline, and at once when its client leaves", async () => {
    let leave = () => expect.fail("there is no listener");
    const onGone = (listener: () => void) => {
      leave = listener as () => never;
    };
    await enter("a", "1");
    await enter("b", "2", { onGone });
    await enter("c", "3", { deadlineMs: time.monotonicMs() + 500 });
    await enter("d", "4");
    expect(queue.waiting).equal(3);
    leave();
    await settled();
    expect(events).deep.equal(["a/1", "b/2 OVERLOADED"]);
    time.advance(499);
    expect(queue.waiting).equal(2);
    time.advance(2);
    await settled();
    expect(events).deep.equal(["a/1", "b/2 OVERLOADED", "c/3 OVERLOADED"]);
    expect(queue.waiting).equal(1);
    await endAfter(10);
    expect(events.at(-1)).equal("d/4");
    await endAfter(10);
    expect(time.timerCount, "timers that are left").equal(0);
  });

  it("refuses the newest of the most demanding waiters when too many wait", async () => {
    queue = new HashQueue({ ...UNLIMITED, waitersMax: 3 }, time, time);
    await enter("busy", "0");
    for (const account of ["1", "2", "3"]) {
      await enter("a", account);
    }
    await enter("b", "4");
    await enter("c", "5");
    expect(events).deep.equal(["busy/0", "a/3 OVERLOADED", "a/2 OVERLOADED"]);
    await enter("a", "6");
    expect(events.at(-1)).equal("a/6 OVERLOADED");
    await enter("d", "7");
    expect(events.at(-1), "all ask for the same").equal("d/7 OVERLOADED");
  });

  it("uses only its share of a processor, after a burst", async () => {
    queue = new HashQueue({ atATime: 1, waitersMax: 64, processorShare: 0.25, burstMs: 1_000 }, time, time);
    const beginMs = time.monotonicMs();
    const starts: number[] = [];
    for (let turn = 0; turn < 8; turn++) {
      await enter(`client ${turn}`, `account ${turn}`, { deadlineMs: beginMs + 100_000 });
    }
    while (starts.length < 8) {
      if (events.length > starts.length) {
        starts.push(time.monotonicMs() - beginMs);
        await endAfter(250);
      } else {
        time.advance(50);
        await settled();
      }
    }
    // A quarter of a second each: the burst and the share of its own time at once, then one per second.
    expect(starts).deep.equal([0, 250, 500, 750, 1_000, 1_250, 2_250, 3_250]);
  });
});
