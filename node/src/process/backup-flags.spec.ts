import { expect } from "chai";
import { withEnvironment } from "../../test/index.ts";
import { UsageError } from "../command-line/index.ts";
import { parseConfiguration } from "./configuration.ts";

const BASE = ["--name", "q-0", "--data-dir", "data"];

function backupOf(...flags: string[]) {
  return parseConfiguration([...BASE, ...flags], "0.1.0")?.backup;
}

describe("flags for backups", () => {
  it("make no backups without a store", () => {
    expect(backupOf()).to.equal(null);
    for (const flags of [["--backup-archive"], ["--backup-key-file", "k"], ["--backup-retention", "3"]]) {
      expect(() => backupOf(...flags), flags[0]).to.throw(UsageError, `${flags[0]} needs --backup-store`);
    }
  });

  it("name the store, the interval, and the retention", () => {
    const flags = ["--backup-store", "/backups", "--backup-archive", "--backup-key-file", "keys"];
    expect(backupOf(...flags, "--backup-interval", "30m", "--backup-retention", "7d,3")).to.deep.equal({
      location: { kind: "directory", directory: "/backups" },
      keyFile: "keys",
      archives: true,
      intervalMs: 30 * 60_000,
      retention: { keepMs: 7 * 86_400_000, keepSnapshots: 3 },
    });
    expect(backupOf("--backup-store", "/backups")).to.include({ keyFile: null, archives: false, retention: null });
  });

  it("take credentials for buckets from a file only", () => {
    const s3 = backupOf("--backup-store", "s3://bucket/prefix", "--backup-credentials-file", "credentials");
    expect(s3?.location).to.include({ kind: "s3", bucket: "bucket", credentialsFile: "credentials" });
    expect(() => backupOf("--backup-store", "/backups", "--backup-credentials-file", "c")).to.throw(
      UsageError,
      "s3://",
    );
    expect(() => backupOf("--backup-store", "s3://name:password@bucket/prefix")).to.throw(UsageError, "credentials");
  });

  it("read the archive's variable as a boolean, and an empty variable as none", () => {
    const archives = (value: string, ...flags: string[]) => {
      const variables = { QUOIN_BACKUP_STORE: "/backups", QUOIN_BACKUP_ARCHIVE: value, QUOIN_BACKUP_RETENTION: "" };
      return withEnvironment(variables, () => backupOf(...flags)?.archives);
    };
    for (const on of ["true", "1", "yes", "on", "TRUE", "On"]) {
      expect(archives(on), on).to.equal(true);
    }
    for (const off of ["false", "0", "no", "off", "False", "OFF", "", " "]) {
      expect(archives(off), off).to.equal(false);
    }
    expect(archives("false", "--backup-archive")).to.equal(true);
    expect(archives("true", "--backup-archive=false")).to.equal(false);
    for (const value of ["maybe", "2", "y", "truefalse", "__proto__"]) {
      expect(() => archives(value), value).to.throw(
        UsageError,
        /QUOIN_BACKUP_ARCHIVE' is invalid\. It must be true, 1, yes or on, or false, 0, no or off\.$/,
      );
    }
    expect(withEnvironment({ QUOIN_BACKUP_STORE: "" }, () => backupOf())).to.equal(null);
  });

  it("refuse invalid durations and retention rules", () => {
    for (const interval of ["1", "0h", "5s", "h", "1.5h"]) {
      expect(() => backupOf("--backup-store", "/b", "--backup-interval", interval), interval).to.throw(UsageError);
    }
    for (const rules of ["", "7d,7d", "3,3", "-1", "0", "week"]) {
      expect(() => backupOf("--backup-store", "/b", "--backup-retention", rules), rules).to.throw(UsageError);
    }
  });
});
