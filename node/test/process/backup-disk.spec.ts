/** The store of a real member on a disk that is full. */

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createAdminClient, createClient } from "@quoin/client";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { MemberUnderTest, until } from "../harness/index.ts";

const execute = promisify(execFile);

describe("a store on a disk that is full", function () {
  this.timeout(120_000);

  let disk: string;
  let member: MemberUnderTest;

  beforeEach(async function () {
    const directory = temporaryDirectory();
    disk = join(directory, "disk");
    mkdirSync(disk);
    try {
      await execute("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", disk]);
    } catch {
      console.log("skipped: a disk of a certain size needs root, and the command mount");
      this.skip();
    }
    mkdirSync(join(disk, "store"));
    member = new MemberUnderTest(directory, { flags: ["--backup-store", join(disk, "store")] });
  });

  afterEach(async function () {
    await member?.kill();
    if (this.currentTest?.isPending() !== true) {
      await execute("umount", [disk]);
    }
  });

  it("shows no half object, says what to do, and takes the next backup when there is room", async () => {
    const listening = await member.start();
    const client = createClient({
      endpoints: [listening.grpc],
      credentials: { token: await member.token(listening) },
    });
    await client.keyValue.put("default", "random", randomBytes(900_000));
    client.close();
    const admin = createAdminClient({ endpoint: listening.admin, credentials: { token: member.adminToken } });
    const ended = (id: string) => {
      return until("the backup to end", async () => {
        const { run } = await admin.getBackupStatus(id);
        return (run?.endedMs ?? 0) > 0 ? run : null;
      });
    };
    const files = () => readdirSync(join(disk, "store"), { recursive: true, encoding: "utf8" });
    const full = await ended(await admin.startBackup());
    expect(full?.phase).to.equal("BACKUP_FAILED");
    expect(full?.error).to.include("Free space");
    expect(files().filter((name) => name.includes(".qsnap") || name.includes(".draft"))).to.deep.equal([]);
    await execute("mount", ["-o", "remount,size=8m", disk]);
    expect((await ended(await admin.startBackup()))?.phase).to.equal("BACKUP_SUCCEEDED");
    admin.close();
    expect(files().filter((name) => name.endsWith(".qsnap")).length).to.equal(1);
  });
});
