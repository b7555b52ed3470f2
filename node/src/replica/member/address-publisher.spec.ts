import { expect } from "chai";
import { FakeTime, until } from "../../../test/harness/index.ts";
import { AppliedReplica, FOUNDING } from "../../../test/index.ts";
import { readCluster } from "../../state/index.ts";
import { AddressPublisher } from "./address-publisher.ts";

const MOVED = { peerEndpoint: "elsewhere:7402", grpcEndpoint: "elsewhere:7400", httpEndpoint: "elsewhere:7401" };
const INCARNATION = "11".repeat(16);

describe("AddressPublisher", () => {
  let replica: AppliedReplica;
  let time: FakeTime;
  let own: AddressPublisher;

  beforeEach(() => {
    replica = new AppliedReplica();
    time = new FakeTime();
    own = make(MOVED);
  });

  afterEach(() => own.stop());

  function make(address: typeof MOVED, incarnation = INCARNATION): AddressPublisher {
    return new AddressPublisher({ memberId: 1, incarnation, address, replica, clock: time, scheduler: time });
  }

  const recorded = () => readCluster(replica.state)?.members[0]?.address;

  /** Waits until the proposal was answered. */
  const answered = () => until("the pause after the answer", () => time.timerCount === 1);

  it("has another address recorded, once, and proposes nothing when it is right", async () => {
    own.publishIfOutdated();
    own.publishIfOutdated();
    await answered();
    time.advance(60_000);
    own.publishIfOutdated();
    expect(recorded()).to.deep.equal(MOVED);
    expect([replica.proposed.length, time.timerCount]).to.deep.equal([1, 0]);
    own = make(FOUNDING.address);
    own.publishIfOutdated();
    expect(replica.proposed).to.have.length(2);
  });

  it("notices each of the three parts", () => {
    for (const part of ["peerEndpoint", "grpcEndpoint", "httpEndpoint"] as const) {
      const before = replica.proposed.length;
      make({ ...FOUNDING.address, [part]: "elsewhere:1" }).publishIfOutdated();
      expect(replica.proposed.length - before, part).to.equal(1);
      make(FOUNDING.address).publishIfOutdated();
    }
  });

  it("tries again each second until it is done", async () => {
    replica.hasMajority = false;
    own.publishIfOutdated();
    for (let attempt = 1; attempt <= 3; attempt++) {
      await answered();
      expect(replica.proposed).to.have.length(attempt);
      time.advance(1_000);
    }
    await answered();
    replica.hasMajority = true;
    time.advance(1_000);
    await answered();
    expect(recorded()).to.deep.equal(MOVED);
  });

  it("proposes nothing as long as the record does not name this directory", () => {
    own = make(MOVED, "22".repeat(16));
    own.publishIfOutdated();
    expect(replica.proposed).to.deep.equal([]);
  });

  it("ends when it is stopped, whatever is under way", async () => {
    replica.hasMajority = false;
    own.publishIfOutdated();
    own.stop();
    replica.hasMajority = true;
    own.publishIfOutdated();
    time.advance(60_000);
    expect([replica.proposed.length, time.timerCount]).to.deep.equal([1, 0]);
  });
});
