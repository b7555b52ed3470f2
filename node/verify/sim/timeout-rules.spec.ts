import { expect } from "chai";
import { DEFAULT_CORE_LIMITS } from "../../src/raft/index.ts";
import { TICK_MS, TickCount } from "./tick-count.ts";
import { TimeoutRules, type Timeouts } from "./timeout-rules.ts";

const RULE = "P36 each timeout has a new draw";

describe("the rules of timeouts", () => {
  let nowMs: number;
  let unhinderedMs: number;
  let rules: TimeoutRules;
  let timeouts: Timeouts;

  const start = (id: number): Timeouts => {
    const clock = {
      monotonicMs: () => nowMs,
      roundMs: 0,
      get unhinderedMs() {
        return unhinderedMs;
      },
    };
    return rules.ofProcess(id, new TickCount(clock));
  };
  const wait = (ticks: number): void => {
    nowMs += ticks * TICK_MS;
    timeouts.onCampaign();
  };

  beforeEach(() => {
    nowMs = 0;
    unhinderedMs = 1_000_000;
    rules = new TimeoutRules(DEFAULT_CORE_LIMITS);
    timeouts = start(1);
  });

  it("are broken by a member that always waits equally long", () => {
    expect(() => {
      for (let at = 0; at < 30; at++) {
        wait(27 + (at % 2));
      }
    }).to.throw(RULE);
  });

  it("are broken by members that each have a time of their own", () => {
    expect(() => {
      for (let id = 1; id < 30; id++) {
        timeouts = start(id);
        wait(20 + (id % 20));
        wait(20 + (id % 20));
      }
    }).to.throw(RULE);
  });

  it("hold when a single time differs, and when a few are equal", () => {
    for (let at = 0; at < 10; at++) {
      wait(27);
    }
    wait(31);
    for (let at = 0; at < 30; at++) {
      wait(27);
    }
  });

  it("leave out what cannot be seen, what was hindered, and what is no single time", () => {
    for (let at = 0; at < 30; at++) {
      timeouts.onUnknown();
      wait(27);
      wait(54);
    }
    unhinderedMs = 10 * TICK_MS;
    for (let at = 0; at < 30; at++) {
      wait(27);
    }
  });

  it("measure from the last start of the timeout", () => {
    for (let at = 0; at < 5; at++) {
      nowMs += 10 * at * TICK_MS;
      timeouts.onBegin();
      wait(22);
    }
    expect(() => {
      for (let at = 0; at < 10; at++) {
        wait(22);
      }
    }).to.throw(RULE);
  });
});
