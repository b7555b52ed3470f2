import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { expect } from "chai";
import { PythonMissing } from "../../../e2e/python/index.ts";
import { temporaryDirectory } from "../../../testing/index.ts";
import { chunked, codeOf, collect, entriesOf, rowsOf, segmentHeader, snapshotHeader } from "../../test/index.ts";
import {
  ACCESS_KEY,
  FAULTS,
  type Fault,
  FaultProxy,
  GoMissing,
  type S3Server,
  SECRET_KEY,
  startMoto,
  startVersitygw,
} from "../../test/s3/index.ts";
import { deletePlanned, planRetention, putSegment, putSnapshot, readCatalog, verifyChain } from "../chain/index.ts";
import { KeyRing } from "../envelope/index.ts";
import { parseLocation, type S3Location, type StoredObject, StoreFailure } from "../store/index.ts";
import { type S3Options, S3Store } from "./s3-store.ts";

/** At the first run, the server is built or installed. */
const START_LIMIT_MS = 10 * 60_000;
const PART_BYTES = 5 * 1024 * 1024;
const LARGE = randomBytes(PART_BYTES + 100_000);
/** Create, two parts, complete. */
const LARGE_REQUESTS = 4;
/** The fault that depends most on the server: it gets a request twice. The proxy makes most others without the server. */
const FAULTS_OF_SLOW_SERVERS: readonly Fault[] = ["lose-answer"];
const SMALL = Buffer.from("a small object");
const DAY_MS = 24 * 3_600_000;
const CREDENTIALS = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };

async function failureOf(promise: Promise<unknown>): Promise<StoreFailure> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StoreFailure)) {
    throw new Error("the store did not fail", { cause: error });
  }
  return error;
}

async function listed(store: S3Store, prefix = ""): Promise<StoredObject[]> {
  const objects: StoredObject[] = [];
  for await (const object of store.list(prefix)) {
    objects.push(object);
  }
  return objects;
}

