/** Members that meet: real connections, stores and drivers, in one process. */

import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { InProcessMember, JOIN_TOKEN, temporaryDirectory, until } from "../../../test/harness/index.ts";
import { FOUNDING, OWNER, refused, requestOf } from "../../../test/index.ts";
import { PeerMemberDouble } from "../../../test/peers/index.ts";
import { CLUSTER_VERSION, CoordinationError, getKey, readCluster } from "../../state/index.ts";
import { FoundingRecord } from "../../storage/index.ts";
import { systemScheduler } from "../context/index.ts";

const DEADLINE_MS = 30_000;

describe("members that meet", function () {
  this.timeout(60_000);
  let sites: InProcessMember[];
  let requests: number;

  beforeEach(() => {
    sites = [];
    requests = 0;
  });

  afterEach(async () => {
    await Promise.all(sites.map((site) => site.stop()));
    expect(sites.flatMap(({ fatal }) => fatal)).to.deep.equal([]);
  });

  function site(name: string): InProcessMember {
    const made = new InProcessMember(name, join(temporaryDirectory(), "data"));
    sites.push(made);
    return made;
  }

  async function founded(): Promise<InProcessMember> {
    const founder = site("q-0");
    await founder.start([]);
    await founder.found();
    return founder;
  }

  /** Promotes once the leader finds the learners fit for it. */
  async function promote(leader: InProcessMember, ...ids: number[]): Promise<void> {
    await until("the learners to be promotable", async () => {
      try {
        await leader.change({ kind: "reconfigure", promote: ids, demote: [], remove: [] });
        return true;
      } catch (error) {
        if (error instanceof CoordinationError && error.reason === "LEARNER_NOT_READY") {
          return false;
        }
        throw error;
      }
    });
  }

  it("names the cluster that is recorded when it asks for a slot, and stays out of any other", async () => {
    const founder = await founded();
    const record = temporaryDirectory();
    const write = (clusterId: string): void => {
      for (const [name, text] of Object.entries({ clusterId, founder: "q-0", founderIncarnation: "-" })) {
        writeFileSync(join(record, name), text);
      }
    };
    write(crypto.randomUUID());
    await founder.change({ kind: "add-slot", name: "q-1" });
    const joiner = site("q-1");
    await joiner.start([founder], { record: new FoundingRecord(record) });
    await joiner.untilState("WRONG_CLUSTER");
    const slot = readCluster(founder.replica.state)?.members.find(({ name }) => name === "q-1");
    expect(slot?.incarnation.toHex()).to.equal("");
    write(FOUNDING.clusterId);
    await joiner.untilState("RUNNING");
  });

  async function put({ replica }: InProcessMember, key: string): Promise<void> {
    const operation = {
      ...({ kind: "put-key", namespace: "default", key: Buffer.from(key), value: Buffer.from("v") } as const),
      ttlSeconds: 0,
      expectedModRevision: undefined,
      returnPrevious: false,
    };
    const command = { principal: OWNER, request: requestOf(++requests), operation };
    const answer = await new Promise((resolve) => {
      replica.propose(command, performance.now() + DEADLINE_MS, (error, outcome) => resolve(error ?? outcome?.answer));
    });
    expect(answer).to.not.be.instanceOf(CoordinationError);
  }

  function read({ replica }: InProcessMember, key: string): Promise<bigint | number> {
    return new Promise((resolve, reject) => {
      replica.readBarrier(performance.now() + DEADLINE_MS, (error) => {
        if (error === null) {
          resolve(getKey(replica.state, "default", Buffer.from(key)).version);
        } else {
          reject(error);
        }
      });
    });
  }

  const members = (at: InProcessMember) => readCluster(at.replica.state)?.members ?? [];

  async function joined(leader: InProcessMember, name: string): Promise<InProcessMember> {
    await leader.change({ kind: "add-slot", name });
    const joining = site(name);
    await joining.start([leader]);
    await joining.untilState("RUNNING");
    return joining;
  }

  it("waits as EMPTY for its slot, claims the one that comes, catches up and is promoted", async () => {
    const founder = await founded();
    await put(founder, "before");
    const second = site("q-1");
    await second.start([founder]);
    await until("the answer", () => second.member.reason.includes("waiting to be added"));
    expect([second.member.state, second.member.memberId]).to.deep.equal(["EMPTY", 0]);
    const id = await founder.change({ kind: "add-slot", name: "q-1" });
    await second.untilState("RUNNING");
    expect([second.member.memberId, second.member.clusterId]).to.deep.equal([id, FOUNDING.clusterId]);
    expect(members(founder).find((slot) => slot.id === id)).to.deep.include({
      name: "q-1",
      address: { peerEndpoint: second.endpoint, grpcEndpoint: "q-1:1", httpEndpoint: "q-1:2" },
    });
    await promote(founder, id);
    await put(second, "after");
    expect([await read(second, "before"), await read(founder, "after")]).to.deep.equal([1, 1]);
  });

  it("goes on after a restart of all, also if most of them listen elsewhere then", async () => {
    const founder = await founded();
    const others = [await joined(founder, "q-1"), await joined(founder, "q-2")];
    await promote(founder, ...others.map(({ member }) => member.memberId));
    await put(founder, "kept");
    await Promise.all(sites.map((one) => one.stop()));
    for (const one of others) {
      // Any port but the recorded one.
      one.port = 0;
    }
    for (const one of sites) {
      await one.start([]);
    }
    await until("the new addresses to be recorded everywhere", () => {
      const endpoints = sites.map(({ endpoint }) => endpoint).join();
      return sites.every(
        (one) =>
          members(one)
            .map(({ address }) => address.peerEndpoint)
            .join() === endpoints,
      );
    });
    for (const one of sites) {
      expect(await read(one, "kept")).to.equal(1);
    }
  });

  it("finds its way to members that were added while it was away, and to a leader of whom it knows nothing", async () => {
    const founder = await founded();
    const away = await joined(founder, "q-1");
    await away.stop();
    const others = [await joined(founder, "q-2"), await joined(founder, "q-3")];
    const [second, third] = others as [InProcessMember, InProcessMember];
    await promote(founder, second.member.memberId, third.member.memberId);
    await founder.member.handOver(5_000);
    await until("another leader", () => [second, third].some((one) => one.replica.status().role === "leader"));
    await put(second, "meanwhile");
    // By its own record it knows only the founder, which does not exist any more.
    await founder.stop();
    await away.start([third]);
    await until("it has caught up", () => members(away).length === 4);
    await until("the write", () => getKey(away.replica.state, "default", Buffer.from("meanwhile")).version === 1);
  });

  it("P46: says MEMBER_DATA_LOST with an empty directory, and returns under a new id once it was added again", async () => {
    const founder = await founded();
    const second = await joined(founder, "q-1");
    const lostId = second.member.memberId;
    await second.stop();
    rmSync(second.directory, { recursive: true });
    await second.start([founder]);
    await second.untilState("MEMBER_DATA_LOST");
    expect(second.member.reason).to.include(`remove member ${lostId}`).and.include('add "q-1" again');
    expect(second.member.replica).to.equal(null);
    await founder.change({ kind: "reconfigure", promote: [], demote: [], remove: [lostId] });
    const newId = await founder.change({ kind: "add-slot", name: "q-1" });
    await second.untilState("RUNNING");
    expect(second.member.memberId).to.equal(newId);
    expect(newId).to.be.greaterThan(lostId);
  });

  it("learns that it was removed, marks its data, and never serves it again", async () => {
    const founder = await founded();
    const second = await joined(founder, "q-1");
    const id = second.member.memberId;
    await founder.change({ kind: "reconfigure", promote: [], demote: [], remove: [id] });
    await second.untilState("MEMBER_REMOVED");
    expect(second.ends).to.have.length(1);
    expect(second.ends[0]).to.include({ end: "removed" });
    expect(second.member.replica).to.equal(null);
    await second.stop();
    await second.start([founder]);
    expect([second.member.state, second.member.replica]).to.deep.equal(["MEMBER_REMOVED", null]);
    expect(second.member.reason).to.include("removed from its cluster");
  });

  it("learns from a seed that it was removed before it had applied anything", async () => {
    const founder = await founded();
    const id = await founder.change({ kind: "add-slot", name: "q-1" });
    const second = site("q-1");
    // The process dies between its claim and the first entry: it has its id, and knows no member.
    await second.start([founder], { scheduler: { ...systemScheduler, immediate: () => undefined } });
    await until("its claim", () => members(founder).some((slot) => slot.id === id && slot.incarnation.length > 0));
    await second.untilState("JOINING");
    await until("its data", () => second.member.memberId === id);
    await second.stop();
    await founder.change({ kind: "reconfigure", promote: [], demote: [], remove: [id] });
    await second.start([founder]);
    await second.untilState("MEMBER_REMOVED");
  });

  it("is refused, with its data, if a later start of the same directory was seen", async () => {
    const founder = await founded();
    const second = await joined(founder, "q-1");
    await second.stop();
    const copy = site("q-1");
    cpSync(second.directory, copy.directory, { recursive: true });
    for (let boot = 0; boot < 2; boot++) {
      await second.start([founder]);
      const { memberId } = second.member;
      await until("its contact", () => founder.lines.some((line) => line.includes("has connected")));
      await until("its state", () => second.replica.status().leaderId === 1 && memberId !== 0);
      await second.stop();
    }
    await copy.start([founder]);
    await copy.untilState("MEMBER_REFUSED");
    expect(copy.ends[0]).to.include({ end: "refused" });
    expect(copy.member.reason).to.include("old copy").and.include("add it again");
  });

  it("P46: goes on without a vote after it lost its log, has all of it again, and may lead then", async () => {
    const founder = await founded();
    const others = [await joined(founder, "q-1"), await joined(founder, "q-2")];
    await promote(founder, ...others.map(({ member }) => member.memberId));
    await put(founder, "acknowledged");
    const [second] = others as [InProcessMember];
    await second.stop();
    rmSync(join(second.directory, "log"), { recursive: true });
    await second.start([]);
    expect([second.member.state, second.ends]).to.deep.equal(["MEMBER_DAMAGED", []]);
    expect(second.replica.status().alarms.join()).to.include("without a vote");
    await second.untilState("RUNNING");
    expect(await read(second, "acknowledged")).to.equal(1);
    await until("the leader to hand over to it, which it does to healed members alone", async () => {
      const leader = sites.find((one) => one.replica.status().role === "leader");
      await new Promise<void>((resolve) => {
        leader?.replica.transferLeadership(second.member.memberId, 0, performance.now() + DEADLINE_MS, () => resolve());
      });
      return second.replica.status().role === "leader";
    });
    await second.stop();
    await second.start([]);
    expect(second.member.state).to.equal("RUNNING");
  });

  it("is too old once all others say so, and has an alarm before", async () => {
    const founder = await founded();
    const doubles: PeerMemberDouble[] = [];
    try {
      for (const name of ["q-1", "q-2"]) {
        const id = await founder.change({ kind: "add-slot", name });
        const double = await PeerMemberDouble.start(id);
        doubles.push(double);
        double.clusterId = FOUNDING.clusterId;
        double.joinTokens = [JOIN_TOKEN];
        double.directory.set(1, founder.member.incarnation);
        const incarnation = Buffer.from(double.incarnation, "hex");
        const address = { peerEndpoint: double.listed.address, grpcEndpoint: "", httpEndpoint: "" };
        const claim = { kind: "claim-slot", name, incarnation, address } as const;
        await new Promise<void>((resolve) => {
          founder.replica.proposeClusterOperation(claim, performance.now() + DEADLINE_MS, () => resolve());
        });
        await until("both connections", () => double.connected.length === 2);
      }
      for (const double of doubles) {
        expect(founder.ends).to.deep.equal([]);
        double.clusterVersion = CLUSTER_VERSION + 1;
        // Checks the connected peers again.
        double.knows({ memberId: 1, incarnation: founder.member.incarnation, address: founder.endpoint });
        const alarm = `member ${double.memberId} refuses this one: VERSION`;
        await until("the alarm", () => founder.member.alarms.includes(alarm));
      }
      expect(founder.ends.map(({ end }) => end)).to.deep.equal(["too-old"]);
    } finally {
      await Promise.all(doubles.map((double) => double.transport.stop()));
    }
  });

  it("P47: founds nothing while a seed that answers belongs to a cluster, and asks on for its slot", async () => {
    const founder = await founded();
    const second = site("q-1");
    await second.start([founder]);
    const error = await refused(() => second.member.bootstrap(second.founding({ clusterId: crypto.randomUUID() })));
    expect(error.reason).to.equal("NOT_EMPTY");
    expect(error.message).to.include(founder.endpoint);
    await founder.change({ kind: "add-slot", name: "q-1" });
    await second.untilState("RUNNING");
    const late = await refused(() => second.member.bootstrap(second.founding()));
    expect(late.reason).to.equal("NOT_EMPTY");
    expect(second.member.clusterId).to.equal(FOUNDING.clusterId);
  });

  it("P47: founds among seeds that have no cluster either, and the others join it", async () => {
    const [first, second] = [site("q-0"), site("q-1")];
    await first.start([]);
    await second.start([first]);
    await first.stop();
    await first.start([first, second]);
    await first.found();
    await first.change({ kind: "add-slot", name: "q-1" });
    await second.untilState("RUNNING");
  });

  it("is of a wrong cluster if the seeds are of another name, and takes nothing from them", async () => {
    const founder = await founded();
    await founder.change({ kind: "add-slot", name: "q-1" });
    const stranger = site("q-1");
    await stranger.start([founder], { clusterName: "other" });
    await stranger.untilState("WRONG_CLUSTER");
    expect(stranger.member.reason).to.include(founder.endpoint).and.include('"other"');
    expect((await refused(() => stranger.member.bootstrap(stranger.founding()))).reason).to.equal("NOT_EMPTY");
  });

  it("gives a leadership away before it stops", async () => {
    const founder = await founded();
    const others = [await joined(founder, "q-1"), await joined(founder, "q-2")];
    await promote(founder, ...others.map(({ member }) => member.memberId));
    await founder.member.handOver(5_000);
    expect(founder.replica.status().role).to.not.equal("leader");
    await founder.stop();
    await put(others[0] as InProcessMember, "later");
  });

  it("stops in every state, and lets go of port and directory", async () => {
    const founder = await founded();
    const waiting = site("q-9");
    await waiting.start([founder]);
    const silent = site("q-8");
    silent.port = 1;
    const asking = site("q-7");
    await asking.start([silent]);
    for (const one of [waiting, asking, founder]) {
      await Promise.all([one.member.stop(), one.member.stop()]);
      await one.stop();
      await one.start([]);
    }
  });
});
