import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { recordsOf, temporaryDirectory, until } from "../../../test/harness/index.ts";
import { encodeMirror, MIRROR_FILE, mirrorOffset } from "../files/index.ts";
import type { ThreadReply } from "../thread/index.ts";
import { emptyLogMeta } from "./log-meta.ts";
import type { LogReply, LogRequest, LogThreadData } from "./log-thread.ts";
import { encodeRecord, LOG_DIRECTORY, NO_SEGMENT } from "./segment.ts";

const META = emptyLogMeta({
  clusterId: "00112233-4455-6677-8899-aabbccddeeff",
  incarnation: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  memberId: 1,
});
const WITNESS = new URL("../../../verify/witnesses/log-thread-witness.ts", import.meta.url);

/** Replies of the thread, and between them its disk operations, which the witness reports. */
type Told = LogReply | ThreadReply | { readonly kind: "seen"; readonly what: string };

describe("the log thread", () => {
  let directory: string;
  let worker: Worker;
  let told: string[];

  beforeEach(() => {
    told = [];
    directory = temporaryDirectory();
    mkdirSync(join(directory, LOG_DIRECTORY));
  });
  afterEach(() => worker.terminate());

  function start(failingSync: number): void {
    const data: LogThreadData = {
      directory: join(directory, LOG_DIRECTORY),
      mirrorPath: join(directory, MIRROR_FILE),
      end: NO_SEGMENT,
    };
    worker = new Worker(new URL("./log-thread.ts", import.meta.url), {
      execArgv: ["--import", WITNESS.href],
      workerData: { ...data, failingSync },
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

  function write(writeSeq: number, syncMirror: boolean, isNext = writeSeq === 1): void {
    const request: LogRequest = {
      kind: "write",
      writeSeq,
      record: encodeRecord({ ...META, writeSeq, last: writeSeq }, [new Uint8Array(100)]).buffer,
      isNext,
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

  it("P2: answers a write when its record is synced and the mirror knows of it", async () => {
    start(0);
    write(1, false);
    write(2, false);
    await finish();
    expect(told).to.deep.equal([
      ...["header", "record", "growth", "synced log", "synced directory", "mirror", "written"],
      ...["record", "synced log", "mirror", "written"],
      "synced mirror",
    ]);
  });

  it("P1: answers a write with a term or a vote when the mirror is synced as well", async () => {
    start(0);
    write(1, false);
    write(2, true);
    await finish();
    expect(told.slice(-6, -1)).to.deep.equal(["record", "synced log", "mirror", "synced mirror", "written"]);
  });

  it("makes a new segment durable with its name, before it answers", async () => {
    start(0);
    write(1, false);
    write(2, false, true);
    await finish();
    expect(told.slice(-8)).to.deep.equal([
      ...["header", "record", "growth", "synced log", "synced directory", "mirror", "written"],
      "synced mirror",
    ]);
  });

  it("P32: does nothing more once a write has failed, although the next might succeed", async () => {
    start(2);
    write(1, false);
    write(2, false);
    write(3, true);
    worker.postMessage({ kind: "ping" });
    await until("the thread answers", () => told.includes("pong"));
    expect(told.slice(7)).to.deep.equal(["record", "synced log", "fatal io", "pong"]);
    expect(recordsOf(directory).map(({ meta }) => meta.writeSeq)).not.to.include(3);
  });
});
