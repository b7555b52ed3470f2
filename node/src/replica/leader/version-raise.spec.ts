import { expect } from "chai";
import { AppliedLog, FOUNDING } from "../../../test/index.ts";
import { changeConfiguration, EntryType, NO_CONFIGURATION } from "../../raft/index.ts";
import { encodeMembershipEntry, readCluster } from "../../state/index.ts";
import { VersionRaise } from "./version-raise.ts";

const RAISE_MS = 60_000;
const RAISE = { kind: "set-cluster-version", version: 4 } as const;

describe("raising the cluster version", () => {
  let log: AppliedLog;
  let connected: Set<number>;
  let raise: VersionRaise;
  beforeEach(() => {
    log = new AppliedLog(undefined, { ...FOUNDING, clusterVersion: 3 });
    connected = new Set();
    raise = newRaise(4);
  });

  function newRaise(clusterVersionMax: number): VersionRaise {
    return new VersionRaise({
      memberId: 1,
      state: log.store,
      transport: { isConnected: (peer, kind) => kind === "control" && connected.has(peer) },
      limits: { maintenance: { versionRaiseMs: RAISE_MS } },
      clusterVersionMax,
    });
  }

  /** Adds a member; a slot that no process has claimed has no incarnation. */
  function addMember(name: string, isClaimed = true): number {
    const operation = { kind: "add-slot", name } as const;
    const entry = { subject: "administrator", request: null, expectIndex: 0, operation };
    log.append(EntryType.AddSlot, encodeMembershipEntry(entry), (index, change, expectIndex) =>
      changeConfiguration(readCluster(log.store)?.configuration ?? NO_CONFIGURATION, index, change, expectIndex),
    );
    const id = log.rows.length;
    if (isClaimed) {
      const incarnation = new Uint8Array(16).fill(id);
      log.lead({ kind: "claim-slot", name, incarnation, address: FOUNDING.address });
    }
    return id;
  }

  function meet(peer: number, max: number): void {
    connected.add(peer);
    raise.onConnected(peer, { restarted: false, versions: { min: 3, max } });
  }

  /** Commands that this member, as leader, logs when it is asked each second from one time to the other. */
  function askedFrom(fromMs: number, toMs: number): { readonly atMs: number; readonly version: number }[] {
    const logged = [];
    for (let nowMs = fromMs; nowMs <= toMs; nowMs += 1_000) {
      const operation = raise.next(nowMs);
      if (operation !== null) {
        logged.push({ atMs: nowMs, version: operation.version });
      }
    }
    return logged;
  }

  it("happens to a member alone, after the time in which it may still go back", () => {
    expect(askedFrom(1_000, 1_000 + RAISE_MS)).to.deep.equal([{ atMs: 1_000 + RAISE_MS, version: 4 }]);
  });

  it("is one step, and is proposed again later while it is not applied", () => {
    raise = newRaise(9);
    const asked = askedFrom(0, 3 * RAISE_MS);
    expect(asked.map(({ version }) => version)).to.deep.equal([4, 4]);
  });

  it("ends with the newest version that this release can run", () => {
    raise = newRaise(3);
    expect(askedFrom(0, 2 * RAISE_MS)).to.deep.equal([]);
    raise = newRaise(4);
    askedFrom(0, RAISE_MS);
    log.lead(RAISE);
    expect(readCluster(log.store)?.version).to.equal(4);
    expect(askedFrom(RAISE_MS + 1_000, 3 * RAISE_MS)).to.deep.equal([]);
  });

  it("waits until all members, learners too, can run the next version", () => {
    const [second, third] = [addMember("q-1"), addMember("q-2")];
    meet(second, 4);
    expect(askedFrom(0, 2 * RAISE_MS), "the third has not said what it can run").to.deep.equal([]);
    meet(third, 3);
    expect(askedFrom(200_000, 300_000), "the third cannot").to.deep.equal([]);
    meet(third, 4);
    expect(askedFrom(400_000, 400_000 + RAISE_MS)).to.have.length(1);
  });

  it("begins to wait again when a member goes back to its former release, or is away", () => {
    const second = addMember("q-1");
    meet(second, 4);
    expect(askedFrom(0, 50_000)).to.deep.equal([]);
    meet(second, 3);
    expect(askedFrom(51_000, 70_000)).to.deep.equal([]);
    meet(second, 4);
    expect(askedFrom(71_000, 130_000)).to.deep.equal([]);
    connected.delete(second);
    expect(askedFrom(131_000, 132_000)).to.deep.equal([]);
    connected.add(second);
    expect(askedFrom(133_000, 192_000)).to.deep.equal([]);
    expect(askedFrom(193_000, 193_000)).to.have.length(1);
  });

  it("forgets what a member could run when another start of it is met that has not said so", () => {
    const second = addMember("q-1");
    meet(second, 4);
    raise.onConnected(second, { restarted: false, versions: null });
    expect(askedFrom(0, RAISE_MS), "the same start").to.have.length(1);
    raise.onConnected(second, { restarted: true, versions: null });
    expect(askedFrom(100_000, 100_000 + 2 * RAISE_MS)).to.deep.equal([]);
  });

  it("begins to wait again with each leadership", () => {
    askedFrom(0, 50_000);
    raise.reset();
    expect(askedFrom(51_000, 110_000)).to.deep.equal([]);
    expect(askedFrom(111_000, 111_000)).to.have.length(1);
  });

  it("waits for no process where there is none: it claims its slot with the version in force", () => {
    addMember("q-1", false);
    expect(askedFrom(0, RAISE_MS)).to.have.length(1);
  });
});
