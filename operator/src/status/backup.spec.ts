import { expect } from "chai";
import { NOW } from "../../test/index.ts";
import { type BackupView, backupSummaryOf, backupVerdicts } from "./backup.ts";

const HOUR_MS = 3_600_000;
const ARCHIVE = {
  archiverId: "11",
  revision: 70,
  wallMs: NOW - 4_000,
  lagMs: 4_000,
  isBroken: false,
  failures: 0,
  lastError: "",
};
const WELL: BackupView = {
  storeProblem: null,
  archives: true,
  intervalMs: 24 * HOUR_MS,
  answered: 3,
  withoutStore: 0,
  store: "s3://backups/",
  encrypted: true,
  archive: ARCHIVE,
  lastSuccessMs: NOW - HOUR_MS,
  lastFailure: null,
};

function verdicts(changes: Partial<BackupView>): string[] {
  return backupVerdicts({ ...WELL, ...changes }, NOW).map(({ status, reason }) => `${status} ${reason}`);
}

describe("conditions of backups", () => {
  const storeProblem = { reason: "StoreNotFound", message: "there is no store" };
  const cases: readonly [what: string, changes: Partial<BackupView>, expected: string[]][] = [
    ["all is well", {}, ["True BackupSucceeded", "True Archiving"]],
    ["there is no archive", { archives: false, archive: null }, ["True BackupSucceeded"]],
    ["the store is gone, and members still have it", { storeProblem }, ["False StoreNotFound", "True Archiving"]],
    ["there never was a store", { storeProblem, archive: null }, ["False StoreNotFound", "False StoreNotFound"]],
    ["no member answers", { answered: 0, archive: null }, ["Unknown MembersUnreachable", "Unknown MembersUnreachable"]],
    ["members are restarted", { withoutStore: 2 }, ["Unknown MembersOutdated", "Unknown MembersOutdated"]],
    ["a snapshot failed", { lastFailure: "the disk is full" }, ["False BackupFailed", "True Archiving"]],
    [
      "the store fails",
      { archive: { ...ARCHIVE, failures: 3, lastError: "denied" } },
      ["False StoreFails", "False StoreFails"],
    ],
    ["nothing has been written", { lastSuccessMs: 0 }, ["Unknown NoBackupYet", "True Archiving"]],
    ["nothing succeeds any more", { lastSuccessMs: NOW - 49 * HOUR_MS }, ["False BackupOverdue", "True Archiving"]],
    [
      "backups are taken by hand alone",
      { archives: false, lastSuccessMs: NOW - 49 * HOUR_MS },
      ["True BackupSucceeded"],
    ],
    ["no member archives", { archive: { ...ARCHIVE, archiverId: "" } }, ["True BackupSucceeded", "Unknown NoArchiver"]],
    ["the chain is broken", { archive: { ...ARCHIVE, isBroken: true } }, ["True BackupSucceeded", "False ChainBroken"]],
    [
      "the archive is behind",
      { archive: { ...ARCHIVE, lagMs: 61_000 } },
      ["True BackupSucceeded", "False ArchiveBehind"],
    ],
  ];
  for (const [what, changes, expected] of cases) {
    it(`when ${what}`, () => {
      expect(verdicts(changes)).to.deep.equal(expected);
    });
  }

  it("summarise what members report, and nothing unknown", () => {
    expect(backupSummaryOf(WELL, undefined)).to.deep.equal({
      store: "s3://backups/",
      encrypted: true,
      archiver: "11",
      lastSuccessTime: "2025-12-31T23:00:00Z",
      archivedRevision: 70,
      archivedTime: "2025-12-31T23:59:56Z",
    });
    const unknown = { store: null, encrypted: null, archive: null, lastSuccessMs: 0 };
    expect(backupSummaryOf({ ...WELL, ...unknown }, undefined)).to.equal(undefined);
    const past = { store: "s3://backups/", archivedRevision: 70 };
    expect(backupSummaryOf({ ...WELL, ...unknown }, past), "what was archived").to.equal(past);
  });
});
