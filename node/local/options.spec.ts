import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { UsageError } from "../src/command-line/index.ts";
import { memberCountFor, parseOptions } from "./options.ts";

/** A place that exists. */
const STORE = tmpdir();

describe("options of npm start", () => {
  const defaults = { members: 3, dataDirectory: ".quoin" };

  it("are three members with the ports of the manual and data in .quoin, by default", () => {
    expect(parseOptions([])).to.deep.equal(defaults);
    expect(parseOptions(["--members", "1"])).to.deep.equal({ ...defaults, members: 1 });
    expect(parseOptions(["--members", "5", "--base-port", "1024", "--data-dir", "a b"])).to.deep.equal({
      members: 5,
      basePort: 1024,
      dataDirectory: "a b",
    });
  });

  it("name one member to be started again", () => {
    expect(parseOptions(["--member", "q-1"])).to.deep.equal({ member: "q-1", dataDirectory: ".quoin" });
    expect(parseOptions(["--member", "q-0", "--data-dir", "x"])).to.deep.equal({ member: "q-0", dataDirectory: "x" });
  });

  it("refuse invalid values, with the option and its allowed values", () => {
    for (const [args, message] of [
      [["--members", "0"], /--members.*1, 3 or 5/],
      [["--members", "2"], /--members.*1, 3 or 5/],
      [["--members", "03"], /--members.*1, 3 or 5/],
      [["--members", "7"], /--members.*1, 3 or 5/],
      [["--base-port", "80"], /--base-port.*from 1024 to 65485/],
      [["--base-port", "65486"], /--base-port/],
      [["--base-port", "7400x"], /--base-port/],
      [["--member", ""], /--member needs a name/],
      [["--member", "q-1", "--members", "3"], /--member .*cannot be used with.*--members/],
      [["--member", "q-1", "--base-port", "7400"], /--member .*cannot be used with.*--base-port/],
      [["--nonsense"], /^unknown option '--nonsense'$/],
      [["--restore-to-time", "2026-01-31T12:00:00Z"], "unknown option '--restore-to-time'; did you mean --to-time?"],
      [["--dir", "x"], "unknown option '--dir'; did you mean --data-dir?"],
      [["q-1"], /argument/],
    ] as const) {
      expect(() => parseOptions(args), args.join(" ")).to.throw(UsageError, message);
    }
  });

  it("name the backup that founds a cluster, for all members; only the founder reads it", () => {
    const cluster = "11111111-2222-4333-8444-555555555555";
    expect(parseOptions(["--restore", STORE])).to.deep.include({
      restores: true,
      memberFlags: ["--restore-from", STORE],
    });
    const chosen = ["--to-revision", "7", "--restore-key-file", "/key", "--restore-cluster-id", cluster];
    expect(parseOptions(["--restore", "s3://bucket/prefix", ...chosen])).to.deep.include({
      memberFlags: [
        ...["--restore-from", "s3://bucket/prefix", "--restore-to-revision", "7"],
        ...["--restore-key-file", "/key", "--restore-cluster-id", cluster],
      ],
    });
    const plain = parseOptions(["--restore", STORE, "--restore-key-file", "/key", "--restore-allow-unencrypted"]);
    expect(plain).to.have.property("memberFlags").that.includes("--restore-allow-unencrypted");
    for (const [args, message] of [
      [["--restore", STORE, "--restore-allow-unencrypted"], /--restore-allow-unencrypted needs --restore, and keys/],
      [["--to-revision", "7"], /--to-revision needs --restore/],
      [["--to-time", "2026-01-31T12:00:00Z"], /--to-time needs --restore/],
      [["--restore", STORE, "--to-revision", "7", "--to-time", "2026-01-31T12:00:00Z"], /cannot be used with/],
      [["--restore", STORE, "--to-time", "yesterday"], /--to-time.*RFC 3339/],
      [["--restore", STORE, "--to-revision", "-7"], /--to-revision.*whole number/],
      [["--restore", STORE, "--restore-cluster-id", "X"], /--restore-cluster-id.*UUID/],
      [["--restore", "/no/such/store"], "--restore: /no/such/store does not exist"],
      [["--restore", "ftp://x"], /--restore: .*scheme ftp/],
      [["--restore", STORE, "--member", "q-1"], /cannot be used with/],
    ] as const) {
      expect(() => parseOptions(args), args.join(" ")).to.throw(UsageError, message);
    }
  });

  it("know how many members start a member with a given number", () => {
    expect([0, 1, 2, 3, 4, 5].map(memberCountFor)).to.deep.equal([1, 3, 3, 5, 5, null]);
  });

  it("has every member archive into a store, and makes a directory for it", () => {
    const directory = temporaryDirectory();
    const store = join(directory, "new", "store");
    const memberFlags = ["--backup-store", store, "--backup-archive", "--backup-key-file", join(directory, "key")];
    const args = ["--backup-store", store, "--backup-key-file", join(directory, "key")];
    expect(parseOptions(args)).to.deep.include({ memberFlags, backupDirectory: store });
    expect(existsSync(store), "only a cluster that starts makes it").to.equal(false);
    expect(() => parseOptions(["--backup-key-file", "key"])).to.throw(UsageError, "needs --backup-store");
    expect(() => parseOptions(["--backup-store", "s3://x"])).to.throw(UsageError, "--backup-store: ");
  });
});
