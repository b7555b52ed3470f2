import { expect } from "chai";
import { FakePeerClock } from "../../test/peers/index.ts";
import { Liveness } from "./liveness.ts";

class Watched {
  readonly clock = new FakePeerClock();
  pings = 0;
  deaths = 0;
  readonly liveness = new Liveness(
    this.clock,
    { pingMs: 1_000, deadMs: 3_000 },
    {
      ping: () => {
        this.pings++;
      },
      dead: () => {
        this.deaths++;
      },
    },
  );

  /** Waits until the sockets would have been polled once more. */
  async poll(): Promise<void> {
    await new Promise<void>((resolve) => this.clock.afterPoll(resolve));
  }
}

describe("Liveness", () => {
  it("pings each second, and gives up after 3 s of silence, once", async () => {
    const watched = new Watched();
    watched.clock.advance(2_999);
    await watched.poll();
    expect([watched.pings, watched.deaths]).to.deep.equal([2, 0]);
    watched.clock.advance(1);
    expect(watched.deaths).to.equal(0);
    await watched.poll();
    expect(watched.deaths).to.equal(1);
    expect(watched.clock.timerCount).to.equal(0);
  });

  it("pings at the same moments on all connections, within a second, whenever they were made", () => {
    const clock = new FakePeerClock();
    const pingedMs: [number, number][] = [];
    const limits = { pingMs: 1_000, deadMs: 10_000 };
    for (const connection of [0, 1, 2]) {
      const user = { ping: () => pingedMs.push([connection, clock.monotonicMs()]), dead: () => {} };
      new Liveness(clock, limits, user);
      clock.advance(0.3);
    }
    clock.advance(2_000);
    const seconds = (of: number): number[] => pingedMs.filter(([at]) => at === of).map(([, ms]) => ms / limits.pingMs);
    for (const connection of [0, 1, 2]) {
      expect(seconds(connection).map(Math.floor)).to.deep.equal([6, 7]);
      expect(seconds(connection).every((second) => second % 1 < 0.001)).to.equal(true);
    }
  });

  it("counts the silence from the last sign", async () => {
    const watched = new Watched();
    watched.clock.advance(2_500);
    watched.liveness.heard();
    watched.clock.advance(2_999);
    await watched.poll();
    expect(watched.deaths).to.equal(0);
    watched.clock.advance(1);
    await watched.poll();
    expect(watched.deaths).to.equal(1);
  });

  it("polls once more before it gives up, for data that arrived during a pause of the process (P55)", async () => {
    const watched = new Watched();
    watched.clock.advance(60_000);
    watched.liveness.heard();
    await watched.poll();
    expect(watched.deaths).to.equal(0);
    watched.clock.advance(3_000);
    await watched.poll();
    expect(watched.deaths).to.equal(1);
  });

  it("holds no silence against the other side while this one does not read", async () => {
    const watched = new Watched();
    watched.liveness.suspend();
    watched.clock.advance(60_000);
    await watched.poll();
    watched.liveness.resume();
    watched.clock.advance(2_999);
    await watched.poll();
    expect(watched.deaths).to.equal(0);
    expect(watched.pings).to.equal(62);
    watched.clock.advance(1_000);
    await watched.poll();
    expect(watched.deaths).to.equal(1);
  });

  it("is over when it is stopped, also while it looks once more", async () => {
    const watched = new Watched();
    watched.clock.advance(3_000);
    watched.liveness.stop();
    await watched.poll();
    expect(watched.deaths).to.equal(0);
    expect(watched.clock.timerCount).to.equal(0);
  });
});
