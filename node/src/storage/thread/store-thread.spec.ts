import { expect } from "chai";
import { pause, until } from "../../../test/harness/index.ts";
import { StoreError, type StoreErrorKind } from "../files/index.ts";
import { fatalReply, StoreThread } from "./store-thread.ts";

interface Reply {
  readonly kind: "echo";
  readonly text: string;
}

/** Requests to the thread of these specs. */
type Request =
  | { readonly kind: "echo"; readonly text: string }
  | { readonly kind: "fatal"; readonly errorKind: StoreErrorKind }
  | { readonly kind: "throw" | "exit" | "close" | "ignore" };

const PROGRAM = `
  import { parentPort, workerData } from "node:worker_threads";
  if (workerData.broken) throw new Error("it cannot start");
  parentPort.on("message", (request) => {
    answer(request);
    Atomics.add(workerData.handled, 0, 1);
  });
  function answer(request) {
    switch (request.kind) {
      case "echo": return parentPort.postMessage({ kind: "echo", text: workerData.prefix + request.text });
      case "fatal": return parentPort.postMessage({ ...request, message: "the disk is gone" });
      case "throw": throw new Error("thrown");
      case "exit": return process.exit(0);
      case "close": return parentPort.close();
    }
  }
`;
const ENTRY = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`);

describe("StoreThread", () => {
  let replies: string[];
  let fatal: StoreError[];
  let thread: StoreThread<Request, Reply>;
  /** Counts the requests that the thread has answered; shared with it. */
  let handled: Int32Array;

  function start(data: object): StoreThread<Request, Reply> {
    handled = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    return new StoreThread<Request, Reply>(
      ENTRY,
      "spec",
      { ...data, handled },
      ({ text }) => replies.push(text),
      (error) => fatal.push(error),
    );
  }

  beforeEach(() => {
    replies = [];
    fatal = [];
    thread = start({ prefix: "> " });
  });
  afterEach(() => thread.close({ kind: "close" }));

  it("answers in order, and what was asked before it is closed too", async () => {
    for (const text of ["a", "b", "c"]) {
      thread.post({ kind: "echo", text });
    }
    expect(thread.isClosing).to.equal(false);
    const closed = thread.close({ kind: "close" });
    expect(thread.isClosing).to.equal(true);
    await closed;
    expect(replies).to.deep.equal(["> a", "> b", "> c"]);
    expect(fatal).to.deep.equal([]);
  });

  it("ignores Node's own messages about a thread when it watches sources", async () => {
    const { WATCH_REPORT_DEPENDENCIES: before } = process.env;
    // `node --watch` sets it for the process that it starts, and so for its threads.
    process.env.WATCH_REPORT_DEPENDENCIES = "1";
    const watched = start({ prefix: "watched " });
    try {
      watched.post({ kind: "echo", text: "a" });
      await until("the answer", () => replies.length > 0);
    } finally {
      await watched.close({ kind: "close" });
      if (before === undefined) {
        delete process.env.WATCH_REPORT_DEPENDENCIES;
      } else {
        process.env.WATCH_REPORT_DEPENDENCIES = before;
      }
    }
    expect(replies).to.deep.equal(["watched a"]);
    expect(fatal).to.deep.equal([]);
  });

  it("takes the memory of what it is handed", async () => {
    const buffer = new ArrayBuffer(8);
    thread.post({ kind: "echo", text: "a" }, [buffer]);
    expect(buffer.detached).to.equal(true);
    await until("the answer", () => replies.length === 1);
  });

  const failures = new Map<string, { readonly request: Request; readonly message: string }>([
    ["says so", { request: { kind: "fatal", errorKind: "io" }, message: "the spec thread failed: the disk is gone" }],
    ["throws", { request: { kind: "throw" }, message: "the spec thread failed: thrown" }],
    ["ends", { request: { kind: "exit" }, message: "the spec thread failed: it ended" }],
  ]);
  for (const [how, { request, message }] of failures) {
    it(`is reported once when it ${how}, and believed no more`, async () => {
      thread.post(request);
      thread.post({ kind: "echo", text: "too late" });
      await until("the failure", () => fatal.length > 0);
      if (request.kind === "fatal") {
        // This thread goes on, and its answer that comes too late arrives here.
        await until("the late answer", () => Atomics.load(handled, 0) === 2);
        await pause(0);
      }
      await thread.close({ kind: "close" });
      expect(fatal.map((error) => [error.kind, error.message])).to.deep.equal([["io", message]]);
      expect(replies).to.deep.equal([]);
    });

    it(`is reported when it ${how} while it is being closed, and closing ends all the same`, async () => {
      thread.post(request);
      await thread.close({ kind: "ignore" });
      expect(fatal).to.have.length(request.kind === "exit" ? 0 : 1);
    });
  }

  it("is reported with the kind of error that it met, which decides whether its store is taken for lost", async () => {
    const kinds: readonly StoreErrorKind[] = ["corruption", "io"];
    for (const kind of kinds) {
      const failing = start({});
      const { errorKind } = fatalReply(new StoreError(kind, "spec"));
      failing.post({ kind: "fatal", errorKind });
      await failing.close({ kind: "ignore" });
    }
    expect(fatal.map((error) => error.kind)).to.deep.equal(kinds);
    expect(fatalReply(new Error("EIO")).errorKind, "of the file system").to.equal("io");
  });

  it("is reported when it cannot start", async () => {
    const broken = start({ broken: true });
    await until("the failure", () => fatal.length > 0);
    await broken.close({ kind: "close" });
    expect(fatal.map(({ message }) => message)).to.deep.equal(["the spec thread failed: it cannot start"]);
  });

  it("may be closed twice, also after it failed", async () => {
    await Promise.all([thread.close({ kind: "close" }), thread.close({ kind: "close" })]);
    await thread.close({ kind: "close" });
    expect(fatal).to.deep.equal([]);
  });
});
