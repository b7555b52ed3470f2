import { expect } from "chai";
import type { MemberFacts } from "../storage/index.ts";
import {
  type ComparedFacts,
  type ComparedMember,
  describeArchive,
  describeChoice,
  describeComparison,
  describeFacts,
} from "./member-facts-text.ts";

const FACTS: MemberFacts = {
  clusterId: "11111111-2222-4333-8444-555555555555",
  clusterName: "demo",
  name: "q-0",
  memberId: 1,
  lastIndex: 90,
  lastTerm: 4,
  commitIndex: 85,
  appliedIndex: 80,
  appliedTerm: 3,
  term: 5,
  revision: 70,
  cluster: null,
  writtenAtMs: Date.UTC(2026, 0, 2, 3, 4, 5),
};

function compared(place: string, changes: Partial<ComparedFacts>): ComparedMember {
  return { location: place, facts: { ...FACTS, ...changes }, problem: null };
}

function described(members: readonly ComparedMember[]): string[] {
  return [...describeComparison(members), ...describeChoice(members)];
}

describe("the facts of a member, for people", () => {
  it("names cluster, member, entries, time and members", () => {
    const address = { peerEndpoint: "h:7402", grpcEndpoint: "", httpEndpoint: "" };
    const nobody = { peerEndpoint: "", grpcEndpoint: "", httpEndpoint: "" };
    const configuration = { index: 9, voters: [1], outgoing: [], learners: [9], learnersNext: [], autoLeave: false };
    const members = [
      { id: 1, name: "q-0", incarnation: new Uint8Array(16), address },
      { id: 9, name: "q-1", incarnation: new Uint8Array(0), address: nobody },
    ];
    const cluster = { clusterId: FACTS.clusterId, name: "demo", version: 3, configuration, members };
    expect(describeFacts("/data", { ...FACTS, cluster })).to.deep.equal([
      "directory     /data",
      "cluster       demo, 11111111-2222-4333-8444-555555555555",
      "this member   q-0 (1)",
      "last entry    index 90, term 4",
      "committed     at least up to index 85",
      "applied       up to index 80, term 3; revision 70",
      "last written  2026-01-02T03:04:05.000Z",
      "members, as of the applied state:",
      "  member      q-0 (1), voter, h:7402",
      "  member      q-1 (9), learner, not started yet",
    ]);
    expect(describeFacts("/data", { ...FACTS, writtenAtMs: 0 }))
      .to.include("last written  never")
      .and.to.include("  none");
  });

  it("chooses the greatest last term, and among those the greatest last index", () => {
    const lines = described([
      compared("/a", { lastTerm: 3, lastIndex: 900 }),
      compared("/b", { lastTerm: 4, lastIndex: 91, name: "q-1", memberId: 22 }),
      compared("/c", { lastTerm: 4, lastIndex: 90 }),
      { location: "/d", facts: null, problem: "/d is damaged" },
    ]);
    expect(lines).to.deep.equal([
      "MEMBER    LAST TERM  LAST INDEX  COMMITTED  APPLIED  WRITTEN                   DIRECTORY",
      "q-0 (1)   3          900         85         80       2026-01-02T03:04:05.000Z  /a",
      "q-1 (22)  4          91          85         80       2026-01-02T03:04:05.000Z  /b",
      "q-0 (1)   4          90          85         80       2026-01-02T03:04:05.000Z  /c",
      "not usable: /d is damaged",
      "recover from /b: it has the greatest last term, 4, and with it the greatest last index, 91",
    ]);
  });

  it("reports when several end at the same entry, and when no member is usable", () => {
    const several = described([compared("/a", {}), compared("/b", {}), compared("/c", { lastIndex: 1 })]);
    expect(several.at(-1)).to.equal("recover from any of /a, /b: they end at the same entry");
    expect(described([{ location: "/d", facts: null, problem: "no" }])).to.deep.equal([
      "not usable: no",
      "none of these members is usable for a recovery",
    ]);
  });

  it("names running members by their addresses, and asks to stop them", () => {
    const stopped = compared("/a", { lastTerm: 3 });
    const running = compared("10.0.0.2:7403", { writtenAtMs: null, name: "q-1", memberId: 22 });
    expect(described([stopped, running])).to.deep.equal([
      "MEMBER    LAST TERM  LAST INDEX  COMMITTED  APPLIED  WRITTEN                   DIRECTORY OR ADDRESS",
      "q-0 (1)   3          90          85         80       2026-01-02T03:04:05.000Z  /a",
      "q-1 (22)  4          90          85         80       running                   10.0.0.2:7403",
      "recover from 10.0.0.2:7403: it has the greatest last term, 4, and with it the greatest last index, 90",
      "next: stop all members, and compare their data directories again: a running member may still write",
    ]);
  });

  it("reports whether the archive has more than the member, by the last term and then by the last index", () => {
    const end = { lastIndex: 90, lastTerm: 4, revision: 70, wallMs: Date.UTC(2026, 0, 2) };
    for (const further of [{ lastIndex: 91 }, { lastTerm: 5, lastIndex: 80 }]) {
      const [line, next] = describeArchive(FACTS, { end: { ...end, ...further } });
      expect(line).to.contain("the archive reaches further").and.to.contain("from index 90 of term 4");
      expect(next).to.contain("quoin-node restore");
    }
    for (const other of [{}, { lastIndex: 89 }, { lastTerm: 3, lastIndex: 89 }]) {
      const lines = describeArchive(FACTS, { end: { ...end, ...other } });
      expect(lines).to.have.lengthOf(1);
      expect(lines[0]).to.contain("the archive has no more than this");
    }
    expect(describeArchive(FACTS, { end: { ...end, revision: null, wallMs: null } })).to.deep.equal([
      "the archive has no more than this: it ends at index 90 of term 4",
    ]);
    expect(describeArchive(FACTS, { end })[0]).to.contain("(revision 70, 2026-01-02T00:00:00.000Z)");
    expect(describeArchive(FACTS, { end: null })).to.deep.equal(["the store has no backup of this cluster"]);
    expect(describeArchive(FACTS, { problem: "no" })).to.deep.equal(["the archive cannot be compared: no"]);
  });
});
