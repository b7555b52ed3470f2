import { expect } from "chai";
import type { Readiness } from "../replica/index.ts";
import { memberHealth } from "./member-health.ts";

const FINE: Readiness = { voter: null, leader: null, applied: null, disk: null };

describe("the health of a member", () => {
  let readiness: Readiness;
  let loopLagMs: number;
  let isStopping: boolean;
  let isServed: boolean;
  let isListening: boolean;

  const replica = { status: () => ({ loopLagMs }), report: { readiness: () => readiness } };
  const member = {
    state: "MEMBER_REMOVED",
    get replica() {
      return isServed ? replica : null;
    },
  };
  const health = memberHealth(member, { isListening: () => isListening, isStopping: () => isStopping });

  beforeEach(() => {
    readiness = FINE;
    loopLagMs = 100;
    isStopping = false;
    isServed = true;
    isListening = true;
  });

  function failing(): Record<string, string> {
    const checks = health.ready();
    expect(checks.map(({ name }) => name)).to.deep.equal([
      ...["voter", "leader", "applied", "disk", "event-loop", "draining"],
    ]);
    return Object.fromEntries(checks.filter(({ ok }) => !ok).map(({ name, reason }) => [name, reason]));
  }

  it("is ready while nothing keeps it from serving linearizable reads", () => {
    expect(failing()).to.deep.equal({});
  });

  it("is not ready for each single reason, and reports it", () => {
    for (const name of ["voter", "leader", "applied", "disk"] as const) {
      readiness = { ...FINE, [name]: `about the ${name}` };
      expect(failing()).to.deep.equal({ [name]: `about the ${name}` });
    }
    readiness = FINE;
    loopLagMs = 101;
    expect(failing()).to.deep.equal({ "event-loop": "the event loop was 101 ms late" });
  });

  it("S47: is not ready as soon as it must stop", () => {
    isStopping = true;
    expect(failing()).to.deep.equal({ draining: "the member is stopping" });
  });

  it("is not ready without data to serve", () => {
    isServed = false;
    const why = "the member is MEMBER_REMOVED";
    expect(failing()).to.deep.equal({ voter: why, leader: why, applied: why, disk: why });
  });

  it("has started once it listens on all its ports, whether or not there is data to serve", () => {
    isServed = false;
    isStopping = true;
    expect(health.started()).to.deep.equal([{ name: "listening", ok: true, reason: "" }]);
    isListening = false;
    expect(health.started()).to.deep.equal([
      { name: "listening", ok: false, reason: "the member does not listen on all its ports yet" },
    ]);
  });

  it("is live in all of these cases, because a restart would not help", () => {
    isServed = false;
    isStopping = true;
    loopLagMs = 5_000;
    expect(health.live()).to.deep.equal([{ name: "event-loop", ok: true, reason: "" }]);
  });
});
