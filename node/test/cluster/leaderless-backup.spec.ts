/**
 * Backups of the only member left of three, which has no leader. It still exports its state, and each export says that
 * acknowledged writes may be missing.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { QuoinError } from "@quoin/client";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { type ClusterMember, ClusterUnderTest, MEMBER_PROGRAM, TestProcess, until } from "../harness/index.ts";

const WRITES = 20;

describe("a member that has no leader", function () {
  this.timeout(180_000);
  const running = TestProcess.ofEachTest();
  let cluster: ClusterUnderTest;
  let store: string;
  let file: string;

  before(async () => {
    const directory = temporaryDirectory();
    store = join(directory, "store");
    file = join(directory, "state.qsnap");
    mkdirSync(store);
    const placement = { flags: ["--backup-store", store] };
    cluster = await ClusterUnderTest.start(3, { placementOf: async () => placement });
  });
  ClusterUnderTest.describeFailures(() => cluster);
  after(() => cluster?.dispose());

  /** Verifies a backup: rebuilds its state and compares the digest. @returns the output */
  async function prove(location: string): Promise<string> {
    const child = new TestProcess(MEMBER_PROGRAM, ["backup", "verify", location]);
    running.push(child);
    const { code } = await child.ended;
    expect(code, child.stderr).to.equal(0);
    return child.stdout;
  }

  async function backUp({ admin }: ClusterMember, allowLeaderless: boolean) {
    const id = await admin.startBackup({ allowLeaderless });
    return until("the backup to end", async () => {
      const { run } = await admin.getBackupStatus(id);
      return (run?.endedMs ?? 0) > 0 ? run : null;
    });
  }

  it("gives its state out, marked, in a stream and into its store, and refuses a backup that is not to be marked", async () => {
    const client = cluster.client();
    let revision = 0;
    for (let at = 0; at < WRITES; at++) {
      revision = (await client.keyValue.put("default", `key-${at}`, Buffer.from("value"))).modRevision;
    }
    await cluster.untilStable();
    const [left, ...others] = cluster.members as [ClusterMember, ...ClusterMember[]];
    await Promise.all(others.map((member) => member.kill()));
    await until("the member to have no leader", async () => (await left.status())?.leaderId === "");

    const stream = await left.admin.snapshot();
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream.chunks) {
      chunks.push(chunk);
    }
    writeFileSync(file, Buffer.concat(chunks), { mode: 0o600 });
    expect([stream.leaderless, stream.revision]).to.deep.equal([true, revision]);
    expect(stream.commitIndex, "what it knows to be committed").to.be.at.least(stream.index);
    expect(await prove(file)).to.include(`up to revision ${revision}, index ${stream.index}`);

    const refusal = await left.admin.startBackup().catch((error: unknown) => error);
    expect((refusal as QuoinError).reason).to.equal("NO_LEADER");
    expect(await backUp(left, true)).to.include({ phase: "BACKUP_SUCCEEDED", leaderless: true, error: "", revision });
    expect(await prove(store)).to.include(`up to revision ${revision}`);

    for (const member of others) {
      member.start();
    }
    await cluster.untilReady();
    expect(await backUp(left, false)).to.include({ phase: "BACKUP_SUCCEEDED", leaderless: false });
    const ended = await left.admin.snapshot();
    ended.cancel();
    expect(ended.leaderless).to.equal(false);
  });
});
