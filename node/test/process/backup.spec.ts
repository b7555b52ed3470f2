/** Backups of a real member: streamed to a client, taken into its store, encrypted, listed, and proven by a rebuild. */

import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { credentials, Client as GrpcClient, Metadata } from "@grpc/grpc-js";
import { readSnapshot } from "@quoin/backup";
import { createAdminClient, createClient, QuoinError } from "@quoin/client";
import { type SnapshotResponse, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { type Listening, MEMBER_PROGRAM, MemberUnderTest, TestProcess, until } from "../harness/index.ts";

const VALUE = Buffer.alloc(900_000, "value");

/** All messages of a streamed snapshot. */
function snapshotOf(address: string, adminToken: string): Promise<SnapshotResponse[]> {
  const { path, requestSerialize, responseDeserialize } = serviceDefinitions.ClusterAdminService.snapshot;
  const client = new GrpcClient(address, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${adminToken}`);
  metadata.set("api-version", "v1");
  const pieces: SnapshotResponse[] = [];
  return new Promise<SnapshotResponse[]>((resolve, reject) => {
    client
      .makeServerStreamRequest(path, requestSerialize, responseDeserialize, {}, metadata)
      .on("data", (piece: SnapshotResponse) => pieces.push(piece))
      .on("error", reject)
      .on("end", () => resolve(pieces));
  }).finally(() => client.close());
}

async function* chunksOf(pieces: readonly SnapshotResponse[]) {
  for (const { chunk } of pieces) {
    yield chunk;
  }
}

describe("backups of a member", function () {
  this.timeout(180_000);

  let directory: string;
  let member: MemberUnderTest;
  let listening: Listening;

  beforeEach(async () => {
    directory = temporaryDirectory();
    mkdirSync(join(directory, "store"));
    writeFileSync(join(directory, "key"), `first:${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    const flags = ["--backup-store", join(directory, "store"), "--backup-key-file", join(directory, "key")];
    member = new MemberUnderTest(directory, { flags });
    listening = await member.start();
    const client = createClient({
      endpoints: [listening.grpc],
      credentials: { token: await member.token(listening) },
    });
    for (let at = 0; at < 3; at++) {
      await client.keyValue.put("default", `large-${at}`, VALUE);
    }
    client.close();
  });

  afterEach(() => member.kill());

  it("stream a snapshot with every acknowledged write, which a reader accepts", async () => {
    const pieces = await snapshotOf(listening.admin, member.adminToken);
    const [first, last] = [pieces[0], pieces.at(-1)];
    expect(pieces.map((piece) => piece.last)).to.deep.equal([...Array(pieces.length - 1).fill(false), true]);
    const hash = createHash("sha256");
    for (const { chunk } of pieces) {
      hash.update(chunk);
    }
    expect(last?.sha256).to.equal(hash.digest("hex"));
    const reading = await readSnapshot(chunksOf(pieces));
    const values: number[] = [];
    for await (const rows of reading.batches) {
      values.push(...rows.map(({ value }) => value.length));
    }
    expect(values.filter((length) => length >= VALUE.length).length).to.be.at.least(3);
    expect([BigInt(reading.header.index), BigInt(reading.header.revision)]).to.deep.equal([
      first?.index,
      first?.revision,
    ]);
    expect(first?.leaderless).to.equal(false);
    expect(reading.summary().records).to.equal(values.length);
  });

  it("go encrypted into the store, once for each request, are listed, and are proven by a rebuild", async () => {
    const admin = createAdminClient({ endpoint: listening.admin, credentials: { token: member.adminToken } });
    try {
      const other = await admin.startBackup({ ifStore: "/elsewhere" }).catch((error: unknown) => error);
      expect(other).to.be.instanceOf(QuoinError);
      expect((other as QuoinError).reason).to.equal("OTHER_BACKUP_STORE");
      const id = await admin.startBackup({ ifStore: join(directory, "store") });
      const { run, encrypted, archive } = await until("the backup to end", async () => {
        const status = await admin.getBackupStatus(id);
        return (status.run?.endedMs ?? 0) > 0 ? status : null;
      });
      expect([run?.id, run?.phase, run?.error, encrypted, archive]).to.deep.equal([
        ...[id, "BACKUP_SUCCEEDED", "", true, undefined],
      ]);
      const { backups, problems, clusterIds } = await admin.listBackups();
      expect([backups.length, backups[0]?.id, problems, clusterIds.length]).to.deep.equal([1, id, [], 1]);
      expect(backups[0]?.revision).to.equal(run?.revision);
      await until("the backup to be read back", async () => (await admin.getBackupStatus(id)).verifiedMs > 0);
      await expectOnPublicPort(id);
    } finally {
      admin.close();
    }
    async function expectOnPublicPort(id: string): Promise<void> {
      const credentials = { token: await member.token(listening) };
      const owner = createAdminClient({ endpoint: listening.grpc, credentials });
      try {
        const { run, verifiedMs, damagedObjects } = await owner.getBackupStatus(id);
        expect([run?.phase, verifiedMs > 0, damagedObjects]).to.deep.equal(["BACKUP_SUCCEEDED", true, []]);
        const { backups, clusterIds, clusterId } = await owner.listBackups();
        expect([backups.map((backup) => backup.id), clusterIds]).to.deep.equal([[id], [clusterId]]);
      } finally {
        owner.close();
      }
    }
    const verify = async (...flags: string[]) => {
      const verified = new TestProcess(MEMBER_PROGRAM, ["backup", "verify", join(directory, "store"), ...flags]);
      const { code } = await verified.ended;
      return { code, stdout: verified.stdout, stderr: verified.stderr };
    };
    const proven = await verify("--key-file", join(directory, "key"));
    expect([proven.code, proven.stderr]).to.deep.equal([0, ""]);
    expect(proven.stdout).to.match(/can be restored[\s\S]*digest [0-9a-f]{8}; 1 digests/);
    const keyless = await verify();
    expect(keyless.code).to.equal(73);
    expect(keyless.stderr).to.include("it is encrypted with key first, and no key was given");
    expect((await verify("--to-time", "yesterday")).stderr).to.include("a time with its zone");
  });
});
