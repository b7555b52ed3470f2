import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import {
  flipInPlace,
  JOINED_MEMBER as JOINED,
  joinedEntry,
  makeJoinedMember,
  openJoined,
  openJoinedMember,
  segmentsOf,
  temporaryDirectory,
} from "../../../test/harness/index.ts";
import { AppliedLog, FOUNDING, putOf, rowsOf } from "../../../test/index.ts";
import { getKey, readCluster, readFormerCluster, readProgress } from "../../state/index.ts";
import { StoreError } from "../files/index.ts";
import { Refused, readIdentity } from "../identity/index.ts";
import { type MemberData, openDataDirectory } from "../member/index.ts";
import { stageRecovery } from "./recovery.ts";
import { Restoration } from "./restoration.ts";
import { isFurther, StoppedMember } from "./stopped-member.ts";
import type { SuccessorPlan } from "./successor.ts";
import { formerDirectory, placeSuccessor, withSuccessionLock } from "./successor-directory.ts";

const NEXT_ID = "11111111-2222-4333-8444-555555555555";
const THIRD_ID = "99999999-2222-4333-8444-555555555555";
const ADDRESS = { peerEndpoint: "h:1", grpcEndpoint: "h:2", httpEndpoint: "h:3" };

function plan(changes: Partial<SuccessorPlan> = {}): SuccessorPlan {
  return {
    cause: "recovery",
    clusterId: NEXT_ID,
    revisionJump: 1_000_000,
    signingKey: null,
    pageTokenKey: new Uint8Array(32).fill(9),
    wallMs: 1_760_000_000_000,
    owner: null,
    ...changes,
  };
}

