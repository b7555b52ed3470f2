/**
 * The continuous archive of real members. It goes on when the archiving member is killed, when the leader changes, and
 * after its store was unavailable. It reports missing entries openly.
 */

import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { type BackupStore, openStore, planRestore, type RestorePoint, readCatalog } from "@quoin/backup";
import type { BackupStatus, Client } from "@quoin/client";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { rebuild } from "../../src/rebuild/index.ts";
import { OfflineState } from "../../src/storage/index.ts";
import { type ClusterMember, ClusterUnderTest, until } from "../harness/index.ts";

/** An archive begins, or goes on at another member, within this time; far longer than it takes. */
const ARCHIVE_LIMIT_MS = 90_000;
/** A hundred MiB are written, which takes long on a busy machine. */
const COMPACTION_LIMIT_MS = 240_000;
const LATEST: RestorePoint = { kind: "latest" };

/** The archive as the members know it, by their names; members that are down know nothing. */
async function statuses(cluster: ClusterUnderTest): Promise<Map<ClusterMember, BackupStatus>> {
  const known = new Map<ClusterMember, BackupStatus>();
  for (const member of cluster.members.filter(({ isAlive }) => isAlive)) {
    const status = await member.admin.getBackupStatus().catch(() => null);
    if (status !== null) {
      known.set(member, status);
    }
  }
  return known;
}

/** The archiving member, once it has archived everything up to the revision. */
function archiver(
  cluster: ClusterUnderTest,
  revision: number,
): Promise<{ member: ClusterMember; status: BackupStatus }> {
  return until(
    `revision ${revision} to be archived`,
    async () => {
      for (const [member, status] of await statuses(cluster)) {
        const id = (await member.status())?.id;
        const { archive } = status;
        if (archive !== undefined && archive.archiverId === id && archive.archivedRevision >= revision) {
          return { member, status };
        }
      }
      return null;
    },
    ARCHIVE_LIMIT_MS,
  );
}

async function write(client: Client, count: number, prefix: string): Promise<number> {
  let revision = 0;
  for (let at = 0; at < count; at++) {
    revision = (await client.keyValue.put("default", `${prefix}-${at}`, `value ${at}`)).modRevision;
  }
  return revision;
}

describe("the archive of a cluster", function () {
  this.timeout(600_000);

  let directory: string;

  beforeEach(() => {
    directory = temporaryDirectory();
    mkdirSync(join(directory, "store"));
  });

  async function withCluster(
    members: number,
    flags: readonly string[],
    test: (cluster: ClusterUnderTest) => Promise<void>,
  ): Promise<void> {
    const all = ["--backup-store", join(directory, "store"), "--backup-archive", ...flags];
    await ClusterUnderTest.with(members, test, { placementOf: async () => ({ flags: all }) });
  }

  async function openArchive(): Promise<BackupStore> {
    return openStore({ kind: "directory", directory: join(directory, "store") }, { create: false });
  }

  /** Rebuilds the newest state. The rebuild compares its digests with those of the cluster. */
  async function rebuiltRevision(name: string): Promise<number> {
    const store = await openArchive();
    const objects = planRestore(await readCatalog(store), LATEST);
    const state = await OfflineState.create(join(directory, name));
    const rebuilt = await rebuild({ store, objects, decryptOptions: {}, point: LATEST, state }).finally(() =>
      state.close(),
    );
    expect(rebuilt.digestsCompared).to.be.greaterThan(0);
    return rebuilt.progress.revision;
  }

  it("goes on when the archiving member is killed, the leader changes, and its store was unavailable", async () => {
    await withCluster(3, [], async (cluster) => {
      const client = cluster.client();
      const first = await archiver(cluster, await write(client, 50, "first"));
      expect(first.member, "a follower archives").not.to.equal(await cluster.leader());
      await first.member.kill();
      const second = await archiver(cluster, await write(client, 50, "second"));
      expect(second.member).not.to.equal(first.member);
      first.member.start();
      await cluster.untilReady();
      await cluster.transfer(second.member.name);
      await archiver(cluster, await write(client, 50, "third"));

      renameSync(join(directory, "store"), join(directory, "away"));
      const during = await write(client, 200, "during");
      await until("a failure to be reported, with its reason", async () => {
        return [...(await statuses(cluster)).values()].some(({ archive }) => {
          return (archive?.failures ?? 0) > 0 && archive?.lastError.includes("no such directory");
        });
      });
      renameSync(join(directory, "away"), join(directory, "store"));
      const { status } = await archiver(cluster, during);
      expect([status.archive?.chainBreaks, status.archive?.chainBroken], "broken chains").to.deep.equal([0, false]);
      expect(await rebuiltRevision("scratch")).to.be.at.least(during);
      const { chains, problems } = await readCatalog(await openArchive());
      expect(chains.length, "one chain from the beginning on").to.equal(1);
      expect(problems.filter(({ kind }) => kind !== "fork")).to.deep.equal([]);
      const objects = readdirSync(join(directory, "store"), { recursive: true, encoding: "utf8" });
      expect(objects.filter((name) => name.includes(".draft"))).to.deep.equal([]);
    });
  });

  it("breaks its chain openly when the log was compacted past it, and begins another", async () => {
    // One member alone has all that this needs: a log, a store that is away, and the limit of the log.
    await withCluster(1, ["--log-catch-up-mib", "64"], async (cluster) => {
      const client = cluster.client();
      const before = await archiver(cluster, await write(client, 5, "before"));
      const archived = before.status.archive?.archivedIndex ?? 0;
      renameSync(join(directory, "store"), join(directory, "away"));
      const value = Buffer.alloc(1024 * 1024, "x");
      await until(
        "the log to begin behind the archive",
        async () => {
          await Promise.all(
            Array.from({ length: 8 }, (_, at) =>
              client.keyValue.put("default", `large-${at}`, value, { timeoutMs: 30_000 }),
            ),
          );
          return ((await cluster.member("q-0").status())?.firstIndex ?? 0) > archived + 1;
        },
        COMPACTION_LIMIT_MS,
      );
      const last = await write(client, 5, "after");
      renameSync(join(directory, "away"), join(directory, "store"));
      const { status } = await archiver(cluster, last);
      expect(status.archive?.chainBreaks, "chains that were broken").to.be.at.least(1);
      expect(status.archive?.chainBroken).to.equal(false);
      expect(status.archive?.chainIndex).to.be.greaterThan(archived);
      expect(await rebuiltRevision("scratch")).to.be.at.least(last);
      expect((await readCatalog(await openArchive())).chains.length).to.be.at.least(2);
    });
  });
});
