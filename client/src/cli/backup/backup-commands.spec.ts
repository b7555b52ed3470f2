import { createHash, randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  newObjectId,
  openStore,
  putSegment,
  putSnapshot,
  type SegmentHeader,
  type SnapshotHeader,
  writeSnapshot,
} from "@quoin/backup";
import { BackupPhase, MemberRole, MemberState } from "@quoin/proto";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import {
  FakeRuntime,
  type ProgramInput,
  type ProgramRun,
  refuse,
  runProgram,
  ScriptedMember,
  type ScriptedStream,
  until,
} from "../../../test/index.ts";
import { run } from "../index.ts";

const CLUSTER_ID = "11111111-2222-4333-8444-555555555555";
const START_MS = 1_750_000_000_000;
const ROW_COUNT = 3_000;
const LEADER = { state: MemberState.RUNNING, role: MemberRole.LEADER, leaderId: "1", name: "q-0" };
const FOLLOWER = { state: MemberState.RUNNING, role: MemberRole.FOLLOWER, leaderId: "1", name: "q-1" };

function snapshotHeader(index: number): SnapshotHeader {
  return {
    clusterId: CLUSTER_ID,
    clusterName: "demo",
    id: newObjectId(),
    quoinVersion: "0.1.0",
    clusterVersion: 1,
    index,
    term: 1,
    revision: index,
    tickMs: 0,
    wallMs: START_MS + index * 1_000,
    stateDigest: 7,
  };
}

function rows() {
  return Array.from({ length: ROW_COUNT }, (_, number) => ({
    key: Buffer.from(`key-${String(number).padStart(6, "0")}`),
    value: randomBytes(200),
  }));
}

/** Sends a snapshot as a member does. */
async function sendSnapshot(
  stream: ScriptedStream<"snapshot">,
  { leaderless = false, spoil = (bytes: Buffer) => bytes, send = Number.POSITIVE_INFINITY } = {},
): Promise<void> {
  const parts = await Array.fromAsync(writeSnapshot(snapshotHeader(40), [rows()]).stream);
  const bytes = Buffer.concat(parts);
  const sent = spoil(Buffer.from(bytes));
  const about = { index: 40n, revision: 40n, leaderless, commitIndex: 44n };
  for (let start = 0; start < Math.min(sent.length, send); start += 100_000) {
    stream.send({ ...about, chunk: sent.subarray(start, start + 100_000) });
  }
  if (send === Number.POSITIVE_INFINITY) {
    stream.send({ ...about, last: true, sha256: createHash("sha256").update(sent).digest("hex") });
    stream.end();
  }
}

