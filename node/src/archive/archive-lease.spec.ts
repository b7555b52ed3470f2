import { expect } from "chai";
import { ReplicaCluster } from "../../test/harness/index.ts";
import { NO_ARCHIVE } from "../peers/index.ts";
import type { ArchiveHost } from "./archive-host.ts";
import { ArchiveLease } from "./archive-lease.ts";

describe("lease of the archive", () => {
  let cluster: ReplicaCluster;
  let leases: Map<number, ArchiveLease>;
  let index: number;

  beforeEach(() => {
    cluster = ReplicaCluster.ledBy(1);
    index = 7;
    leases = new Map([1, 2, 3].map((id) => [id, new ArchiveLease(hostOf(id), cluster.time)]));
  });

  function hostOf(memberId: number): ArchiveHost {
    const about = { name: `member-${memberId}`, clusterName: "spec", clusterId: "", memberId, version: "0.0.0" };
    return {
      ...about,
      get replica() {
        return cluster.node(memberId).isRunning ? cluster.replica(memberId) : null;
      },
    };
  }

  /** Lets the members ask the leader for some seconds. */
  function pass(seconds: number, asking: readonly number[] = [1, 2, 3]): void {
    for (let at = 0; at < seconds * 4; at++) {
      for (const id of asking) {
        const lease = leases.get(id);
        lease?.renew({ ...NO_ARCHIVE, isArchiving: lease.isValid, index: lease.isValid ? index : 0 });
      }
      cluster.advance(250);
    }
  }

  function holders(): number[] {
    return [...leases].filter(([, { isValid: isHeld }]) => isHeld).map(([id]) => id);
  }

  it("belongs to one follower, and all members know which, and its progress", () => {
    expect(holders()).to.deep.equal([]);
    pass(6);
    const [holder = 0, ...others] = holders();
    expect([holder === 2 || holder === 3, others]).to.deep.equal([true, []]);
    expect([...leases.values()].map(({ archiverId }) => archiverId)).to.deep.equal([holder, holder, holder]);
    expect([...leases.values()].map(({ known }) => known.index)).to.deep.equal([7, 7, 7]);
  });

  it("ends by itself at a member that is cut off, before another member gets it", () => {
    pass(6);
    const [holder = 0] = holders();
    cluster.network.isolate(holder);
    let overlaps = 0;
    for (let at = 0; at < 80 && !holders().some((id) => id !== holder); at++) {
      pass(0.25);
      overlaps += Number(holders().length > 1);
    }
    const [next = 0] = holders();
    expect([next === 0 || next === holder, overlaps]).to.deep.equal([false, 0]);
  });

  it("stays at the same member when the leader changes", () => {
    pass(6);
    const [holder = 0] = holders();
    const other = holder === 2 ? 3 : 2;
    cluster.leadBy(other);
    pass(8);
    expect(holders()).to.deep.equal([holder]);
  });

  it("does not go to a member that does not ask, and moves on from one that is killed", () => {
    pass(6, [1]);
    expect(holders()).to.deep.equal([1]);
    pass(6);
    const [holder = 0] = holders();
    expect(holder).not.to.equal(1);
    cluster.kill(holder);
    pass(12);
    const [next, ...more] = holders();
    expect([next === undefined || next === holder, more]).to.deep.equal([false, []]);
  });
});
