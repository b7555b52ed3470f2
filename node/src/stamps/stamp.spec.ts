import { type ChannelListener, subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect } from "chai";
import { STAMP_CHANNEL, type Stamp, stamp } from "./stamp.ts";

describe("stamp", () => {
  const seen: Stamp[] = [];
  const listener: ChannelListener = (message) => {
    seen.push({ ...(message as Stamp) });
  };

  beforeEach(() => {
    seen.length = 0;
  });
  afterEach(() => {
    unsubscribe(STAMP_CHANNEL, listener);
  });

  it("publishes each step with what identifies the write", () => {
    subscribe(STAMP_CHANNEL, listener);
    stamp("progress.sent", 7, 6, 2, "append");
    stamp("turn.begun");
    expect(seen).to.deep.equal([
      { name: "progress.sent", first: 7, second: 6, third: 2, text: "append" },
      { name: "turn.begun", first: 0, second: 0, third: 0, text: "" },
    ]);
  });

  it("publishes nothing when the last subscriber is gone", () => {
    subscribe(STAMP_CHANNEL, listener);
    unsubscribe(STAMP_CHANNEL, listener);
    stamp("turn.begun");
    expect(seen).to.be.empty;
  });

  it("allocates nothing without a subscriber", () => {
    const stampMany = (): void => {
      for (let count = 0; count < 1_000_000; count++) {
        stamp("log.handed", count, count, count, "log");
      }
    };
    stampMany();
    const before = process.memoryUsage().heapUsed;
    stampMany();
    // An object for each would be at least 40 MB.
    expect(process.memoryUsage().heapUsed - before).to.be.below(4_000_000);
  });
});