describe("quoinctl backup", () => {
  let first: ScriptedMember;
  let second: ScriptedMember;
  let directory: string;

  beforeEach(async () => {
    [first, second] = [await ScriptedMember.start(), await ScriptedMember.start({})];
    first.scripts.getStatus = () => ({ status: LEADER });
    second.scripts.getStatus = () => ({ status: FOLLOWER });
    directory = temporaryDirectory();
    writeFileSync(path.join(directory, "token"), "admin-token\n", { mode: 0o600 });
    writeFileSync(path.join(directory, "key"), `first:${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    writeFileSync(path.join(directory, "other-key"), `other:${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    mkdirSync(at("store"));
  });

  afterEach(() => {
    first.stop();
    second.stop();
  });

  function at(name: string): string {
    return path.join(directory, name);
  }

  function quoinctl(parameters: readonly string[], input: ProgramInput = {}): Promise<ProgramRun> {
    const ports = ["--endpoints", `${first.endpoint},${second.endpoint}`, "--token-file", at("token")];
    return runProgram(run, new FakeRuntime(), [...ports, "backup", ...parameters], { directory, ...input });
  }

  /** The error message of a command that ends with this code. */
  async function refusal(code: number, parameters: readonly string[]): Promise<string> {
    const result = await quoinctl(parameters);
    expect(result.code, `${result.out}${result.err}`).to.equal(code);
    return result.err;
  }

  describe("create", () => {
    beforeEach(() => {
      second.streams.snapshot = (_request, stream) => sendSnapshot(stream);
    });

    it("streams a snapshot from a follower into a file that only its owner reads, and verifies it", async () => {
      const { code, out, err } = await quoinctl(["create", "state", "--key-file", at("key"), "-o", "json"]);
      expect([code, err]).to.deep.equal([0, ""]);
      expect(JSON.parse(out)).to.deep.include({
        written: at("state"),
        cluster_id: CLUSTER_ID,
        member: "q-1",
        index: 40,
        revision: 40,
        rows: ROW_COUNT,
        size_bytes: statSync(at("state")).size,
        key_id: "first",
        leaderless: false,
        commit_index: 44,
      });
      expect(statSync(at("state")).mode & 0o777).to.equal(0o600);
      const verified = await quoinctl(["verify", "state", "--key-file", at("key"), "-o", "json"]);
      expect(JSON.parse(verified.out)).to.deep.include({
        rows: ROW_COUNT,
        intact: true,
        rebuilt: false,
        end_index: 40,
      });
      expect(second.callsOf("snapshot")[0]?.authorization).to.deep.equal(["Bearer admin-token"]);
      expect(first.callsOf("snapshot")).to.deep.equal([]);
    });

    it("puts it into a store, where it is listed with its key, and warns without a key", async () => {
      const created = await quoinctl(["create", "store"]);
      expect(created.err).to.include("not encrypted, and holds signing keys and hashes of passwords");
      expect((await quoinctl(["create", at("store"), "--key-file", at("key")])).code).to.equal(0);
      const [plain = ""] = readdirSync(at("store"), { recursive: true, encoding: "utf8" }).filter((name) => {
        return (
          name.endsWith(".qsnap") &&
          readFileSync(at(`store/${name}`))
            .subarray(0, 8)
            .toString() === "QUOIN-SN"
        );
      });
      expect(plain).to.not.equal("");
      const file = ["verify", at(`store/${plain}`), "--key-file", at("key")];
      expect(await refusal(2, file))
        .to.include("not encrypted, although keys were given")
        .and.to.include("hint: if that is as it should be, pass --allow-unencrypted");
      expect((await quoinctl([...file, "--allow-unencrypted"])).err).to.include("--allow-unencrypted");
      const listed = await quoinctl(["list", "store", "-o", "json"]);
      const { backups, problems } = JSON.parse(listed.out);
      expect(problems).to.deep.equal([]);
      const keys = backups.map(({ key_id, end_index }: Record<string, unknown>) => `${key_id}, ${end_index}`);
      expect(keys.toSorted()).to.deep.equal(["first, 40", "null, 40"]);
    });

    it("leaves nothing when the stream breaks off, is changed, or lacks its end", async () => {
      const spoils: readonly [Parameters<typeof sendSnapshot>[1], RegExp][] = [
        [{ spoil: (bytes) => bytes.subarray(0, -1) }, /cut-off|the end is missing/],
        [{ spoil: (bytes) => Buffer.concat([bytes, Buffer.from("x")]) }, /bytes follow its end/],
        [{ send: 200_000 }, /gone away/],
      ];
      for (const [how, message] of spoils) {
        second.streams.snapshot = async (_request, stream) => {
          await sendSnapshot(stream, how);
          if (how?.send !== undefined) {
            stream.fail({ code: "UNAVAILABLE", message: "gone away", reason: "LEADER_CHANGED" });
          }
        };
        first.streams.snapshot = second.streams.snapshot;
        for (const target of ["state", "store"]) {
          const { code, err } = await quoinctl(["create", target]);
          expect(err).to.match(message);
          expect(code).to.be.oneOf([1, 3]);
        }
      }
      const left = readdirSync(directory, { recursive: true })
        .map(String)
        .filter((name) => /state|snap/.test(name));
      expect(left.filter((name) => !name.endsWith("snapshots"))).to.deep.equal([]);
    });

    it("tries another member if one already makes a backup, and a member without a leader last", async () => {
      second.streams.snapshot = () => refuse({ code: "FAILED_PRECONDITION", reason: "BACKUP_IN_PROGRESS" });
      first.scripts.getStatus = () => ({ status: { ...LEADER, leaderId: "", role: MemberRole.FOLLOWER } });
      first.streams.snapshot = (_request, stream) => sendSnapshot(stream, { leaderless: true });
      const { code, err, out } = await quoinctl(["create", "state", "--key-file", at("key"), "-o", "json"]);
      expect([code, JSON.parse(out).leaderless]).to.deep.equal([0, true]);
      expect(err).to.include("q-0 has no leader").and.to.include("up to 44");
    });

    it("shows bytes, rows and the rate on a terminal", async () => {
      const { err } = await quoinctl(["create", "state", "--key-file", at("key")], { isTTY: true });
      expect(err).to.match(/writing [0-9.]+ (B|KiB), [0-9]+ rows/);
      const json = await quoinctl(["create", "other", "--key-file", at("key"), "-o", "json"], { isTTY: true });
      expect(json).to.include({ code: 0, err: "" });
    });

    it("removes its draft when interrupted", async () => {
      const signals = new EventEmitter();
      second.streams.snapshot = (_request, stream) => sendSnapshot(stream, { send: 300_000 });
      const running = quoinctl(["create", "state", "--key-file", at("key")], { signals });
      await until("a draft", () => readdirSync(directory).some((name) => name.endsWith(".unfinished")));
      signals.emit("SIGINT");
      expect((await running).code).to.equal(130);
      expect(readdirSync(directory).filter((name) => name.startsWith("state"))).to.deep.equal([]);
      expect(signals.eventNames()).to.deep.equal([]);
    });

    it("refuses a target that it cannot write to, with the next step, before it calls a member", async () => {
      writeFileSync(at("taken"), "mine");
      mkdirSync(at("other"));
      writeFileSync(at("other/file"), "x");
      const refusals: readonly [readonly string[], RegExp][] = [
        [["create", "taken"], /taken exists already, and is not replaced\nhint: name another file/],
        [["create", "missing/state"], /there is no directory .*missing\nhint: create it/],
        [["create", "missing/"], /there is no directory .*missing\nhint: create it with: mkdir/],
        [["create", "other"], /other files and no backups.*\nhint: name an empty directory/],
        [["create", "ftp://x/y"], /the scheme ftp is not known/],
        [["create", "state", "--key-file", at("taken")], /id:base64.*\nhint: --key-file takes/],
        [["create", "state", "--credentials-file", at("taken")], /--credentials-file needs a location.*s3/],
      ];
      for (const [parameters, message] of refusals) {
        expect(await refusal(2, parameters)).to.match(message);
      }
      expect(readFileSync(at("taken"), "utf8")).to.equal("mine");
      expect([...first.calls, ...second.calls]).to.deep.equal([]);
    });

    it("shows the states of the members if none serves, and reports a wrong token or port", async () => {
      for (const member of [first, second]) {
        member.scripts.getStatus = () => ({ status: { state: MemberState.EMPTY, name: "q" } });
      }
      expect(await refusal(3, ["create", "state"])).to.match(/q is EMPTY.*\n.*quoin-node export/);
      for (const member of [first, second]) {
        member.scripts.getStatus = () => refuse({ code: "UNAUTHENTICATED", reason: "TOKEN_INVALID" });
      }
      expect(await refusal(1, ["create", "state"])).to.include("--endpoints host:7403 --token-file FILE");
      expect(readdirSync(directory)).not.to.include("state");
    });
  });

  describe("in a store", () => {
    const ids: string[] = [];

    /** Snapshots at 10 and 30; segments 11 to 20, 21 to 30, 31 to 40. All are sealed. */
    beforeEach(async () => {
      const { readKeyFile } = await import("@quoin/backup");
      const { keyRing } = await readKeyFile(at("key"));
      const store = await openStore({ kind: "directory", directory: at("store") }, { create: false });
      ids.length = 0;
      let previous: { readonly id: string; readonly hash: Uint8Array } = {
        id: newObjectId(),
        hash: new Uint8Array(32),
      };
      const put = async (index: number) => {
        const header = snapshotHeader(index);
        const { hash } = await putSnapshot(store, header, [rows()], keyRing);
        ids.push(header.id);
        return { id: header.id, hash };
      };
      const add = async (firstIndex: number, lastIndex: number) => {
        const header: SegmentHeader = {
          clusterId: CLUSTER_ID,
          clusterName: "demo",
          id: newObjectId(),
          quoinVersion: "0.1.0",
          clusterVersion: 1,
          firstIndex,
          lastIndex,
          firstTerm: 1,
          lastTerm: 1,
          lastRevision: lastIndex,
          lastWallMs: START_MS + lastIndex * 1_000,
          previousId: previous.id,
          previousHash: previous.hash,
        };
        const entries = Array.from({ length: lastIndex - firstIndex + 1 }, (_, number) => {
          return { index: firstIndex + number, term: 1, bytes: Buffer.from("entry") };
        });
        const { hash } = await putSegment(store, header, [entries], keyRing);
        previous = { id: header.id, hash };
      };
      previous = await put(10);
      await add(11, 20);
      await add(21, 30);
      await put(30);
      await add(31, 40);
    });

    const key = () => ["--key-file", at("key")];

    it("verify reads the chain that reaches furthest, or the named one, and says what it did not check", async () => {
      const newest = await quoinctl(["verify", "store", ...key()]);
      expect(newest.code, newest.err).to.equal(0);
      expect(newest.err)
        .to.include("not checked: that the state can be rebuilt")
        .and.to.include(`quoin-node backup verify store --key-file ${at("key")}`);
      const named = await quoinctl(["verify", "store", ...key(), "--cluster", CLUSTER_ID]);
      expect(named.err, "a member has another flag for it").to.include(`verify store --cluster-id ${CLUSTER_ID} --key`);
      const verified = await quoinctl(["verify", "store", ...key(), "--backup", ids[0]!.slice(0, 8), "-o", "json"]);
      expect(JSON.parse(verified.out)).to.deep.include({ index: 10, end_index: 40, objects: 4, entries: 30 });
      const shown = await quoinctl(["verify", "store", ...key()], { isTTY: true });
      expect(shown.err).to.match(/reading \[#*-*\] +[0-9]+% [0-9.]+ KiB, [0-9]+ rows, [0-9]+ entries/);
      const json = await quoinctl(["verify", "store", ...key(), "-o", "json"], { isTTY: true });
      expect(json).to.include({ code: 0, err: "" });
    });

    it("verify names the damaged object, and how far a restore would reach", async () => {
      const segments = at(`store/${CLUSTER_ID}/segments`);
      const [, damaged = ""] = readdirSync(segments).sort();
      const bytes = readFileSync(path.join(segments, damaged));
      bytes[bytes.length - 1]! ^= 1;
      writeFileSync(path.join(segments, damaged), bytes);
      const message = await refusal(1, ["verify", "store", ...key(), "--backup", ids[0]!]);
      expect(message)
        .to.include(damaged)
        .and.to.include("It can be restored up to index 20")
        .and.to.include("--backup ID");
      expect(await refusal(2, ["verify", "store", "--backup", ids[0]!])).to.include("--key-file FILE");
      expect(await refusal(2, ["verify", "store", "--key-file", at("other-key")])).to.include(
        "encrypted with key first",
      );
      expect(await refusal(2, ["verify", "store", "--backup", "0000000"])).to.include("as backup list shows it");
      expect(await refusal(2, ["verify", "store", "--allow-unencrypted"])).to.include("needs --key-file");
      expect(await refusal(1, ["verify", at("token")]))
        .to.include(at("token"))
        .and.to.include("not a snapshot of Quoin");
    });

    it("delete asks for confirmation, reads another backup, and removes the backup with the segments that only it needs", async () => {
      expect(await refusal(2, ["delete", "store", ids[0]!]))
        .to.include("key first")
        .and.to.include("--key-file");
      expect(await refusal(2, ["delete", "store", ids[0]!, ...key()])).to.include("confirm it with --yes");
      const deleted = await quoinctl(["delete", "store", ids[0]!, ...key(), "--yes", "-o", "json"]);
      expect(deleted.code, deleted.err).to.equal(0);
      const names: string[] = JSON.parse(deleted.out).deleted;
      expect(names.map((name) => name.split("/")[1])).to.deep.equal(["segments", "segments", "snapshots"]);
      const { backups } = JSON.parse((await quoinctl(["list", "store", "-o", "json"])).out);
      expect(backups.map(({ id }: { id: string }) => id)).to.deep.equal([ids[1]]);
      expect(await refusal(1, ["delete", "store", ids[1]!, ...key(), "--yes"]))
        .to.include("the last snapshot")
        .and.to.include("--allow-last");
      expect((await quoinctl(["delete", "store", ids[1]!, ...key(), "--yes", "--allow-last"])).code).to.equal(0);
    });

    it("delete keeps the last intact backup", async () => {
      const snapshots = at(`store/${CLUSTER_ID}/snapshots`);
      const [oldest = ""] = readdirSync(snapshots).sort();
      const bytes = readFileSync(path.join(snapshots, oldest));
      writeFileSync(path.join(snapshots, oldest), bytes.subarray(0, -1));
      const message = await refusal(1, ["delete", "store", ids[1]!, ...key(), "--yes"]);
      expect(message).to.include(oldest).and.to.include("no other backup is intact");
      expect(readdirSync(snapshots).length).to.equal(2);
    });

    it("requires the name of the cluster if there are several, and reports a location that is not a store", async () => {
      mkdirSync(at("store/99999999-2222-4333-8444-555555555555"));
      expect(await refusal(2, ["list", "store"])).to.include("--cluster ID");
      expect((await quoinctl(["list", "store", "--cluster", CLUSTER_ID])).code).to.equal(0);
      expect(await refusal(2, ["list", "store", "--cluster", "X"])).to.include(
        "option '--cluster <ID>' argument 'X' is invalid. Give a UUID in lower case.",
      );
      mkdirSync(at("empty"));
      expect(await refusal(2, ["list", "empty"])).to.include("is not a backup store");
      expect(await refusal(2, ["list", "key"])).to.include("quoinctl backup verify");
      expect(await refusal(2, ["list", "nothing"])).to.include("there is nothing at");
    });
  });

  describe("of members", () => {
    const backup = {
      id: "ab".repeat(16),
      phase: BackupPhase.BACKUP_SUCCEEDED,
      rows: 5n,
      bytes: 700n,
      startedMs: 1n,
      endedMs: 2n,
    };

    it("status shows each member, even without an answer, and the reasons of failures", async () => {
      first.scripts.getBackupStatus = () => ({
        store: "/b",
        encrypted: true,
        run: { ...backup, phase: BackupPhase.BACKUP_FAILED, error: "no space" },
        archive: { archiverId: "3", archivedRevision: 9n, lagMs: 1_500n, lastError: "away", enabled: true },
      });
      second.scripts.getBackupStatus = () => ({ store: "" });
      const { code, out, err } = await quoinctl(["status"]);
      expect(code, err).to.equal(0);
      const [, failed = "", none = ""] = out.split("\n");
      expect(failed).to.match(/\/b +yes +(ab){16} +FAILED +5 +700 B +1970\S+ +by member 3 +9 +1.5s$/);
      expect(none).to.match(/ none +no .* off /);
      expect(err).to.include("the backup failed: no space").and.to.include("archiving failed: away");
      second.stop();
      const { members } = JSON.parse((await quoinctl(["status", "-o", "json"])).out);
      expect(members.map(({ error }: { error?: { code: string } }) => error?.code)).to.deep.equal([
        undefined,
        "UNAVAILABLE",
      ]);
    });

    it("status of one backup shows the members that know it", async () => {
      first.scripts.getBackupStatus = () => ({ store: "/b", run: backup });
      second.scripts.getBackupStatus = () => ({ store: "/b" });
      expect(JSON.parse((await quoinctl(["status", backup.id, "-o", "json"])).out).members.length).to.equal(1);
      first.scripts.getBackupStatus = second.scripts.getBackupStatus;
      expect(await refusal(2, ["status", backup.id])).to.include("quoinctl backup list");
    });

    it("start begins one at a follower with a store, waits for it, and reports its result", async () => {
      second.scripts.startBackup = () =>
        refuse({ code: "FAILED_PRECONDITION", reason: "NO_BACKUP_STORE", message: "no store" });
      expect(await refusal(1, ["start"])).to.include("UNIMPLEMENTED");
      first.scripts.startBackup = ({ ifStore }) =>
        ifStore === "/c" ? refuse({ code: "FAILED_PRECONDITION", reason: "OTHER_BACKUP_STORE" }) : { id: backup.id };
      expect((await quoinctl(["start"])).out).to.match(/(ab){16} +q-0/);
      expect(await refusal(1, ["start", "--if-store", "/c"])).to.include("quoinctl backup status");
      first.scripts.getBackupStatus = () => ({ run: { ...backup, object: "x/snapshots/y.qsnap", leaderless: true } });
      const waited = await quoinctl(["start", "--wait"]);
      expect(waited.out).to.include("x/snapshots/y.qsnap");
      expect(waited.err).to.include("q-0 had no leader");
      first.scripts.getBackupStatus = () => ({
        run: { ...backup, phase: BackupPhase.BACKUP_FAILED, error: "no space" },
      });
      expect(await refusal(1, ["start", "--wait"])).to.include("the backup of q-0 failed: no space");
      first.scripts.startBackup = () => refuse({ code: "UNAVAILABLE", reason: "NO_LEADER", message: "no leader" });
      expect(await refusal(3, ["start"])).to.include("--allow-leaderless");
    });

    it("start fails with a clear error if no member has a store", async () => {
      for (const member of [first, second]) {
        member.scripts.startBackup = () =>
          refuse({ code: "FAILED_PRECONDITION", reason: "NO_BACKUP_STORE", message: "no store" });
      }
      expect(await refusal(1, ["start"]))
        .to.include("no store (NO_BACKUP_STORE)")
        .and.to.include("quoinctl backup create FILE");
    });

    it("list shows the store of a member that has one", async () => {
      second.scripts.listBackups = () => refuse({ code: "FAILED_PRECONDITION", reason: "NO_BACKUP_STORE" });
      first.scripts.listBackups = () => ({
        store: "/b",
        clusterId: CLUSTER_ID,
        problems: ["one is missing"],
        clusterIds: [CLUSTER_ID],
        backups: [
          { id: backup.id, index: 8n, revision: 3n, wallMs: 1_000n, sizeBytes: 2_048n, segments: 2n, endIndex: 9n },
        ],
      });
      const { out, err } = await quoinctl(["list"]);
      expect(out).to.match(/(ab){16} +8 +3 +1970-01-01T00:00:01.000Z +2.0 KiB +2, 0 B +- +- +-\n/);
      expect(err).to.include("problem: one is missing");
    });
  });
});
