import { expect } from "chai";
import { decodeMemberReport, type MemberReport } from "../../peers/index.ts";
import type { RaftCore } from "../../raft/index.ts";
import { Checkpoints } from "../../state/index.ts";
import type { Transport } from "../context/index.ts";
import { ClusterDiskSpace } from "./cluster-disk-space.ts";

const VOTERS = [1, 3, 4];
const CHECKPOINT = { index: 1_000, digest: 7 };
const report = (room: MemberReport["diskSpace"], isCritical = false): MemberReport => ({
  diskSpace: room,
  isCritical,
  checkpoint: CHECKPOINT,
});

describe("ClusterDiskSpace", () => {
  let sent: { readonly to: number; readonly report: MemberReport }[];
  let criticals: number;
  let core: { role: "leader" | "follower"; leader: number };

  /** The space of member 1 of three, with a core that the spec controls. */
  function spaceOf(role: "leader" | "follower", leader: number): ClusterDiskSpace {
    core = { role, leader };
    const checkpoints = new Checkpoints(CHECKPOINT.index);
    checkpoints.onApplied(CHECKPOINT.index, CHECKPOINT.digest);
    const configuration = { index: 9, voters: VOTERS, outgoing: [], learners: [], learnersNext: [], autoLeave: false };
    const transport = {
      isConnected: () => true,
      send: (to: number, _kind: string, _type: number, body: Uint8Array) => {
        sent.push({ to, report: decodeMemberReport(body) });
        return true;
      },
    };
    const context = {
      memberId: 1,
      // Only the fields that are read: the rest of a core does not concern disks.
      core: Object.assign(core, { configuration }) as unknown as RaftCore,
      transport: transport as unknown as Transport,
    };
    return new ClusterDiskSpace(context, {
      applyLoop: { checkpoints },
      onCritical: () => {
        criticals++;
      },
    });
  }

  beforeEach(() => {
    sent = [];
    criticals = 0;
  });

  it("P45: takes what grows unless the leader itself or most voters have little room", () => {
    const space = spaceOf("leader", 1);
    expect(space.hasCapacity).to.equal(true);
    space.onReport(3, report("full"));
    expect(space.hasCapacity, "one full member stops no other").to.equal(true);
    space.onReport(4, report("low"));
    expect(space.hasCapacity).to.equal(false);
    space.onReport(4, report("ok"));
    expect(space.hasCapacity).to.equal(true);
    space.onOwnSpace("low");
    expect(space.hasCapacity).to.equal(false);
  });

  it("P45: has the reserves given back when most voters have no room left, and not before", () => {
    const space = spaceOf("leader", 1);
    space.onReport(3, report("full"));
    space.onTick(1_000);
    expect([criticals, sent.length]).to.deep.equal([0, 0]);
    space.onOwnSpace("full");
    space.onTick(1_050);
    expect(criticals).to.equal(1);
    expect(sent.map(({ to, report: { isCritical } }) => [to, isCritical])).to.deep.equal([
      [3, true],
      [4, true],
    ]);
  });

  it("reports to the leader each second, and at once after a change", () => {
    const space = spaceOf("follower", 3);
    for (let nowMs = 0; nowMs <= 2_000; nowMs += 50) {
      space.onTick(nowMs);
    }
    expect(sent.map(({ to, report: { diskSpace: room } }) => [to, room])).to.deep.equal([
      [3, "ok"],
      [3, "ok"],
      [3, "ok"],
    ]);
    space.onOwnSpace("low");
    space.onTick(2_050);
    expect(sent.at(-1)).to.deep.equal({ to: 3, report: report("low") });
  });

  it("believes only the leader that most voters have no room left", () => {
    const space = spaceOf("follower", 3);
    space.onReport(4, report("full", true));
    expect(criticals).to.equal(0);
    space.onReport(3, report("full", true));
    expect(criticals).to.equal(1);
  });

  it("forgets the reports of an earlier leadership", () => {
    const space = spaceOf("leader", 1);
    space.onReport(3, report("low"));
    space.onReport(4, report("low"));
    core.role = "follower";
    core.leader = 3;
    space.onTick(1_000);
    core.role = "leader";
    core.leader = 1;
    expect(space.hasCapacity).to.equal(true);
  });
});