async function refusalOf(action: () => Promise<unknown>): Promise<Refused> {
  try {
    await action();
  } catch (error) {
    if (error instanceof Refused) {
      return error;
    }
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("the recovery of a stopped member's data", function () {
  this.timeout(30_000);
  const opened: { close(): Promise<void> }[] = [];
  let directory: string;

  beforeEach(async () => {
    directory = join(temporaryDirectory(), "data");
    await makeJoinedMember(directory);
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) {
      await one.close();
    }
  });

  function keep<T extends { close(): Promise<void> }>(one: T): T {
    opened.push(one);
    return one;
  }

  async function openStopped(from = directory, acceptRetired = false): Promise<StoppedMember> {
    return keep(await StoppedMember.open(from, { acceptRetired }));
  }

  async function close(): Promise<void> {
    for (const one of opened.splice(0)) {
      await one.close();
    }
  }

  async function recover(changes: Partial<SuccessorPlan> = {}) {
    const member = await StoppedMember.open(directory, { acceptRetired: false });
    const staged = await stageRecovery(member, plan(changes)).finally(() => member.close());
    return { staged, identity: placeSuccessor(directory) };
  }

  async function openMember(): Promise<MemberData> {
    return keep(await openJoinedMember(directory));
  }

  /** Adds entries to the log that are not known to be committed, and are not applied. */
  async function appendUnapplied(count: number): Promise<void> {
    const data = await openJoinedMember(directory);
    const rows = Array.from({ length: count }, (_, at) => joinedEntry(JOINED.applied + 1 + at, JOINED.term));
    const hardState = { term: JOINED.term, vote: JOINED.vote, commit: JOINED.applied };
    await new Promise<void>((resolve) => {
      const writeSeq = data.log.meta.writeSeq + 1;
      data.log.write({ writeSeq, ...hardState, from: JOINED.applied + 1, rows, resetTo: null }, () => resolve());
    });
    await data.close();
  }

  it("shows what the member knows", async () => {
    await appendUnapplied(3);
    const { facts } = await openStopped();
    const { cluster, writtenAtMs, ...rest } = facts;
    expect(rest).to.deep.equal({
      clusterId: JOINED.clusterId,
      clusterName: "spec",
      name: "q-6",
      memberId: JOINED.memberId,
      lastIndex: JOINED.applied + 3,
      lastTerm: JOINED.term,
      commitIndex: JOINED.applied,
      appliedIndex: JOINED.applied,
      appliedTerm: JOINED.appliedTerm,
      term: JOINED.term,
      revision: 1,
    });
    expect(cluster?.clusterId).to.equal(JOINED.clusterId);
    expect(Date.now() - writtenAtMs).to.be.within(-1_000, 60_000);
  });

  it("P48: makes it the data of the only member of another cluster, whose log begins behind the state", async () => {
    const { staged, identity } = await recover();
    const id = JOINED.applied + 1;
    expect(staged.progress.revision).to.equal(staged.formerRevision + 1_000_000);
    expect([identity.clusterId, identity.memberId, identity.phase]).to.deep.equal([NEXT_ID, id, "member"]);
    expect(identity.incarnation).to.match(/^[0-9a-f]{32}$/);
    const data = await openMember();
    expect(data.identity).to.deep.equal(identity);
    expect(data.damaged).to.equal(false);
    const term = JOINED.term + 1;
    expect(data.bounds).to.deep.equal({ first: id + 1, prevTerm: term, last: id, lastTerm: term });
    expect([data.term, data.vote, data.commit]).to.deep.equal([term, 0, id]);
    const cluster = readCluster(data.state);
    expect(cluster?.configuration.voters).to.deep.equal([id]);
    expect(cluster?.members[0]?.incarnation.toHex()).to.equal(identity.incarnation);
    expect(cluster?.members[0]?.name).to.equal("q-6");
    expect(readFormerCluster(data.state, JOINED.clusterId)?.lastIndex).to.equal(JOINED.applied);
  });

  it("applies the log to its end, whatever was known to be committed", async () => {
    await appendUnapplied(600);
    const { staged } = await recover();
    expect(staged.progress.appliedIndex).to.equal(JOINED.applied + 601);
    const { state } = await openMember();
    const former = readFormerCluster(state, JOINED.clusterId);
    expect([former?.lastIndex, former?.lastTerm]).to.deep.equal([JOINED.applied + 600, JOINED.term]);
  });

  it("keeps the former data beside it, as it was, never to be served, and still to be read", async () => {
    const before = readIdentity(directory);
    await recover();
    const former = formerDirectory(directory, JOINED.clusterId);
    const { phase, reason, ...rest } = readIdentity(former) ?? {};
    expect({ ...before, ...rest }).to.deep.equal({ ...before });
    expect(phase).to.equal("refused");
    expect(reason).to.contain(NEXT_ID).and.to.contain(JOINED.clusterId);
    const served = await openJoined(former);
    expect(served.phase).to.equal("refused");
    expect((await refusalOf(() => openStopped(former))).message).to.contain("must not be used any more");
    const member = await openStopped(former, true);
    expect(member.facts.lastIndex).to.equal(JOINED.applied);
    expect(readCluster(member.state)?.clusterId).to.equal(JOINED.clusterId);
    expect(readdirSync(directory).sort()).to.deep.equal(
      [`former-cluster-${JOINED.clusterId}`, "fence", "identity", "log", "state", "state-1"].sort(),
    );
  });

  it("does not change the former data by what the new member writes", async () => {
    const member = await openStopped();
    const rows = [...member.rows(1024)].flat().map(({ key, value }) => Buffer.concat([key, value]).toString("hex"));
    await close();
    await recover();
    const data = await openMember();
    data.state.write([{ key: new Uint8Array([0x64, 1]), value: new Uint8Array(100_000) }]);
    await new Promise<void>((resolve) => data.state.sync(resolve));
    await close();
    const former = await openStopped(formerDirectory(directory, JOINED.clusterId), true);
    const after = [...former.rows(1024)].flat().map(({ key, value }) => Buffer.concat([key, value]).toString("hex"));
    expect(after).to.deep.equal(rows);
  });

  it("can happen again, and keeps both former clusters", async () => {
    await recover();
    const { data } = await reopened();
    expect(data.identity.clusterId).to.equal(NEXT_ID);
    await close();
    // It now has another voter, which is lost.
    await addVoter();
    const { identity } = await recover({ clusterId: THIRD_ID });
    expect(identity.clusterId).to.equal(THIRD_ID);
    expect(existsSync(formerDirectory(directory, JOINED.clusterId))).to.equal(true);
    expect(existsSync(formerDirectory(directory, NEXT_ID))).to.equal(true);
    const { state } = await openMember();
    expect(readProgress(state).revision).to.equal(2_000_001);
    expect(readFormerCluster(state, JOINED.clusterId)?.successorId).to.equal(NEXT_ID);
    expect(readFormerCluster(state, NEXT_ID)?.successorId).to.equal(THIRD_ID);
  });

  async function reopened() {
    return { data: await openMember() };
  }

  /** Changes the voters in the applied state: replaces the id in the row by another member's. */
  async function addVoter(): Promise<void> {
    const data = await openJoinedMember(directory);
    const key = new Uint8Array([0x63]);
    const row = Buffer.from(data.state.get(key) as Uint8Array);
    const id = Buffer.alloc(8);
    id.writeBigUInt64BE(BigInt(data.identity.memberId));
    // The list of voters is its length and the ids: the only voter becomes another one.
    const voters = row.indexOf(Buffer.concat([Buffer.from([0, 0, 0, 1]), id]));
    row.writeBigUInt64BE(1n, voters + 4);
    data.state.write([{ key, value: row }]);
    await data.close();
  }

  it("is refused for the only voter of a cluster, whose data stays as it is", async () => {
    directory = join(temporaryDirectory(), "data");
    const options = { directory, clusterName: "spec", name: "member-0", acceptMissingFence: false };
    const onFatal = (error: StoreError): never => {
      throw error;
    };
    const empty = await openDataDirectory({ ...options, onFatal });
    if (empty.phase !== "empty") {
      throw new Error(empty.phase);
    }
    const incarnation = Buffer.from(empty.identity.incarnation, "hex");
    await (await empty.found({ ...FOUNDING, incarnation }, { tickMs: 0, wallMs: 0 })).close();
    const refusal = await refusalOf(recover);
    expect(refusal.message).to.contain("only voter").and.to.contain("Start the member");
    const data = await openDataDirectory({ ...options, onFatal });
    expect(data.phase).to.equal("member");
    keep((data as { data: MemberData }).data);
    expect(readdirSync(directory)).to.not.include("successor.new");
  });

  it("is refused while the member runs", async () => {
    await openMember();
    let error: unknown;
    await StoppedMember.open(directory, { acceptRetired: false }).catch((raised: unknown) => {
      error = raised;
    });
    expect(error).to.be.instanceOf(StoreError);
    expect((error as StoreError).kind).to.equal("locked");
  });

  it("keeps the member from starting while it runs", async () => {
    const member = await openStopped();
    await member.releaseState();
    let error: unknown;
    await openJoined(directory).catch((raised: unknown) => {
      error = raised;
    });
    expect((error as StoreError).kind).to.equal("locked");
  });

  it("is refused for damaged data, by name, and changes none of it", async () => {
    const [segment] = segmentsOf(directory) as [string];
    flipInPlace(segment, 8 * 200);
    const damaged = readFileSync(segment);
    const refusal = await refusalOf(recover);
    expect(refusal.state).to.equal("MEMBER_DAMAGED");
    expect(refusal.message).to.contain(directory).and.to.contain("lost acknowledged data");
    expect(readFileSync(segment)).to.deep.equal(damaged);
  });

  it("is refused for a member that took its data for lost and does not have it again", async () => {
    rmSync(join(directory, "log"), { recursive: true });
    await close();
    const data = await openJoinedMember(directory);
    expect(data.damaged).to.equal(true);
    await data.close();
    expect((await refusalOf(recover)).message).to.contain("does not have everything again");
  });

  it("is refused where there is no data, and makes nothing there", async () => {
    const nowhere = join(temporaryDirectory(), "nowhere");
    expect((await refusalOf(() => openStopped(nowhere))).message).to.contain("holds no member's data");
    expect(existsSync(nowhere)).to.equal(false);
    const empty = await openDataDirectory({
      directory: nowhere,
      clusterName: "spec",
      name: "q",
      acceptMissingFence: false,
      onFatal: () => undefined,
    });
    await (empty as { close(): Promise<void> }).close();
    expect((await refusalOf(() => openStopped(nowhere))).message).to.contain("belongs to no cluster yet");
  });

  it("lets no member start between the decision and its end, and is completed by the next run", async () => {
    const member = await StoppedMember.open(directory, { acceptRetired: false });
    await stageRecovery(member, plan());
    await member.close();
    const refused = await openJoined(directory);
    expect(refused).to.include({ phase: "refused", state: "MEMBER_REFUSED" });
    expect((refused as { reason: string }).reason).to.contain("quoin-node recover --data-dir");
    expect((await refusalOf(() => openStopped())).message).to.contain("interrupted after its decision");
    placeSuccessor(directory);
    expect((await openMember()).identity.clusterId).to.equal(NEXT_ID);
  });

  it("is done by one process at a time", async () => {
    let error: unknown;
    await withSuccessionLock(directory, async () => {
      await withSuccessionLock(directory, async () => undefined).catch((raised: unknown) => {
        error = raised;
      });
    });
    expect((error as StoreError).kind).to.equal("locked");
    await withSuccessionLock(directory, async () => undefined);
    await recover();
    await openMember();
    expect(readdirSync(directory)).to.not.include("successor-lock");
  });

  it("prefers the greater last term, and then the greater last index", async () => {
    const { facts } = await openStopped();
    const at = (lastTerm: number, lastIndex: number) => ({ ...facts, lastTerm, lastIndex });
    expect(isFurther(at(3, 10), at(2, 900))).to.equal(true);
    expect(isFurther(at(2, 900), at(3, 10))).to.equal(false);
    expect(isFurther(at(3, 11), at(3, 10))).to.equal(true);
    expect(isFurther(at(3, 10), at(3, 10))).to.equal(false);
  });
});

describe("a restoration", function () {
  this.timeout(30_000);
  const member = { clusterName: "spec", name: "q-0", address: ADDRESS };
  let directory: string;
  let log: AppliedLog;

  beforeEach(() => {
    directory = join(temporaryDirectory(), "data");
    log = new AppliedLog();
    log.result(putOf("a", "1"));
  });

  function open() {
    return openDataDirectory({
      directory,
      clusterName: "spec",
      name: "q-0",
      acceptMissingFence: false,
      onFatal: (error) => {
        throw error;
      },
    });
  }

  /** From a snapshot as of now and entries that follow it. */
  async function restore() {
    const { appliedIndex: index, appliedTerm: term } = log.progress;
    const restoration = await Restoration.begin(directory);
    for (const row of rowsOf(log.store)) {
      restoration.state.writeRows([row]);
    }
    expect(restoration.state.lastOfRows).to.deep.equal({ index, term });
    restoration.state.finishRows();
    expect(restoration.state.progress.appliedIndex).to.equal(index);
    log.result(putOf("b", "2"));
    restoration.state.apply(log.rows.at(-1) as Uint8Array);
    expect(restoration.state.progress.digest).to.equal(log.progress.digest);
    const staged = await restoration.complete(plan({ cause: "restore" }), member);
    return { staged, identity: placeSuccessor(directory) };
  }

  it("makes a member of the rows of a snapshot and the entries behind it", async () => {
    const { staged, identity } = await restore();
    expect(staged.formerRevision).to.equal(log.revision);
    expect(identity.memberId).to.equal(log.rows.length + 1);
    const opened = await open();
    expect(opened.phase).to.equal("member");
    const { data } = opened as { data: MemberData };
    try {
      expect(data.damaged).to.equal(false);
      for (const [key, value] of [
        ["a", "1"],
        ["b", "2"],
      ] as const) {
        expect(Buffer.from(getKey(data.state, "default", Buffer.from(key))?.value ?? "").toString()).to.equal(value);
      }
      expect(readFormerCluster(data.state, FOUNDING.clusterId)?.cause).to.equal("restore");
      expect(readCluster(data.state)?.members[0]?.address).to.deep.equal(ADDRESS);
    } finally {
      await data.close();
    }
  });

  it("keeps the incarnation of a directory that waits for its cluster", async () => {
    const empty = await open();
    await (empty as { close(): Promise<void> }).close();
    const { identity } = await restore();
    expect(identity.incarnation).to.equal(readIdentity(directory)?.incarnation);
    expect(identity.incarnation).to.equal((empty as { identity: { incarnation: string } }).identity.incarnation);
    const opened = await open();
    expect(opened.phase).to.equal("member");
    await (opened as { data: MemberData }).data.close();
  });

  it("leaves the directory empty when it is given up, and can be tried again", async () => {
    const restoration = await Restoration.begin(directory);
    restoration.state.writeRows(rowsOf(log.store));
    await restoration.abandon();
    await restore();
    expect(readIdentity(directory)?.clusterId).to.equal(NEXT_ID);
  });

  it("is refused where there is anything", async () => {
    mkdirSync(directory);
    writeFileSync(join(directory, "a file"), "");
    expect((await refusalOf(() => Restoration.begin(directory))).message).to.contain("it is not empty");
    rmSync(join(directory, "a file"));
    await restore();
    const refusal = await refusalOf(() => Restoration.begin(directory));
    expect(refusal.message).to.contain('it belongs to member "q-0"').and.to.contain(NEXT_ID);
  });
});
