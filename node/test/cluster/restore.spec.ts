/**
 * All volumes of a cluster are lost, and it comes back from its archive. The flags of its members found it from the
 * archive; on another machine, the local launcher does.
 *
 * All members are killed after the archive has every acknowledged write, so none may be missing.
 */

import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CompactedError } from "@quoin/client";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { ClusterUnderTest, claimedBasePort, QUOINCTL_PROGRAM, TestProcess, until } from "../harness/index.ts";

const LAUNCHER = fileURLToPath(new URL("../../local/main.ts", import.meta.url));
const JUMP = 1_000_000;
const KEYS = 60;
const NAMESPACE = "default";
/** A segment is written every ten seconds; this is far longer than that. */
const ARCHIVE_LIMIT_MS = 90_000;

/** The former cluster, as its clients knew it last. */
interface Former {
  readonly clusterId: string;
  readonly logId: string;
  readonly fencingToken: number;
  readonly accessToken: string;
  /** Revisions of the keys, in the order of the keys. */
  readonly revisions: readonly number[];
  /** A copy of the data of q-2. */
  readonly copy: string;
}

describe("a cluster whose volumes are all lost", function () {
  this.timeout(400_000);
  const running: TestProcess[] = [];
  /** The members read them at each start. */
  const flags: string[] = [];
  let store: string;
  let cluster: ClusterUnderTest;
  let former: Former;

  before(async () => {
    store = join(temporaryDirectory(), "store");
    mkdirSync(store);
    flags.push("--backup-store", store, "--backup-archive");
    cluster = await ClusterUnderTest.start(3, { placementOf: async () => ({ flags }) });
    former = await useAndLose();
  });
  afterEach(async function () {
    if (this.currentTest?.state === "failed") {
      console.log(await cluster.describe());
      console.log(running.map(({ stdout, stderr }) => `${stdout}\n${stderr}`).join("\n"));
    }
  });
  after(async () => {
    await Promise.all(running.splice(0).map((child) => child.dispose()));
    await cluster.dispose();
  });

  async function useAndLose(): Promise<Former> {
    const client = cluster.client();
    await client.locks.create(NAMESPACE, "guarded");
    const held = await client.locks.acquire(NAMESPACE, "guarded", { ttlSeconds: 86_400 });
    const { logId } = await client.logs.create("journal");
    await client.logs.append(logId, "first", { key: "one" });
    // No point before the first snapshot can be restored, and the test restores that of the tenth key.
    await untilArchived(1);
    const revisions: number[] = [];
    for (let at = 0; at < KEYS; at++) {
      revisions.push((await client.keyValue.put(NAMESPACE, `key-${at}`, `value ${at}`)).modRevision);
    }
    const accessToken = await cluster.tokens.token();
    expect(await listsKeys(accessToken)).to.equal(200);
    await untilArchived(revisions.at(-1) ?? 0);
    const clusterId = (await cluster.member("q-0").status())?.clusterId ?? "";
    await Promise.all(cluster.members.map((member) => member.kill()));
    const copy = join(temporaryDirectory(), "copy");
    cpSync(cluster.member("q-2").dataDirectory, copy, { recursive: true });
    for (const member of cluster.members) {
      member.wipe();
    }
    return { clusterId, logId, fencingToken: held.holder?.fencingToken ?? 0, accessToken, revisions, copy };
  }

  async function untilArchived(revision: number): Promise<void> {
    await until(
      `revision ${revision} to be archived`,
      async () => {
        const { archive } = await cluster.change((admin) => admin.getBackupStatus());
        return (archive?.archivedRevision ?? 0) >= revision;
      },
      ARCHIVE_LIMIT_MS,
    );
  }

  async function listsKeys(token: string): Promise<number> {
    const [endpoint = ""] = cluster.httpEndpoints;
    return (await fetch(`${endpoint}/keys`, { headers: { authorization: `Bearer ${token}` } })).status;
  }

  it("has everything that was archived, and gives no token, revision, login or watch of before out again", async () => {
    // All members have the same flags; only the founding one reads the backup.
    flags.push("--restore-from", store);
    await cluster.found();
    const founder = cluster.member("q-0");
    const clusterId = (await founder.status())?.clusterId;
    expect(clusterId).to.not.equal(former.clusterId);
    expect(founder.logTail()).to.contain(
      `cluster ${former.clusterId} (under-test) was restored as cluster ${clusterId}`,
    );
    await cluster.add("q-1", "q-2");
    await cluster.promote("q-1", "q-2");
    await cluster.untilReady();

    const client = cluster.client();
    const last = former.revisions.at(-1) ?? 0;
    for (const [at, modRevision] of former.revisions.entries()) {
      const found = await client.keyValue.get(NAMESPACE, `key-${at}`);
      expect(Buffer.from(found?.value ?? []).toString()).to.equal(`value ${at}`);
      expect(found?.modRevision).to.equal(modRevision);
    }
    expect((await client.keyValue.put(NAMESPACE, "after", "x")).modRevision).to.be.above(last + JUMP);
    const again = await client.locks.acquire(NAMESPACE, "guarded", { waitMs: 0 });
    expect(again.acquired).to.equal(true);
    expect(again.holder?.fencingToken).to.be.above(former.fencingToken + JUMP);
    const { logId } = former;
    expect(await client.logs.append(logId, "first", { key: "one" })).to.deep.equal({ sequence: 1, replayed: true });
    const compacted = await client.watch
      .keys(NAMESPACE, { startRevision: last - 1 })
      .then(() => null)
      .catch((error: unknown) => error);
    expect(compacted).to.be.instanceOf(CompactedError);
    expect(await listsKeys(former.accessToken)).to.equal(401);
    expect(await listsKeys((await cluster.tokens.refresh(former.accessToken)) ?? "")).to.equal(200);

    // A start with data does not read the backup, and logs that once.
    const follower = await cluster.follower();
    await follower.stop();
    follower.start();
    await follower.untilReady();
    expect(follower.logTail().split("--restore-from is ignored")).to.have.length(2);

    // A member of the former cluster learns the reason of its refusal.
    const outsider = cluster.member("q-2");
    await outsider.kill();
    outsider.wipe();
    cpSync(former.copy, outsider.dataDirectory, { recursive: true });
    outsider.start();
    await until("the former member to say why it is refused", async () => {
      const alarms = (await outsider.status())?.alarms.join("\n") ?? "";
      return alarms.includes(`recovered or restored as cluster ${clusterId} on 20`);
    });
    expect(await outsider.isReady()).to.equal(false);
  });

  it("comes back with npm start too, up to a revision, and is not restored over what is there", async () => {
    const directory = temporaryDirectory();
    const base = ["--members", "1", "--base-port", String(await claimedBasePort()), "--data-dir", directory];
    const start = (...args: string[]) => {
      const from = ["--restore", store, "--restore-cluster-id", former.clusterId];
      const child = new TestProcess(LAUNCHER, [...base, ...from, ...args]);
      running.push(child);
      return child;
    };
    const revision = former.revisions[9] ?? 0;
    const launcher = start("--to-revision", String(revision));
    await until("the cluster to be ready", () => launcher.stdout.includes("Quoin is ready") || launcher.hasEnded);
    expect(launcher.stdout).to.contain(`cluster ${former.clusterId} (under-test) was restored as cluster`);
    expect(launcher.stdout)
      .to.contain(`up to    revision ${revision} `)
      .and.to.contain("entries of the archive after that point");
    const get = async (key: string) => {
      const env = { ...process.env, QUOIN_ENDPOINTS_FILE: join(directory, "endpoints.json") };
      const child = new TestProcess(QUOINCTL_PROGRAM, ["kv", "get", `${NAMESPACE}/${key}`], { env });
      running.push(child);
      const { code } = await child.ended;
      return { code, value: child.stdout.trim() };
    };
    // With the API key that the launcher has made: its owner belongs to the restored cluster.
    expect(await get("key-9")).to.deep.equal({ code: 0, value: "value 9" });
    expect((await get("key-10")).code).to.not.equal(0);
    launcher.signal("SIGTERM");
    expect((await launcher.ended).code).to.equal(0);
    const second = start();
    expect((await second.ended).code).to.equal(1);
    expect(second.stderr).to.contain('it belongs to member "q-0"').and.to.contain("omit --restore");
  });
});
