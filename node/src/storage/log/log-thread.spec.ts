import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { damageTable, temporaryDirectory, until, untilDamageIsFound } from "../../../test/harness/index.ts";
import { encodeMirror, MIRROR_FILE, mirrorOffset } from "../files/index.ts";
import { encodeChanges, Rocks, type ThreadReply } from "../rocks/index.ts";
import { emptyLogMeta } from "./log-meta.ts";
import type { LogReply, LogRequest } from "./log-thread.ts";

const OPTIONS = { createIfMissing: true, memtableBytes: 4 * 1024 * 1024, cacheBytes: 1024 * 1024 };
const META = emptyLogMeta({
  clusterId: "00112233-4455-6677-8899-aabbccddeeff",
  incarnation: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  memberId: 1,
});
const WITNESS = new URL("../../../verify/witnesses/log-thread-witness.ts", import.meta.url);

/** Replies of the thread, and between them its disk operations, which the witness reports. */
type Told = LogReply | ThreadReply | { readonly kind: "seen"; readonly what: string };

describe("the log thread", () => {
  let rocks: Rocks;
  let worker: Worker;
  let told: string[];

  beforeEach(async () => {
    told = [];
    rocks = await Rocks.open(join(temporaryDirectory(), "raft"), OPTIONS);
  });
  afterEach(async () => {
    await worker.terminate();
    await rocks.close();
  });

  function start(failingBatch: number): void {
    worker = new Worker(new URL("./log-thread.ts", import.meta.url), {
      execArgv: ["--import", WITNESS.href],
      workerData: { handle: rocks.handle, mirrorPath: join(rocks.directory, "..", MIRROR_FILE), failingBatch },
    });
    worker.on("message", (message: Told) => told.push(wordsOf(message)));
  }

  function wordsOf(message: Told): string {
    switch (message.kind) {
      case "seen":
        return message.what;
      case "fatal":
        return `fatal ${message.errorKind}`;
      default:
        return message.kind;
    }
  }

  function write(writeSeq: number, syncMirror: boolean): void {
    const request: LogRequest = {
      kind: "write",
      writeSeq,
      changes: encodeChanges([{ key: new Uint8Array([writeSeq]), value: new Uint8Array([1]) }]),
      mirror: encodeMirror({ ...META, writeSeq, counter: writeSeq, damaged: false, isSoleVoter: true }),
      mirrorOffset: mirrorOffset(writeSeq),
      syncMirror,
    };
    worker.postMessage(request);
  }

  /** Lets the thread do what it was asked, and end. */
  async function finish(): Promise<void> {
    const request: LogRequest = { kind: "close" };
    worker.postMessage(request);
    await once(worker, "exit");
  }

  it("P2: answers a write when its batch is synced and the mirror knows of it", async () => {
    start(0);
    write(1, false);
    write(2, false);
    await finish();
    expect(told.slice(0, 6)).to.deep.equal(["synced batch", "mirror", "written", "synced batch", "mirror", "written"]);
  });

  it("P1: answers a write with a term or a vote when the mirror is synced as well", async () => {
    start(0);
    write(1, true);
    await finish();
    expect(told.slice(0, 4)).to.deep.equal(["synced batch", "mirror", "synced mirror", "written"]);
  });

  it("P32: does nothing more once a write has failed, although the next might succeed", async () => {
    start(2);
    write(1, false);
    write(2, false);
    write(3, true);
    worker.postMessage({ kind: "ping" });
    await until("the thread answers", () => told.includes("pong"));
    expect(told).to.deep.equal(["synced batch", "mirror", "written", "synced batch", "fatal io", "pong"]);
    expect(rocks.get(new Uint8Array([3]))).to.equal(undefined);
  });

  it("reports corruption as such when RocksDB has found a damaged table in the background (P30)", async () => {
    const { directory } = rocks;
    await rocks.close();
    await damageTable(directory, new Uint8Array([7]), () => Rocks.open(directory, OPTIONS));
    rocks = await Rocks.open(directory, OPTIONS);
    await untilDamageIsFound((name) => rocks.property(name));
    start(0);
    write(1, false);
    await until("the end of the thread", () => told.length > 1);
    expect(told).to.deep.equal(["synced batch", "fatal corruption"]);
  });
});
