import { expect } from "chai";
import fc from "fast-check";
import { AppliedLog, FOUNDING, requestOf } from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { type Configuration, changeConfiguration, EntryType, NO_CONFIGURATION } from "../../raft/index.ts";
import {
  CONFIGURATION_ROW,
  CoordinationError,
  clusterRow,
  PROGRESS_ROW,
  readCluster,
  readProgress,
} from "../core/index.ts";
import {
  changeOf,
  decodeMembershipEntry,
  encodeMembershipEntry,
  type MembershipEntry,
  type MembershipOperation,
  refusalOfChange,
  SLOTS_MAX,
} from "./membership.ts";

const ADDRESS = { peerEndpoint: "q-1:7402", grpcEndpoint: "q-1:7400", httpEndpoint: "q-1:7401" };
const OTHER_ADDRESS = { ...ADDRESS, peerEndpoint: "elsewhere:7402" };
const INCARNATION = new Uint8Array(16).fill(7);
const OTHER_INCARNATION = new Uint8Array(16).fill(8);

function entryOf(operation: MembershipOperation, changes: Partial<MembershipEntry> = {}): MembershipEntry {
  return { subject: "admin", request: null, expectIndex: 0, operation, ...changes };
}

const addSlot = (name: string): MembershipOperation => ({ kind: "add-slot", name });

function reconfigure(changes: Partial<Record<"promote" | "demote" | "remove", number[]>>): MembershipOperation {
  return { kind: "reconfigure", promote: [], demote: [], remove: [], ...changes };
}

describe("a membership entry", () => {
  it("is read back as it was written", () => {
    const ids = fc.array(fc.maxSafeNat(), { maxLength: 5 });
    const operation: fc.Arbitrary<MembershipOperation> = fc.oneof(
      fc.record({ kind: fc.constant("add-slot" as const), name: fc.string({ unit: "grapheme-ascii" }) }),
      fc.record({ kind: fc.constant("reconfigure" as const), promote: ids, demote: ids, remove: ids }),
    );
    const entry = fc.record({
      subject: fc.constantFrom("admin", "__proto__"),
      request: fc.option(
        fc.record({
          requestId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
          payloadHash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
        }),
        { nil: null },
      ),
      expectIndex: fc.maxSafeNat(),
      operation,
    });
    fc.assert(
      fc.property(entry, (written) => {
        expect(decodeMembershipEntry(encodeMembershipEntry(written))).to.deep.equal(written);
      }),
    );
  });

  it("is a violation if it is too short, too long, or of an unknown format or kind", () => {
    const bytes = encodeMembershipEntry(entryOf(addSlot("q-1")));
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeMembershipEntry(bytes.slice(0, length))).to.throw(InvariantViolation);
    }
    expect(() => decodeMembershipEntry(new Uint8Array([...bytes, 0]))).to.throw(InvariantViolation);
    const format = bytes.slice();
    format[0] = 2;
    expect(() => decodeMembershipEntry(format)).to.throw(InvariantViolation, "known format");
    const kind = bytes.slice();
    kind[kind.length - "q-1".length - 5] = 9;
    expect(() => decodeMembershipEntry(kind)).to.throw(InvariantViolation, "known kind");
  });

  it("proposes its change to the consensus core", () => {
    expect(changeOf(addSlot("q-1"))).to.deep.equal({ type: "add-slot" });
    expect(changeOf(reconfigure({ promote: [2] }))).to.deep.include({ type: "reconfigure", promote: [2] });
  });
});

