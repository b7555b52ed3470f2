import { expect } from "chai";
import type { BackupStatus } from "../../api/index.ts";
import { archiveOf, backupProblems, isDamaged, type MemberBackupState } from "./backup-state.ts";

const ARCHIVE = {
  enabled: true,
  archiverId: "2",
  archivedIndex: "9",
  archivedRevision: "5",
  archivedWallMs: "1",
  lagMs: "0",
  chainIndex: "1",
  chainBroken: false,
  chainBreaks: "0",
  lastSuccessMs: "1",
  failures: "0",
  lastError: "",
};

function member(id: string, fields: Partial<BackupStatus> = {}): MemberBackupState {
  const status: BackupStatus = {
    store: "/s",
    encrypted: false,
    run: undefined,
    archive: undefined,
    nextSnapshotMs: "0",
    verifiedMs: "0",
    damageFoundMs: "0",
    damagedObjects: [],
    ...fields,
  };
  return { id, name: `q-${id}`, status, problem: "" };
}

describe("the state of backups", () => {
  it("takes the archive from the member that archives, and from another one without it", () => {
    const known = member("1", { archive: { ...ARCHIVE, lagMs: "99" } });
    const own = member("2", { archive: ARCHIVE });
    expect(archiveOf([known, own])).to.equal(own.status?.archive);
    expect(archiveOf([known, { ...own, status: null }])).to.equal(known.status?.archive);
    expect(archiveOf([member("1")])).to.equal(undefined);
  });

  it("is damaged only if the last verification found damage", () => {
    const at = (verifiedMs: string, damageFoundMs: string) =>
      isDamaged(member("1", { verifiedMs, damageFoundMs }).status);
    expect([at("0", "0"), at("5", "0"), at("5", "9"), at("10", "9")]).to.deep.equal([false, false, true, false]);
    expect(isDamaged(null)).to.equal(false);
  });

  it("names what a person must know", () => {
    const damage = { damageFoundMs: "9", damagedObjects: ["a.qsnap"] };
    const archive = { ...ARCHIVE, chainBroken: true, lastError: "no space" };
    const problems = backupProblems({
      members: [member("2", { archive, ...damage })],
      list: null,
      problem: "No store.",
    });
    expect(problems).to.deep.equal([
      "No store.",
      "The chain of the archive is broken: later changes can be restored only from the next snapshot on.",
      "Archiving fails: no space",
      "q-2 found damage in a.qsnap",
    ]);
    expect(backupProblems({ members: [member("2")], list: null, problem: "" })).to.deep.equal([]);
  });
});
