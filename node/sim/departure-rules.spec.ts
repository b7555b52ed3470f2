import { expect } from "chai";
import { NO_CONFIGURATION } from "../src/raft/index.ts";
import type { Cluster } from "../src/state/index.ts";
import { DepartureRules } from "./departure-rules.ts";

const ADDRESS = { peerEndpoint: "a:1", grpcEndpoint: "a:2", httpEndpoint: "a:3" };

function record(index: number, ...voters: number[]): Cluster {
  const members = voters.map((id) => ({ id, name: `q-${id}`, incarnation: Uint8Array.of(id), address: ADDRESS }));
  const configuration = { ...NO_CONFIGURATION, index, voters };
  return { clusterId: "one", name: "one", version: 1, configuration, members } as unknown as Cluster;
}

describe("P18: the rules of who goes", () => {
  const rule = "P18 nobody goes who may be needed again";
  let rules: DepartureRules;
  beforeEach(() => {
    rules = new DepartureRules();
    rules.onRecord(record(3, 1, 2, 3));
    rules.onCommitDurable(1, 3);
    rules.onCommitDurable(2, 3);
    rules.onRecord(record(9, 1, 2));
  });

  it("let a member go whose removal a majority of the others knows for good", () => {
    rules.onCommitDurable(1, 9);
    rules.onCommitDurable(2, 12);
    rules.onGone(3);
  });

  it("hold it as long as that may be forgotten, whatever it knows itself", () => {
    rules.onCommitDurable(1, 9);
    rules.onCommitDurable(3, 9);
    expect(() => rules.onGone(3)).to.throw(rule);
  });

  it("let it go by the word of any configuration since, and hold it if there is none", () => {
    rules.onCommitDurable(1, 9);
    rules.onRecord(record(11, 1, 4, 5));
    expect(() => rules.onGone(3)).to.throw(rule);
    rules.onCommitDurable(4, 11);
    rules.onGone(3);
  });

  it("let it go though the others know nothing of it who come after that majority", () => {
    rules.onCommitDurable(1, 9);
    rules.onCommitDurable(2, 9);
    rules.onRecord(record(11, 1, 4, 5));
    rules.onGone(3);
  });

  it("let nobody go who was not removed; an older record of a member that lags is no removal", () => {
    rules.onRecord(record(3, 1));
    rules.onCommitDurable(1, 9);
    rules.onCommitDurable(2, 9);
    expect(() => rules.onGone(2)).to.throw("P18 only who was removed goes");
  });
});