describe("the membership", () => {
  let log: AppliedLog;

  beforeEach(() => {
    log = new AppliedLog();
  });

  const cluster = () => {
    const found = readCluster(log.store);
    if (found === undefined) {
      throw new Error("the cluster is founded");
    }
    return found;
  };

  function change(
    operation: MembershipOperation,
    configuration: Partial<Configuration> | null = null,
    entry: Partial<MembershipEntry> = {},
  ) {
    const type = operation.kind === "add-slot" ? EntryType.AddSlot : EntryType.Reconfigure;
    return log.append(type, encodeMembershipEntry(entryOf(operation, entry)), (index, changed, expectIndex) => {
      return configuration === null
        ? changeConfiguration(cluster().configuration, index, changed, expectIndex)
        : { ...NO_CONFIGURATION, index, voters: [1], ...configuration };
    });
  }

  function leave() {
    return log.append(EntryType.Leave, new Uint8Array(0), (index, change, expectIndex) => {
      return changeConfiguration(cluster().configuration, index, change, expectIndex);
    });
  }

  function addedSlot(name: string): number {
    const index = log.progress.appliedIndex + 1;
    const outcome = change(addSlot(name));
    expect(outcome?.answer).to.deep.include({ kind: "membership", memberId: index, configIndex: index });
    return index;
  }

  function claim(name: string, incarnation = INCARNATION, address = ADDRESS) {
    return log.lead({ kind: "claim-slot", name, incarnation, address })?.answer;
  }

  it("gains an unclaimed slot, with the index of its entry as its id", () => {
    const id = addedSlot("q-1");
    expect(cluster().configuration.learners).to.deep.equal([id]);
    expect(cluster().members.map((member) => [member.id, member.name, member.incarnation.length])).to.deep.equal([
      [1, FOUNDING.memberName, 16],
      [id, "q-1", 0],
    ]);
  });

  it("P24: has its record written with the applied index of its entry, in one batch", () => {
    const batches: Uint8Array[][] = [];
    const { store } = log;
    const write = store.write.bind(store);
    store.write = (changes) => {
      batches.push(changes.map(({ key }) => key));
      write(changes);
    };
    const before = clusterRow(store);
    addedSlot("q-1");
    expect(batches).to.have.lengthOf(1);
    const names = batches[0]?.map((key) => Buffer.from(key).toString("hex"));
    expect(names).to.include(Buffer.from(CONFIGURATION_ROW).toString("hex"));
    expect(names).to.include(Buffer.from(PROGRESS_ROW).toString("hex"));
    expect(clusterRow(store)).to.not.deep.equal(before);
    expect(cluster().configuration.index).to.equal(readProgress(store).appliedIndex);
  });

  it("refuses a used name, and more slots than allowed", () => {
    const taken = change(addSlot(FOUNDING.memberName), {})?.answer;
    expect(taken).to.be.instanceOf(CoordinationError).with.property("reason", "MEMBER_EXISTS");
    for (let slot = 1; slot < SLOTS_MAX; slot++) {
      addedSlot(`q-${slot}`);
    }
    const full = change(addSlot("one-more"), {})?.answer;
    expect(full).to.be.instanceOf(CoordinationError).with.property("reason", "QUOTA");
    expect(cluster().members).to.have.lengthOf(SLOTS_MAX);
  });

  it("P61: gives a slot to the first directory that claims it, to it again, and to no other", () => {
    const id = addedSlot("q-1");
    expect(claim("q-2")).to.deep.include({ verdict: "no-slot", memberId: 0 });
    expect(claim("q-1")).to.deep.include({ verdict: "accepted", memberId: id });
    const claimed = cluster();
    expect(claimed.members[1]).to.deep.equal({ id, name: "q-1", incarnation: INCARNATION, address: ADDRESS });
    expect(claim("q-1", INCARNATION, OTHER_ADDRESS)).to.deep.include({ verdict: "accepted", memberId: id });
    expect(claim("q-1", OTHER_INCARNATION)).to.deep.include({ verdict: "slot-taken", memberId: id });
    expect(cluster(), "a claim is final").to.deep.equal(claimed);
  });

  it("P46: does not readmit a voter whose directory claims a slot: it has lost acknowledged entries", () => {
    const id = addedSlot("q-1");
    claim("q-1");
    change(reconfigure({ promote: [id] }), { voters: [1, id] });
    expect(claim("q-1")).to.deep.include({ verdict: "slot-taken", memberId: id });
  });

  it("forgets a removed member, so that the name is free for a new slot under another id", () => {
    const id = addedSlot("q-1");
    claim("q-1");
    change(reconfigure({ remove: [id] }), {});
    expect(cluster().members).to.have.lengthOf(1);
    expect(addedSlot("q-1")).to.be.above(id);
    expect(claim("q-1", OTHER_INCARNATION)).to.deep.include({ verdict: "accepted" });
  });

  it("refuses to remove an unknown member, before the configuration changes", () => {
    const id = addedSlot("q-1");
    const before = cluster();
    const asked: number[] = [];
    const entry = encodeMembershipEntry(entryOf(reconfigure({ remove: [id, 999] })));
    const outcome = log.append(EntryType.Reconfigure, entry, (index) => {
      asked.push(index);
      return NO_CONFIGURATION;
    });
    expect(outcome?.answer).to.be.instanceOf(CoordinationError).with.property("reason", "MEMBER_NOT_FOUND");
    expect(asked).to.deep.equal([]);
    expect(cluster()).to.deep.equal(before);
  });

  it("records a new address only for the same directory", () => {
    const id = addedSlot("q-1");
    claim("q-1");
    log.lead({ kind: "update-member", id, incarnation: OTHER_INCARNATION, address: OTHER_ADDRESS });
    expect(cluster().members[1]?.address).to.deep.equal(ADDRESS);
    log.lead({ kind: "update-member", id, incarnation: INCARNATION, address: OTHER_ADDRESS });
    expect(cluster().members[1]?.address).to.deep.equal(OTHER_ADDRESS);
    log.lead({ kind: "update-member", id: 999, incarnation: INCARNATION, address: ADDRESS });
    expect(cluster().members).to.have.lengthOf(2);
  });

  it("returns the refusals of the consensus core in apply, and changes nothing", () => {
    const before = cluster();
    const type = EntryType.Reconfigure;
    const bytes = encodeMembershipEntry(entryOf(reconfigure({ remove: [1] }), { expectIndex: 99 }));
    const asked: unknown[] = [];
    const outcome = log.append(type, bytes, (_index, { type: change }, expectIndex) => {
      asked.push(change, expectIndex);
      return "config-changed";
    });
    expect(outcome?.answer).to.be.instanceOf(CoordinationError).with.property("reason", "CONFIG_CHANGED");
    expect(asked).to.deep.equal(["reconfigure", 99]);
    expect(cluster()).to.deep.equal(before);
  });

  it("S12: answers a repeated request from its row, and adds no second slot", () => {
    const request = requestOf(1);
    const first = change(addSlot("q-1"), null, { request });
    const again = change(addSlot("q-1"), null, { request });
    expect(again).to.deep.equal({ answer: first?.answer, replayed: "yes" });
    expect(cluster().members).to.have.lengthOf(2);
  });

  it("keeps an outgoing voter until the joint configuration ends: its vote is needed to end it", () => {
    const second = addedSlot("q-1");
    change(reconfigure({ promote: [second] }));
    const third = addedSlot("q-2");
    change(reconfigure({ promote: [third], remove: [second] }));
    expect(cluster().configuration).to.deep.include({ voters: [1, third], outgoing: [1, second] });
    expect(cluster().members.map(({ id }) => id)).to.deep.equal([1, second, third]);
    leave();
    expect(cluster().members.map(({ id }) => id)).to.deep.equal([1, third]);
  });

  it("ends a joint configuration", () => {
    const joint = { voters: [1, 2], outgoing: [1], autoLeave: true };
    change(reconfigure({ promote: [2] }), joint);
    expect(cluster().configuration).to.deep.include(joint);
    log.append(EntryType.Leave, new Uint8Array(0), (index, { type }) => {
      expect(type).to.equal("leave");
      return { ...NO_CONFIGURATION, index, voters: [1, 2] };
    });
    expect(cluster().configuration).to.deep.include({ outgoing: [], autoLeave: false });
  });

  it("has a reason of the contract for every refusal of the consensus core", () => {
    const reasons = new Map([
      ["config-changed", "CONFIG_CHANGED"],
      ["change-in-progress", "CONFIG_CHANGE_IN_PROGRESS"],
      ["last-voter", "LAST_VOTER"],
      ["unknown-member", "MEMBER_NOT_FOUND"],
      ["contradictory", "BAD_FIELD"],
      ["not-founded", "NO_LEADER"],
      ["is-leader", "IS_LEADER"],
      ["learner-not-ready", "LEARNER_NOT_READY"],
      ["quorum-unsafe", "QUORUM_UNSAFE"],
    ] as const);
    for (const [refusal, reason] of reasons) {
      expect(refusalOfChange(refusal, cluster()).reason).to.equal(reason);
    }
  });
});
