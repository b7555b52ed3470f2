import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { FakeTime, temporaryDirectory, until } from "../../../test/harness/index.ts";
import { FOUNDING, OWNER, refused, requestOf } from "../../../test/index.ts";
import { CoordinationError, type Founding, getKey } from "../../state/index.ts";
import { FoundingRecord, measureDisk, StoreError } from "../../storage/index.ts";
import { systemClock, systemScheduler } from "../context/index.ts";
import { DEFAULT_REPLICA_LIMITS } from "../index.ts";
import { Member } from "./member.ts";
import type { MemberOptions } from "./member-options.ts";

const DEADLINE_MS = 30_000;
const OTHER_CLUSTER = "11111111-2222-4333-8444-555555555555";

describe("Member", () => {
  let directory: string;
  let members: Member[];
  let fatal: StoreError[];

  beforeEach(() => {
    directory = join(temporaryDirectory(), "data");
    members = [];
    fatal = [];
  });
  afterEach(() => Promise.all(members.map((member) => member.stop())));

  async function open(options: Partial<MemberOptions> = {}): Promise<Member> {
    const member = await Member.open({
      directory,
      clusterName: "spec",
      name: "q-0",
      acceptMissingFence: false,
      onFatal: (error) => fatal.push(error),
      clock: systemClock,
      scheduler: systemScheduler,
      limits: DEFAULT_REPLICA_LIMITS,
      version: "1.2.3",
      peering: null,
      log: { info: () => undefined, warn: () => undefined },
      record: null,
      measureDisk,
      hasReserve: false,
      onRole: () => undefined,
      onEnd: (end, reason) => fatal.push(new StoreError("io", `${end}: ${reason}`)),
      onDiskStuck: () => fatal.push(new StoreError("io", "stuck")),
      ...options,
    });
    members.push(member);
    return member;
  }

  function foundingOf(member: Member, changes: Partial<Founding> = {}): Founding {
    return { ...FOUNDING, incarnation: Buffer.from(member.incarnation, "hex"), ...changes };
  }

  async function founded(): Promise<Member> {
    const member = await open();
    await member.bootstrap(foundingOf(member));
    return member;
  }

  function put(member: Member, request: number): Promise<string> {
    return new Promise((resolve) => {
      const key = Buffer.from(`k${request}`);
      const operation = {
        ...({ kind: "put-key", namespace: "default", key, value: Buffer.from("v"), ttlSeconds: 0 } as const),
        expectedModRevision: undefined,
        returnPrevious: false,
      };
      const command = { principal: OWNER, request: requestOf(request), operation };
      member.replica?.propose(command, performance.now() + DEADLINE_MS, (error, outcome) => {
        const answer = error ?? outcome?.answer;
        resolve(answer instanceof CoordinationError ? answer.reason : `${outcome?.replayed}`);
      });
    });
  }

  it("is EMPTY where there was nothing: it has a name and an incarnation, and serves nothing", async () => {
    const member = await open();
    expect(member.state).to.equal("EMPTY");
    expect(member.incarnation).to.match(/^[0-9a-f]{32}$/);
    const { reason, clusterId, memberId, replica, name, clusterName, version } = member;
    expect({ reason, clusterId, memberId, replica, name, clusterName, version }).to.deep.equal({
      reason: "",
      clusterId: "",
      memberId: 0,
      replica: null,
      name: "q-0",
      clusterName: "spec",
      version: "1.2.3",
    });
    expect(member.dbSizeBytes).to.be.greaterThan(0);
    expect(member.diskFreeBytes).to.be.greaterThan(0);
  });

  it("founds a cluster on request, and serves it", async () => {
    const member = await open();
    expect(await member.bootstrap(foundingOf(member))).to.equal(1);
    expect(member.state).to.equal("RUNNING");
    expect([member.clusterId, member.memberId, member.reason]).to.deep.equal([FOUNDING.clusterId, 1, ""]);
    expect(await put(member, 1)).to.equal("no");
    const { state } = member.replica as NonNullable<typeof member.replica>;
    expect(getKey(state, "default", Buffer.from("k1")).version).to.equal(1);
  });

  it("answers a repeat of the founding the same, at the same time, later, and after a restart", async () => {
    const member = await open();
    const founding = foundingOf(member);
    expect(await Promise.all([member.bootstrap(founding), member.bootstrap(founding)])).to.deep.equal([1, 1]);
    expect(await member.bootstrap(founding)).to.equal(1);
    expect(await put(member, 1)).to.equal("no");
    await member.stop();
    const again = await open();
    expect(again.state).to.equal("RUNNING");
    expect(await again.bootstrap(founding)).to.equal(1);
    expect(await put(again, 1)).to.equal("yes");
  });

  it("refuses a founding that was meant for another data directory, whatever it is itself", async () => {
    const member = await open();
    const founding = foundingOf(member, { incarnation: new Uint8Array(16).fill(0xab) });
    for (const state of ["EMPTY", "RUNNING"]) {
      expect(member.state).to.equal(state);
      const error = await refused(() => member.bootstrap(founding));
      expect([error.reason, error.details.get("field")]).to.deep.equal(["BAD_FIELD", "incarnation"]);
      expect(error.message).to.include("ab".repeat(16)).and.include(member.incarnation);
      await member.bootstrap(foundingOf(member));
    }
  });

  it("refuses a second cluster, during the founding of the first and after it", async () => {
    const member = await open();
    const other = foundingOf(member, { clusterId: OTHER_CLUSTER });
    const founding = member.bootstrap(foundingOf(member));
    expect((await refused(() => member.bootstrap(other))).reason).to.equal("NOT_EMPTY");
    await founding;
    const error = await refused(() => member.bootstrap(other));
    expect(error.reason).to.equal("NOT_EMPTY");
    expect(error.message).to.include(FOUNDING.clusterId);
    expect(member.clusterId).to.equal(FOUNDING.clusterId);
  });

  describe("with a record of the cluster outside of its data", () => {
    let record: string;

    beforeEach(() => {
      record = join(temporaryDirectory(), "identity");
    });

    function write(clusterId: string, founderIncarnation: string): void {
      mkdirSync(record, { recursive: true });
      for (const [name, text] of Object.entries({ clusterId, founder: "q-0", founderIncarnation })) {
        writeFileSync(join(record, name), text);
      }
    }

    it("founds what is recorded, and nothing else once something is", async () => {
      const member = await open({ record: new FoundingRecord(record) });
      for (const [clusterId, incarnation] of [
        [OTHER_CLUSTER, member.incarnation],
        [FOUNDING.clusterId, "ab".repeat(16)],
        [FOUNDING.clusterId, "-"],
        ["no id", member.incarnation],
      ] as const) {
        write(clusterId, incarnation);
        const error = await refused(() => member.bootstrap(foundingOf(member)));
        expect([error.reason, member.state]).to.deep.equal(["NOT_EMPTY", "EMPTY"]);
        expect(error.message).to.include("no cluster is founded").and.include(record);
      }
      expect(member.alarms.join()).to.include("cannot be used");
      write(FOUNDING.clusterId, member.incarnation);
      expect([await member.bootstrap(foundingOf(member)), member.alarms]).to.deep.equal([1, []]);
    });

    it("founds without one: it may come later than the member", async () => {
      const member = await open({ record: new FoundingRecord(record) });
      expect(await member.bootstrap(foundingOf(member))).to.equal(1);
    });

    it("is WRONG_CLUSTER with data of another cluster than is recorded, until that is mended", async () => {
      const first = await founded();
      expect(await put(first, 1)).to.equal("no");
      await first.stop();
      write(OTHER_CLUSTER, "-");
      const time = new FakeTime();
      const every = (intervalMs: number, callback: () => void): (() => void) => {
        return intervalMs === 2_000 ? time.every(intervalMs, callback) : systemScheduler.every(intervalMs, callback);
      };
      const member = await open({ record: new FoundingRecord(record), scheduler: { ...systemScheduler, every } });
      expect([member.state, member.replica, member.clusterId, member.memberId]).to.deep.equal([
        ...["WRONG_CLUSTER", null, FOUNDING.clusterId, 1],
      ]);
      expect(member.reason).to.include(OTHER_CLUSTER).and.include(FOUNDING.clusterId);
      expect((await refused(() => member.bootstrap(foundingOf(member)))).reason).to.equal("NOT_EMPTY");
      time.advance(2_000);
      expect(member.state).to.equal("WRONG_CLUSTER");
      write(FOUNDING.clusterId, "-");
      time.advance(2_000);
      expect([member.state, member.reason]).to.deep.equal(["RUNNING", ""]);
      expect(await put(member, 1)).to.equal("yes");
      expect(time.timerCount).to.equal(0);
    });

    it("may be stopped while it is WRONG_CLUSTER, and lets go of the directory", async () => {
      await (await founded()).stop();
      write(OTHER_CLUSTER, "-");
      const member = await open({ record: new FoundingRecord(record) });
      expect(member.state).to.equal("WRONG_CLUSTER");
      await member.stop();
      expect((await open()).state).to.equal("RUNNING");
    });

    it("goes on when the record changes while it runs, with an alarm", async () => {
      const member = await open({ record: new FoundingRecord(record) });
      await member.bootstrap(foundingOf(member));
      write(OTHER_CLUSTER, member.incarnation);
      expect(await put(member, 1)).to.equal("no");
      expect([member.state, member.alarms.join()]).to.deep.equal([
        "RUNNING",
        `${record} names cluster ${OTHER_CLUSTER}, not ${FOUNDING.clusterId}`,
      ]);
    });
  });

  it("goes on with its data after a stop: nothing that was answered is lost", async () => {
    const first = await founded();
    expect(await Promise.all([1, 2, 3].map((request) => put(first, request)))).to.deep.equal(["no", "no", "no"]);
    await first.stop();
    expect(first.replica).to.equal(null);
    const second = await open();
    expect(second.incarnation).to.equal(first.incarnation);
    expect(await put(second, 3)).to.equal("yes");
    expect(await put(second, 4)).to.equal("no");
  });

  it("is MEMBER_REFUSED or MEMBER_DAMAGED, with the reason, and serves and founds nothing", async () => {
    const first = await founded();
    expect(await put(first, 1)).to.equal("no");
    await first.stop();
    const other = await open({ name: "q-1" });
    expect([other.state, other.replica]).to.deep.equal(["MEMBER_REFUSED", null]);
    expect(other.reason).to.include('belongs to member "q-0"');
    await other.stop();
    rmSync(join(directory, "log"), { recursive: true });
    const damaged = await open();
    expect([damaged.state, damaged.replica, damaged.memberId]).to.deep.equal(["MEMBER_DAMAGED", null, 1]);
    expect(damaged.reason).to.include("has lost acknowledged data");
    const error = await refused(() => damaged.bootstrap(foundingOf(damaged)));
    expect(error.reason).to.equal("NOT_EMPTY");
    expect(error.message).to.include("MEMBER_DAMAGED");
    await damaged.stop();
    rmSync(join(directory, "identity"));
    const unknown = await open();
    expect([unknown.state, unknown.incarnation]).to.deep.equal(["MEMBER_REFUSED", ""]);
  });

  it("waits for a founding that runs before it stops, and the next start finds all of it", async () => {
    const member = await open();
    const founding = member.bootstrap(foundingOf(member));
    await member.stop();
    expect(await founding).to.equal(1);
    expect(member.replica).to.equal(null);
    expect(
      (await refused(() => member.bootstrap(foundingOf(member, { clusterId: crypto.randomUUID() })))).reason,
    ).to.equal("SHUTTING_DOWN");
    const again = await open();
    expect(again.state).to.equal("RUNNING");
    expect(await put(again, 1)).to.equal("no");
  });

  it("may be stopped several times, in any state, and lets go of the directory", async () => {
    for (const state of ["EMPTY", "RUNNING"]) {
      const member = await open();
      if (state === "RUNNING") {
        await member.bootstrap(foundingOf(member));
      }
      expect(member.state).to.equal(state);
      await Promise.all([member.stop(), member.stop()]);
      await member.stop();
    }
    expect((await open()).state).to.equal("RUNNING");
  });

  it("answers who waits when it is stopped while it writes", async () => {
    const member = await founded();
    expect(await put(member, 1)).to.equal("no");
    const answers = Array.from({ length: 50 }, (_, at) => put(member, 10 + at));
    await member.stop();
    for (const answer of await Promise.all(answers)) {
      expect(["no", "SHUTTING_DOWN"]).to.include(answer);
    }
    expect(fatal).to.deep.equal([]);
  });

  it("reports a founding that the disk refused as fatal, because it is half done, and stops all the same", async () => {
    const member = await open();
    writeFileSync(join(directory, "state-1"), "in the way");
    const error = await member.bootstrap(foundingOf(member)).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(StoreError);
    expect(fatal).to.deep.equal([error]);
    await member.stop();
    rmSync(join(directory, "state-1"));
    expect((await open()).state).to.equal("RUNNING");
  });

  it("is refused while another process has the directory open", async () => {
    await founded();
    const error = await open().catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(StoreError).with.property("kind", "locked");
  });

  it("reports since when it runs and has its state", async () => {
    const time = new FakeTime();
    const member = await open({ clock: time, scheduler: systemScheduler });
    time.stall(1_234.5);
    expect([member.uptimeMs, member.stateForMs]).to.deep.equal([1_234, 1_234]);
    await member.bootstrap(foundingOf(member));
    time.stall(1_000);
    expect([member.uptimeMs, member.stateForMs]).to.deep.equal([2_234, 1_000]);
  });

  it("reports who leads", async () => {
    const roles: string[] = [];
    const member = await open({ onRole: (role, term, leaderId) => roles.push(`${role} ${term} ${leaderId}`) });
    await member.bootstrap(foundingOf(member));
    await until("it leads", () => roles.includes("leader 2 1"));
  });

  it("reports the disk space to the driver, before and after there is one, and when the space is not known", async () => {
    const time = new FakeTime();
    let free = 1;
    const measureDisk = async () => {
      if (free < 0) {
        throw new Error("no such disk");
      }
      return { freeBytes: free, totalBytes: 1_000 };
    };
    // The driver uses the real clock; the spec triggers what happens each second.
    const every = (intervalMs: number, callback: () => void): (() => void) => {
      return intervalMs === 1_000 ? time.every(intervalMs, callback) : systemScheduler.every(intervalMs, callback);
    };
    const member = await open({ measureDisk, scheduler: { ...systemScheduler, every } });
    await member.bootstrap(foundingOf(member));
    const alarms = () => [...(member.replica?.status().alarms ?? []), ...member.alarms].join();
    await until("it to be full", () => alarms() === "the disk is full");
    free = 1_000;
    time.advance(1_000);
    await until("it to have room", () => alarms() === "");
    free = -1;
    time.advance(1_000);
    await until("the failure", () => alarms() === "the free space on the disk is not known: no such disk");
  });
});
