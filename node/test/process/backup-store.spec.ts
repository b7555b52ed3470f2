/**
 * A member with a bucket behind TLS as its store. Each kind of request fails once, and `kill -9` ends the member within uploads
 * and deletions. Everything that it reported as archived can be restored, the chain has no gap, and the member continues.
 */

import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import {
  type BackupStore,
  type Catalog,
  type DecryptOptions,
  openStore,
  parseLocation,
  planRestore,
  readCatalog,
  readKeyFile,
  verifyChain,
} from "@quoin/backup";
import { type AdminClient, type Client, createAdminClient, createClient } from "@quoin/client";
import { expect } from "chai";
import {
  ACCESS_KEY,
  type AskedRequest,
  type Fault,
  FaultProxy,
  GoMissing,
  type S3Server,
  SECRET_KEY,
  startVersitygw,
} from "../../../backup/test/s3/index.ts";
import { temporaryDirectory } from "../../../testing/index.ts";
import { rebuild } from "../../src/rebuild/index.ts";
import { OfflineState } from "../../src/storage/index.ts";
import { MemberUnderTest, until } from "../harness/index.ts";
import { TestAuthority, whyNoCertificates } from "../peers/index.ts";

/** The first time, the server is built. */
const START_LIMIT_MS = 10 * 60_000;
const VALUE_BYTES = 1024 * 1024;
/** This many values fill a segment. The member then writes it at once. */
const FULL_SEGMENT = 9;
/** Values of random bytes stay large in the store, so objects have several parts; others are compressed to nothing. */
type Values = "random" | "compressible";
const PUT_LIMIT_MS = 20_000;
/** Longer than the interval between two snapshots. */
const AGE_MS = 25 * 3_600_000;
const LATEST = { kind: "latest" } as const;

/** Kinds of requests of a store to its server. */
type Kind = "list" | "get" | "head" | "put" | "create" | "part" | "complete" | "abort" | "delete" | "uploads";

function kindOf({ method, url }: AskedRequest): Kind {
  const query = new URL(url, "https://store").searchParams;
  const isUpload = query.has("uploadId");
  switch (method) {
    case "HEAD":
      return "head";
    case "PUT":
      return isUpload ? "part" : "put";
    case "POST":
      return isUpload ? "complete" : "create";
    case "DELETE":
      return isUpload ? "abort" : "delete";
    default:
      return query.has("uploads") ? "uploads" : query.has("list-type") ? "list" : "get";
  }
}

