import { expect } from "chai";
import { withEnvironment } from "../../test/index.ts";
import { UsageError } from "../command-line/index.ts";
import { parseConfiguration } from "./configuration.ts";

const BASE = ["--name", "q-0", "--data-dir", "data"];
const CLUSTER = "11111111-2222-4333-8444-555555555555";

function restoreOf(...flags: string[]) {
  return parseConfiguration([...BASE, ...flags], "0.1.0")?.restore;
}

describe("flags for founding from a backup", () => {
  it("restore nothing without a backup", () => {
    expect(restoreOf()).to.equal(null);
    for (const flags of [
      ["--restore-cluster-id", CLUSTER],
      ["--restore-snapshot", "0".repeat(32)],
      ["--restore-key-file", "k"],
      ["--restore-allow-unencrypted"],
      ["--restore-credentials-file", "c"],
      ["--restore-to-revision", "5"],
      ["--restore-to-time", "2026-01-31T12:00:00Z"],
      ["--restore-revision-jump", "2000000"],
      ["--restore-keep-signing-keys"],
    ]) {
      expect(() => restoreOf(...flags), flags[0]).to.throw(UsageError, `${flags[0]} needs --restore-from`);
    }
  });

  it("name the backup, the point, and the jump of the revisions", () => {
    expect(restoreOf("--restore-from", "/backups")).to.deep.equal({
      location: { kind: "directory", directory: "/backups" },
      keyFile: null,
      clusterId: null,
      snapshotId: null,
      point: { kind: "latest" },
      revisionJump: 1_000_000,
      keepsSigningKeys: false,
      allowsUnencrypted: false,
    });
    const chosen = ["--restore-cluster-id", CLUSTER, "--restore-snapshot", "a".repeat(32), "--restore-key-file", "k"];
    const flags = ["--restore-to-revision", "77", "--restore-revision-jump", "3000000", "--restore-keep-signing-keys"];
    expect(restoreOf("--restore-from", "/b", ...chosen, ...flags, "--restore-allow-unencrypted")).to.deep.include({
      keyFile: "k",
      clusterId: CLUSTER,
      snapshotId: "a".repeat(32),
      point: { kind: "revision", revision: 77 },
      revisionJump: 3_000_000,
      keepsSigningKeys: true,
      allowsUnencrypted: true,
    });
  });

  it("default to the keys and credentials of the member's own backups", () => {
    const own = ["--backup-store", "s3://own/a", "--backup-key-file", "own", "--backup-credentials-file", "own"];
    const restored = restoreOf("--restore-from", "s3://other/b", ...own);
    expect(restored).to.include({ keyFile: "own" });
    expect(restored?.location).to.include({ bucket: "other", credentialsFile: "own" });
    const named = ["--restore-key-file", "other", "--restore-credentials-file", "other"];
    const other = restoreOf("--restore-from", "s3://other/b", ...own, ...named);
    expect(other).to.include({ keyFile: "other" });
    expect(other?.location).to.include({ credentialsFile: "other" });
    expect(restoreOf("--restore-from", "/directory", ...own)?.location).to.deep.equal({
      kind: "directory",
      directory: "/directory",
    });
  });

  it("come from the environment too, unless a flag is given", () => {
    const environment = {
      QUOIN_RESTORE_FROM: "/b",
      QUOIN_RESTORE_CLUSTER_ID: CLUSTER,
      QUOIN_RESTORE_SNAPSHOT: "a".repeat(32),
      QUOIN_RESTORE_KEY_FILE: "k",
      QUOIN_RESTORE_TO_REVISION: "7",
      QUOIN_RESTORE_REVISION_JUMP: "2000000",
      QUOIN_RESTORE_ALLOW_UNENCRYPTED: "true",
    };
    expect(withEnvironment(environment, () => restoreOf("--restore-to-revision", "8"))).to.deep.equal({
      location: { kind: "directory", directory: "/b" },
      keyFile: "k",
      clusterId: CLUSTER,
      snapshotId: "a".repeat(32),
      point: { kind: "revision", revision: 8 },
      revisionJump: 2_000_000,
      keepsSigningKeys: false,
      allowsUnencrypted: true,
    });
  });

  it("read their variables as booleans, and empty variables as none", () => {
    const restored = (keep: string, allow: string) =>
      withEnvironment(
        {
          QUOIN_RESTORE_FROM: "/b",
          QUOIN_RESTORE_SNAPSHOT: "",
          QUOIN_RESTORE_TO_REVISION: "",
          QUOIN_RESTORE_KEEP_SIGNING_KEYS: keep,
          QUOIN_RESTORE_ALLOW_UNENCRYPTED: allow,
        },
        () => restoreOf(),
      );
    expect(restored("false", "0")).to.include({ keepsSigningKeys: false, allowsUnencrypted: false, snapshotId: null });
    expect(restored("", "off")).to.include({ keepsSigningKeys: false, allowsUnencrypted: false });
    expect(restored("1", "On")).to.include({ keepsSigningKeys: true, allowsUnencrypted: true });
    expect(() => restored("never", "")).to.throw(UsageError, "QUOIN_RESTORE_KEEP_SIGNING_KEYS");
    expect(() => restored("", "never")).to.throw(UsageError, "QUOIN_RESTORE_ALLOW_UNENCRYPTED");
    expect(withEnvironment({ QUOIN_RESTORE_FROM: "" }, () => restoreOf())).to.equal(null);
  });

  it("read times of RFC 3339", () => {
    const wallMs = Date.UTC(2026, 0, 31, 12);
    for (const time of ["2026-01-31T12:00:00Z", "2026-01-31t13:00:00.000+01:00", "2026-01-31 07:00:00-05:00"]) {
      expect(restoreOf("--restore-from", "/b", "--restore-to-time", time)?.point, time).to.deep.equal({
        kind: "time",
        wallMs,
      });
    }
    for (const time of [
      "yesterday",
      "2026-01-31",
      "2026-01-31T12:00:00",
      "2026-02-31T12:00:00Z",
      "2026-01-31T25:00:00Z",
    ]) {
      const flags = ["--restore-from", "/b", "--restore-to-time", time];
      expect(() => restoreOf(...flags), time).to.throw(UsageError, "a time with its zone in the form of RFC 3339");
    }
  });

  it("refuse contradictory flags, and impossible values", () => {
    const from = ["--restore-from", "/b"];
    const both = ["--restore-to-revision", "5", "--restore-to-time", "2026-01-31T12:00:00Z"];
    expect(() => restoreOf(...from, ...both)).to.throw(UsageError, "exclude each other");
    expect(() => restoreOf(...from, "--restore-credentials-file", "c")).to.throw(UsageError, "s3://");
    for (const [flag, value, words] of [
      ["--restore-from", "http://bucket", "the scheme http is not known"],
      ["--restore-from", "s3://name:password@bucket/prefix", "must not hold credentials"],
      ["--restore-cluster-id", "X", "a UUID in lower case"],
      ["--restore-snapshot", "1", "32 hexadecimal digits"],
      ["--restore-to-revision", "-1", "a whole number"],
      ["--restore-to-revision", "1.5", "a whole number"],
      ["--restore-revision-jump", "5", "from 1000000 to"],
    ] as const) {
      expect(() => restoreOf(...from, flag, value), `${flag} ${value}`).to.throw(UsageError, words);
    }
  });
});
