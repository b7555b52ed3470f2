import { expect } from "chai";
import { NO_CONFIGURATION } from "../../src/raft/index.ts";
import type { Cluster } from "../../src/state/index.ts";
import { DepartureRules } from "./departure-rules.ts";

const ADDRESS = { peerEndpoint: "a:1", grpcEndpoint: "a:2", httpEndpoint: "a:3" };

function record(index: number, ...voters: number[]): Cluster {
  const members = voters.map((id) => ({ id, name: `q-${id}`, incarnation: Uint8Array.of(id), address: ADDRESS }));
  const configuration = { ...NO_CONFIGURATION, index, voters };
  return { clusterId: "one", name: "one", version: 1, configuration, members } as unknown as Cluster;
}

describe("P18: the rules of departures", () => {
  const rule = "P18 a member goes only when it is not needed again";
  let rules: DepartureRules;
  beforeEach(() => {
    rules = new DepartureRules();
    rules.onRecord(record(3, 1, 2, 3));
    rules.onCommitDurable(1, 3);
    rules.onCommitDurable(2, 3);
    rules.onRecord(record(9, 1, 2));
  });

  it("let a member go when a majority of the others knows its removal durably", () => {
    rules.onCommitDurable(1, 9);
    rules.onCommitDurable(2, 12);
    rules.onGone(3);
  });

  it("keep it while that may be forgotten, whatever it knows itself", () => {
    rules.onCommitDurable(1, 9);
    rules.onCommitDurable(3, 9);
    expect(() => rules.onGone(3)).to.throw(rule);
  });

  it("let it go by the word of any configuration since, and keep it if there is none", () => {
    rules.onCommitDurable(1, 9);
    rules.onRecord(record(11, 1, 4, 5));
    expect(() => rules.onGone(3)).to.throw(rule);
    rules.onCommitDurable(4, 11);
    rules.onGone(3);
  });

  it("let it go although members that came after that majority do not know of it", () => {
    rules.onCommitDurable(1, 9);
    rules.onCommitDurable(2, 9);
    rules.onRecord(record(11, 1, 4, 5));
    rules.onGone(3);
  });

  it("let no member go that was not removed; an older record of a lagging member is no removal", () => {
    rules.onRecord(record(3, 1));
    rules.onCommitDurable(1, 9);
    rules.onCommitDurable(2, 9);
    expect(() => rules.onGone(2)).to.throw("P18 only who was removed goes");
  });
});