describe("the store of a member, a bucket behind TLS", function () {
  this.timeout(240_000);

  let server: S3Server | undefined;
  let proxy: FaultProxy;
  let authority: string;
  let buckets = 0;
  let directory: string;
  let bucket: string;
  let store: BackupStore;
  let flags: readonly string[];
  let member: MemberUnderTest | undefined;
  let client: Client | undefined;
  let admin: AdminClient | undefined;

  before(async function () {
    this.timeout(START_LIMIT_MS);
    const missing = whyNoCertificates();
    try {
      server = missing === null ? await startVersitygw(temporaryDirectory()) : undefined;
    } catch (error) {
      if (!(error instanceof GoMissing)) {
        throw error;
      }
      console.log(`skipped: ${error.message}`);
      this.skip();
    }
    if (server === undefined) {
      console.log(`skipped: ${missing}`);
      this.skip();
    }
    const issuer = new TestAuthority(temporaryDirectory(), "authority");
    const { certificate, key } = issuer.issue("store", ["IP:127.0.0.1"]);
    authority = issuer.certificate;
    proxy = await FaultProxy.open(server.target, { cert: readFileSync(certificate), key: readFileSync(key) });
  });

  after(async () => {
    await proxy?.close();
    await server?.stop();
  });

  beforeEach(async () => {
    directory = temporaryDirectory();
    bucket = `backups-${++buckets}`;
    proxy.begin();
    await makeBucket();
    const credentials = `[default]\naws_access_key_id = ${ACCESS_KEY}\naws_secret_access_key = ${SECRET_KEY}\n`;
    writeFileSync(join(directory, "credentials"), credentials, { mode: 0o600 });
    writeFileSync(join(directory, "key"), `first:${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    const address = `s3://${bucket}/archive?endpoint=${proxy.url}&path-style=true&ca-file=${authority}`;
    flags = [
      ...["--backup-store", address, "--backup-key-file", join(directory, "key")],
      ...["--backup-credentials-file", join(directory, "credentials"), "--backup-archive"],
    ];
    store = await openStore(parseLocation(address), {
      create: false,
      s3: { credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY } },
    });
  });

  afterEach(async () => {
    proxy?.begin();
    client?.close();
    admin?.close();
    await member?.kill();
    await store?.close();
    [member, client, admin] = [undefined, undefined, undefined];
  });

  async function makeBucket(): Promise<void> {
    const plain = await FaultProxy.open((server as S3Server).target);
    const s3 = new S3Client({
      endpoint: plain.url,
      region: "us-east-1",
      forcePathStyle: true,
      credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
    });
    await s3.send(new CreateBucketCommand({ Bucket: bucket }));
    s3.destroy();
    await plain.close();
  }

  /** Starts the member, or starts it again after it was killed. */
  async function start(...more: readonly string[]): Promise<MemberUnderTest> {
    client?.close();
    admin?.close();
    member ??= new MemberUnderTest(directory, { flags: [...flags, ...more] });
    const listening = await member.start();
    client = createClient({ endpoints: [listening.grpc], credentials: { token: await member.token(listening) } });
    admin = createAdminClient({ endpoint: listening.admin, credentials: { token: member.adminToken } });
    return member;
  }

  /** Writes a full segment. @returns the revision of the last write, when all of them were acknowledged */
  async function write(prefix: string, values: Values): Promise<number> {
    const { keyValue } = client as Client;
    const puts = Array.from({ length: FULL_SEGMENT }, (_, at) => {
      const value = values === "random" ? randomBytes(VALUE_BYTES) : Buffer.alloc(VALUE_BYTES, prefix);
      return keyValue.put("default", `${prefix}-${at}`, value, { timeoutMs: PUT_LIMIT_MS });
    });
    return Math.max(...(await Promise.all(puts)).map(({ modRevision }) => modRevision));
  }

  /** The same, @returns when the member has reported the last write as archived. */
  async function archive(prefix: string, values: Values = "compressible"): Promise<number> {
    const revision = await write(prefix, values);
    await until(`revision ${revision} to be archived`, async () => (await archived()).archivedRevision >= revision);
    return revision;
  }

  async function archived() {
    return (await (admin as AdminClient).getBackupStatus()).archive ?? expect.fail("the member does not archive");
  }

  /** Checks that every chain is complete, and that the furthest one has the reported revision. */
  async function prove(revision: number): Promise<Catalog> {
    proxy.begin();
    const catalog = await readCatalog(store);
    expect(catalog.problems).to.deep.equal([]);
    for (const chain of catalog.chains) {
      expect((await verifyChain(store, chain, await unseal())).problem).to.equal(undefined);
    }
    // A segment does not state its revision if it ends within entries that the member applied at once.
    const { end } = planRestore(catalog, LATEST);
    expect(end.revision ?? (await rebuiltRevision(catalog))).to.be.at.least(revision);
    return catalog;
  }

  /** Also rebuilds the state at the end, whose digest must be that of the cluster. */
  async function proveByRebuild(revision: number): Promise<Catalog> {
    const catalog = await prove(revision);
    expect(await rebuiltRevision(catalog)).to.be.at.least(revision);
    return catalog;
  }

  async function rebuiltRevision(catalog: Catalog): Promise<number> {
    const state = await OfflineState.create(join(directory, `scratch-${randomBytes(4).toString("hex")}`));
    const source = { store, objects: planRestore(catalog, LATEST), point: LATEST, decryptOptions: await unseal() };
    const { progress, digestsCompared } = await rebuild({ ...source, state }).finally(() => state.close());
    expect(digestsCompared).to.be.greaterThan(0);
    return progress.revision;
  }

  async function unseal(): Promise<DecryptOptions> {
    const { keyRing } = await readKeyFile(join(directory, "key"));
    return { keyRing };
  }

  /** Makes the snapshots in the bucket older, so that a member takes the next one at its start. */
  function age(): void {
    const root = join((server as S3Server).objects ?? expect.fail("the server keeps no files"), bucket);
    for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
      if (name.endsWith(".qsnap")) {
        const then = new Date(Date.now() - AGE_MS);
        utimesSync(join(root, name), then, then);
      }
    }
  }

  /** Lets the next requests of each kind fail in the given ways, one after the other. */
  function failing(faults: Partial<Record<Kind, readonly Fault[]>>): { readonly untilMet: () => Promise<unknown> } {
    const left = new Map(Object.entries(faults).map(([kind, each]) => [kind, [...each]]));
    proxy.begin((_number, request) => left.get(kindOf(request))?.shift());
    const open = () => [...left].flatMap(([kind, each]) => each.map((fault) => `${kind}: ${fault}`));
    const untilMet = () => {
      return until("the faults", () => open().length === 0).catch((error: Error) => {
        throw new Error(`${error.message}: ${open().join(", ")}`, { cause: error });
      });
    };
    return { untilMet };
  }

  /** Kills the member at the first request that is meant; the fault decides whether the server executes it. */
  function killAt(isMeant: (request: AskedRequest) => boolean, fault: Fault): Promise<void> {
    return new Promise((resolve, reject) => {
      let isDone = false;
      proxy.begin((_number, request) => {
        if (isDone) {
          return "refuse";
        }
        if (!isMeant(request)) {
          return undefined;
        }
        isDone = true;
        (member as MemberUnderTest).kill().then(resolve, reject);
        return fault;
      });
    });
  }

  it("is refused, with the reason, while the authority of its certificate is unknown", async () => {
    flags = flags.map((flag) => flag.replace(/&ca-file=.*/, ""));
    await start();
    const reason = await until("a failure", async () => (await archived()).lastError || null);
    expect(reason)
      .to.match(/certificate is not trusted .* ca-file/)
      .and.not.include(SECRET_KEY);
    expect(proxy.count).to.equal(0);
  });

  /** Takes a backup on request. @returns "" if it succeeded, else the reason */
  async function backUp(): Promise<string> {
    const id = await (admin as AdminClient).startBackup();
    const run = await until("the backup to end", async () => {
      const status = await (admin as AdminClient).getBackupStatus(id);
      return (status.run?.endedMs ?? 0) > 0 ? status.run : null;
    });
    expect(run?.phase).to.equal(run?.error === "" ? "BACKUP_SUCCEEDED" : "BACKUP_FAILED");
    return run?.error ?? "";
  }

  it("has everything that was archived after each kind of request was denied, and failed in another way", async () => {
    let phase = failing({ list: ["denied", "lose-answer"], put: ["denied", "lose-answer"] });
    const started = await start("--backup-retention", "1");
    await archive("a", "random");
    await phase.untilMet();
    phase = failing({ put: ["denied", "cut-request"] });
    let revision = await archive("b");
    await phase.untilMet();

    // A backup of this size has several parts. A failed backup leaves nothing behind, and the next one succeeds.
    for (const faults of [
      { create: ["denied"] },
      { part: ["denied"], abort: ["denied"] },
      { complete: ["denied"], abort: ["lose-answer"] },
      { complete: ["lose-answer", "no-such-upload"], head: ["denied"] },
    ] as const) {
      phase = failing(faults);
      expect(await backUp(), JSON.stringify(faults)).to.include("HTTP 403");
      await phase.untilMet();
    }
    phase = failing({
      create: ["lose-answer"],
      part: ["cut-request"],
      complete: ["lose-answer", "no-such-upload"],
      head: ["lose-answer"],
    });
    expect(await backUp()).to.equal("");
    await phase.untilMet();
    expect(await archived()).to.include({ chainBreaks: 0, chainBroken: false });
    await prove(revision);

    // Reads: the end of the archive when the member starts. Deletions: old backups after a snapshot.
    await started.kill();
    age();
    phase = failing({ get: ["denied", "cut-answer"], delete: ["denied"] });
    await start();
    await phase.untilMet();
    await started.process.untilPrinted("old backups could not be deleted");
    revision = await archive("c");
    await started.kill();
    age();
    phase = failing({ delete: ["lose-answer"], uploads: ["denied"] });
    await start();
    await phase.untilMet();
    revision = await archive("d");
    expect((await proveByRebuild(revision)).snapshots.length).to.equal(1);
    expect(await archived()).to.include({ chainBreaks: 0, chainBroken: false });
  });

  it("has everything that was archived after the member was killed within uploads and deletions", async () => {
    await start("--backup-retention", "1");
    let revision = await archive("a", "random");
    const isOfSegment = (request: AskedRequest) => {
      return request.url.includes("/segments/") && ["put", "complete"].includes(kindOf(request));
    };
    // The first segment has parts, which the last request puts together; the second one is one request.
    for (const fault of ["cut-request", "lose-answer"] as const) {
      const killed = killAt(isOfSegment, fault);
      // The member may die before it has acknowledged all of them.
      const writing = write("b", fault === "cut-request" ? "random" : "compressible").catch(() => undefined);
      await killed;
      await prove(revision);
      await start();
      await writing;
    }
    revision = await archive("c");
    expect((await prove(revision)).snapshots.length, "one chain goes on").to.equal(1);
    const cut = killAt((request) => kindOf(request) === "part" && request.url.includes("/snapshots/"), "cut-request");
    await Promise.all([cut, (admin as AdminClient).startBackup()]);
    expect((await prove(revision)).snapshots.length, "nothing half is there").to.equal(1);

    age();
    let deletions = 0;
    const killed = killAt((request) => kindOf(request) === "delete" && ++deletions === 2, "lose-answer");
    await start();
    await killed;
    expect((await prove(revision)).snapshots.length, "the old one goes last").to.equal(2);
    age();
    await start();
    await until("the rest to be deleted", async () => (await readCatalog(store)).snapshots.length === 1);
    await proveByRebuild(await archive("d"));
  });
});