async function namesOf(store: S3Store, prefix = ""): Promise<string[]> {
  return (await listed(store, prefix)).map(({ name }) => name);
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const LARGE_DIGEST = digestOf(LARGE);

async function digestIn(store: S3Store, name: string): Promise<string> {
  return digestOf(await collect(await store.get(name)));
}

function describeServer(title: string, start: (directory: string) => Promise<S3Server>, isFast: boolean): void {
  describe(title, function () {
    this.timeout(120_000);
    let server: S3Server | undefined;
    let proxy: FaultProxy;
    let store: S3Store;
    const opened: S3Store[] = [];

    before(async function () {
      this.timeout(START_LIMIT_MS);
      try {
        server = await start(temporaryDirectory());
      } catch (error) {
        if (!(error instanceof GoMissing || error instanceof PythonMissing)) {
          throw error;
        }
        console.log(`skipped: ${error.message}`);
        this.skip();
      }
      proxy = await FaultProxy.open(server.target);
      const client = new S3Client({
        endpoint: proxy.url,
        region: "us-east-1",
        forcePathStyle: true,
        credentials: CREDENTIALS,
      });
      await client.send(new CreateBucketCommand({ Bucket: "backups" }));
      client.destroy();
      store = await open();
    });
    after(async () => {
      for (const each of opened) {
        await each.close();
      }
      await proxy?.close();
      await server?.stop();
    });
    afterEach(async () => {
      proxy.begin();
      for (const name of await namesOf(store)) {
        await store.delete(name);
      }
    });

    async function open(
      retry: S3Options["retry"] = {},
      change: Partial<S3Location> = {},
      credentials = CREDENTIALS,
    ): Promise<S3Store> {
      const location = parseLocation(`s3://backups/some/prefix?endpoint=${proxy.url}&path-style=true`) as S3Location;
      const options = { credentials, retry: { delayMs: 2, ...retry }, partBytes: PART_BYTES };
      const made = await S3Store.open({ ...location, ...change }, options);
      opened.push(made);
      return made;
    }

    /** A store with a short wait for answers. */
    function impatient(attempts: number): Promise<S3Store> {
      return open({ attempts, deadlineMs: 1500, bytesPerMs: 100_000 });
    }

    it("puts, gets, lists and deletes", async () => {
      await store.put("c/segments/b", chunked(SMALL, 3));
      await store.put("c/segments/a", chunked(Buffer.alloc(0)));
      await store.put("c.d/large", chunked(LARGE, 70_000));
      expect(await collect(await store.get("c/segments/b"))).to.deep.equal(SMALL);
      expect(await collect(await store.get("c/segments/a"))).to.deep.equal(Buffer.alloc(0));
      expect(await digestIn(store, "c.d/large")).to.equal(LARGE_DIGEST);
      expect((await listed(store)).map(({ name, size }) => [name, size])).to.deep.equal([
        ["c.d/large", LARGE.length],
        ["c/segments/a", 0],
        ["c/segments/b", SMALL.length],
      ]);
      expect(await namesOf(store, "c/segments/")).to.deep.equal(["c/segments/a", "c/segments/b"]);
      expect(Math.abs(((await listed(store))[0]?.modifiedMs ?? 0) - Date.now())).to.be.lessThan(DAY_MS);
      await store.put("c/segments/b", chunked(Buffer.from("new")));
      expect(String(await collect(await store.get("c/segments/b")))).to.equal("new");
      await store.delete("c/segments/a");
      await store.delete("c/segments/a");
      expect(await namesOf(store, "c/")).to.deep.equal(["c/segments/b"]);
      expect(store.describe()).to.equal(`s3://backups/some/prefix/?endpoint=${proxy.url}/`);
    });

    it("gets a part of an object", async () => {
      await store.put("a", chunked(Buffer.from("0123456789")));
      for (const [start, end, text] of [
        [3, undefined, "3456789"],
        [3, 6, "345"],
        [0, 1, "0"],
        [4, 4, ""],
        [8, 99, "89"],
        [99, undefined, ""],
      ] as const) {
        expect(String(await collect(await store.get("a", { start, end }))), `${start}-${end}`).to.equal(text);
      }
    });

    it("lists more than a page", async function () {
      const directory = server?.objects;
      if (directory === undefined) {
        this.skip();
      }
      const names = Array.from({ length: 1005 }, (_, number) => `c/${String(number).padStart(5, "0")}`);
      const folder = join(directory, "backups", "some", "prefix", "c");
      mkdirSync(folder, { recursive: true });
      for (const name of names) {
        writeFileSync(join(folder, basename(name)), SMALL);
      }
      proxy.begin();
      expect(await namesOf(store)).to.deep.equal(names);
      expect(proxy.count).to.equal(2);
      rmSync(folder, { recursive: true });
    });

    it("reports what is missing or forbidden, and names the store but no secret", async () => {
      const missing = await failureOf(store.get("none"));
      expect(missing).to.include({ kind: "not-found", operation: "get none" });
      const elsewhere = await open({}, { bucket: "no-such-bucket" });
      expect((await failureOf(elsewhere.put("a", chunked(SMALL)))).kind).to.equal("no-such-bucket");
      expect((await failureOf(elsewhere.put("a", chunked(LARGE)))).kind).to.equal("no-such-bucket");
      expect((await failureOf(namesOf(elsewhere))).kind).to.equal("no-such-bucket");
      expect((await failureOf(elsewhere.get("a"))).kind).to.equal("no-such-bucket");
      for (const failure of [missing, await failureOf(namesOf(elsewhere))]) {
        expect(failure.message).to.contain(failure.store).and.not.contain(SECRET_KEY).and.not.contain("\n");
        expect(failure.cause).to.equal(undefined);
      }
    });

    it("reports wrong credentials", async function () {
      if (!isFast) {
        // The other server accepts any credentials.
        this.skip();
      }
      const stranger = await open({}, {}, { accessKeyId: ACCESS_KEY, secretAccessKey: "another-secret" });
      proxy.begin();
      const failure = await failureOf(stranger.put("a", chunked(SMALL)));
      expect(failure).to.include({ kind: "denied" });
      expect(failure.message).to.contain("Check the credentials").and.not.contain("another-secret");
      expect(proxy.count).to.equal(1);
    });

    it("holds a sealed chain, which is found, verified, and deleted", async () => {
      const keyRing = new KeyRing([{ id: "k", bytes: randomBytes(32) }]);
      const first = snapshotHeader(10);
      const start = await putSnapshot(store, first, [rowsOf(2000)], keyRing);
      await putSegment(store, segmentHeader(11, 20, { ...start, id: first.id }), [entriesOf(11, 20)], keyRing);
      await putSnapshot(store, snapshotHeader(20), [rowsOf(10)], keyRing);
      const catalog = await readCatalog(store);
      expect(catalog.chains.map(({ end }) => end.index)).to.deep.equal([20, 20]);
      const verified = await verifyChain(store, catalog.chains[0] ?? expect.fail(), { keyRing });
      expect(verified).to.deep.equal({ problem: undefined, objects: 2, rows: 2000, entries: 10, lastIndex: 20 });
      await deletePlanned(store, planRetention(catalog, { keepSnapshots: 1 }, Date.now()));
      expect((await readCatalog(store)).chains.map(({ snapshot }) => snapshot.index)).to.deep.equal([20]);
    });

    it("refuses names that leave the store", async () => {
      proxy.begin();
      for (const name of ["../a", "a//b", "/a", ""]) {
        expect(await codeOf(store.put(name, chunked(SMALL)))).to.equal("bad-argument");
        expect(await codeOf(store.get(name))).to.equal("bad-argument");
        expect(await codeOf(store.delete(name))).to.equal("bad-argument");
      }
      expect(await codeOf(namesOf(store, "a"))).to.equal("bad-argument");
      expect(proxy.count).to.equal(0);
    });

    it("puts nothing when the stream fails, and leaves no upload behind", async () => {
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield LARGE;
        throw new Error("the source is gone");
      }
      const error = await store.put("a", failing()).catch((reason: unknown) => reason);
      expect(String(error)).to.equal("Error: the source is gone");
      expect(await namesOf(store)).to.deep.equal([]);
      expect(await store.sweep(Date.now() + 2 * DAY_MS)).to.equal(0);
    });

    for (const fault of isFast ? FAULTS : FAULTS_OF_SLOW_SERVERS) {
      it(`survives the fault ${fault} in any one request of a large object`, async () => {
        const patient = fault === "late" ? await impatient(5) : store;
        for (let number = 1; number <= LARGE_REQUESTS; number++) {
          proxy.begin((request) => (request === number ? fault : undefined));
          await patient.put(`c/${number}`, chunked(LARGE, 1_000_000));
          expect(proxy.count, `request ${number}`).to.be.greaterThan(LARGE_REQUESTS);
          proxy.begin();
          expect(await digestIn(store, `c/${number}`), `request ${number}`).to.equal(LARGE_DIGEST);
        }
        expect(await namesOf(store)).to.have.length(LARGE_REQUESTS);
      });

      it(`survives the fault ${fault} when it puts a small object, gets, lists and deletes`, async () => {
        const patient = fault === "late" ? await impatient(5) : store;
        const first = (number: number): Fault | undefined => (number === 1 ? fault : undefined);
        proxy.begin(first);
        await patient.put("a", chunked(SMALL));
        await patient.put("b", chunked(LARGE, 1_000_000));
        proxy.begin(first);
        expect(await digestIn(patient, "b")).to.equal(LARGE_DIGEST);
        proxy.begin(first);
        expect(await collect(await patient.get("a"))).to.deep.equal(SMALL);
        proxy.begin(first);
        expect(await namesOf(patient)).to.deep.equal(["a", "b"]);
        proxy.begin(first);
        await patient.delete("a");
        proxy.begin();
        expect(await namesOf(store)).to.deep.equal(["b"]);
      });

      it(`fails if the fault ${fault} stays from any request of a large object on, and shows no partial object`, async () => {
        const hasty = await impatient(2);
        const kind = { "slow-down": "throttled", "server-error": "other" }[String(fault)] ?? "unreachable";
        // Each late answer costs time: only after the last request the object may exist.
        for (let number = fault === "late" ? LARGE_REQUESTS : 1; number <= LARGE_REQUESTS; number++) {
          const name = `c/${number}`;
          proxy.begin((request) => (request >= number ? fault : undefined));
          const failure = await failureOf(hasty.put(name, chunked(LARGE, 1_000_000)));
          expect(failure, `request ${number}`).to.include({ kind, operation: `put ${name}`, store: hasty.describe() });
          expect(failure.message).to.contain(proxy.url);
          proxy.begin();
          // The server may have completed it, and only its answers were lost: then it is complete.
          const [object] = await listed(store, "c/");
          expect(object?.size).to.be.oneOf([undefined, LARGE.length]);
          if (object !== undefined) {
            expect(number).to.equal(LARGE_REQUESTS);
            expect(await digestIn(store, name)).to.equal(LARGE_DIGEST);
          }
        }
        await store.put("c/again", chunked(LARGE, 1_000_000));
        expect(await digestIn(store, "c/again")).to.equal(LARGE_DIGEST);
        await store.sweep(Date.now() + 2 * DAY_MS);
        expect(await store.sweep(Date.now() + 2 * DAY_MS)).to.equal(0);
      });
    }

    it("resumes a download as often as necessary while it makes progress", async () => {
      await store.put("a", chunked(LARGE, 1_000_000));
      const hasty = await open({ attempts: 2 });
      // Each answer is cut in half.
      proxy.begin((number) => (number <= 5 ? "cut-answer" : undefined));
      expect(await digestIn(hasty, "a")).to.equal(LARGE_DIGEST);
      expect(proxy.count).to.equal(6);
      proxy.begin((number) => (number === 1 ? "cut-answer" : "refuse"));
      const failure = await failureOf(digestIn(hasty, "a"));
      expect(failure).to.include({ kind: "unreachable", operation: "get a" });
    });

    it("does not mix an object with one that replaced it during the read", async () => {
      await store.put("a", chunked(LARGE, 1_000_000));
      proxy.begin((number) => (number === 1 ? "cut-answer" : undefined));
      const chunks = (await store.get("a"))[Symbol.asyncIterator]();
      await chunks.next();
      await store.put("a", chunked(randomBytes(LARGE.length), 1_000_000));
      const reading = (async () => {
        while ((await chunks.next()).done !== true) {}
      })();
      expect((await failureOf(reading)).message).to.contain("was replaced while it was read");
    });

    it("removes leftover uploads of a crash after a day", async function () {
      if (!isFast) {
        // The other server reports 2010 as the start of each upload.
        this.skip();
      }
      const hasty = await impatient(1);
      proxy.begin((number) => (number >= 3 ? "refuse" : undefined));
      await failureOf(hasty.put("a", chunked(LARGE, 1_000_000)));
      proxy.begin();
      expect(await store.sweep(Date.now())).to.equal(0);
      expect(await store.sweep(Date.now() + 2 * DAY_MS)).to.equal(1);
      expect(await store.sweep(Date.now() + 2 * DAY_MS)).to.equal(0);
    });
  });
}

describeServer("bucket of versitygw as a store", startVersitygw, true);
describeServer("bucket of moto as a store", startMoto, false);
