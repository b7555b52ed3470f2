import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { chunked, codeOf, collect } from "../../test/index.ts";
import type { StoredObject } from "./backup-store.ts";
import { DirectoryStore } from "./directory-store.ts";
import { StoreFailure } from "./store-failure.ts";

const DAY_MS = 24 * 3_600_000;

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

describe("directory as a store", () => {
  let directory: string;
  let store: DirectoryStore;

  beforeEach(async () => {
    directory = join(temporaryDirectory(), "backups");
    store = await DirectoryStore.open({ directory, create: true });
  });

  async function listed(prefix: string): Promise<StoredObject[]> {
    const objects: StoredObject[] = [];
    for await (const object of store.list(prefix)) {
      objects.push(object);
    }
    return objects;
  }

  async function namesOf(prefix: string): Promise<string[]> {
    return (await listed(prefix)).map(({ name }) => name);
  }

  it("puts, gets, lists and deletes", async () => {
    const bytes = Buffer.alloc(700_000, "some bytes ");
    await store.put("c/segments/b", chunked(bytes, 999));
    await store.put("c/segments/a", chunked(Buffer.from("a")));
    await store.put("c.d/x", chunked(Buffer.alloc(0)));
    expect((await collect(await store.get("c/segments/b"))).equals(bytes)).to.equal(true);
    expect(await collect(await store.get("c.d/x"))).to.deep.equal(Buffer.alloc(0));
    expect((await listed("")).map(({ name, size }) => [name, size])).to.deep.equal([
      ["c.d/x", 0],
      ["c/segments/a", 1],
      ["c/segments/b", 700_000],
    ]);
    expect(await namesOf("c/segments/")).to.deep.equal(["c/segments/a", "c/segments/b"]);
    expect(await namesOf("none/")).to.deep.equal([]);
    await store.delete("c/segments/a");
    await store.delete("c/segments/a");
    await store.delete("none/at/all");
    expect(await namesOf("c/")).to.deep.equal(["c/segments/b"]);
    expect(store.describe()).to.equal(`file://${directory}`);
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

  it("replaces an object with the same name", async () => {
    await store.put("a", chunked(Buffer.from("old and long")));
    await store.put("a", chunked(Buffer.from("new")));
    expect(String(await collect(await store.get("a")))).to.equal("new");
  });

  it("keeps files from other users", async () => {
    await store.put("a/b", chunked(Buffer.from("secret")));
    const modes = ["", "a", "a/b"].map((name) => statSync(join(directory, name)).mode & 0o777);
    expect(modes).to.deep.equal([0o700, 0o700, 0o600]);
  });

  it("puts nothing when the stream fails, and leaves nothing behind", async () => {
    await store.put("a", chunked(Buffer.from("whole")));
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("half");
      throw new Error("the source is gone");
    }
    for (const name of ["a", "b"]) {
      const error = await store.put(name, failing()).catch((reason: unknown) => reason);
      expect(String(error)).to.equal("Error: the source is gone");
    }
    expect(readdirSync(directory)).to.deep.equal(["a"]);
    expect(readFileSync(join(directory, "a"), "utf8")).to.equal("whole");
  });

  it("shows no object while it is written, nor leftovers of a crash, and removes those after a day", async () => {
    async function* watching(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("half");
      expect(await namesOf("")).to.deep.equal([]);
      yield Buffer.from("whole");
    }
    await store.put("c/a", watching());
    const nowMs = Date.now();
    const [old, young] = [join(directory, "c", ".draft-old"), join(directory, ".draft-young")];
    writeFileSync(old, "half an object");
    writeFileSync(young, "half an object");
    utimesSync(old, new Date(), new Date(nowMs - DAY_MS - 1000));
    expect(await namesOf("")).to.deep.equal(["c/a"]);
    expect(await store.sweep(nowMs)).to.equal(1);
    expect([existsSync(old), existsSync(young)]).to.deep.equal([false, true]);
    expect(await store.sweep(nowMs + 2 * DAY_MS)).to.equal(1);
    expect(await namesOf("")).to.deep.equal(["c/a"]);
  });

  it("refuses names that leave the store, and skips files that are not objects", async () => {
    for (const name of ["", "/etc/passwd", "../a", "a/../b", "a/./b", "a//b", "a/", ".hidden", "a\\b", "a\0", "a b"]) {
      expect(await codeOf(store.put(name, chunked(Buffer.from("x")))), JSON.stringify(name)).to.equal("bad-argument");
      expect(await codeOf(store.get(name))).to.equal("bad-argument");
      expect(await codeOf(store.delete(name))).to.equal("bad-argument");
    }
    for (const prefix of ["../", "/", "a", "a/../"]) {
      expect(await codeOf(namesOf(prefix)), prefix).to.equal("bad-argument");
    }
    writeFileSync(join(directory, "with space"), "x");
    symlinkSync("/", join(directory, "root"));
    expect(await namesOf("")).to.deep.equal([]);
  });

  it("reports what is missing", async () => {
    const failure = await failureOf(store.get("c/none"));
    expect(failure).to.include({ kind: "not-found", store: store.describe(), operation: "get c/none" });
    expect(failure.message).to.contain("List the objects");
    mkdirSync(join(directory, "folder"));
    expect((await failureOf(store.get("folder"))).kind).to.equal("not-found");
  });

  it("does not treat a missing directory, as of an unmounted volume, as empty", async () => {
    const elsewhere = join(temporaryDirectory(), "none");
    expect((await failureOf(DirectoryStore.open({ directory: elsewhere, create: false }))).kind).to.equal(
      "no-such-bucket",
    );
    rmSync(directory, { recursive: true });
    expect((await failureOf(namesOf(""))).kind).to.equal("no-such-bucket");
    expect((await failureOf(store.get("a"))).kind).to.equal("no-such-bucket");
    expect((await failureOf(store.delete("a"))).kind).to.equal("no-such-bucket");
    expect((await failureOf(store.put("a", chunked(Buffer.from("x"))))).kind).to.equal("no-such-bucket");
    expect(existsSync(directory)).to.equal(false);
    const file = join(temporaryDirectory(), "file");
    writeFileSync(file, "x");
    expect((await failureOf(DirectoryStore.open({ directory: file, create: false }))).kind).to.equal("no-such-bucket");
  });

  it("reports a full disk, and shows no partial object", async function () {
    const disk = temporaryDirectory();
    try {
      await promisify(execFile)("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", disk]);
    } catch {
      console.log("skipped: a disk of a certain size needs root, and the command mount");
      this.skip();
    }
    try {
      const full = await DirectoryStore.open({ directory: join(disk, "backups"), create: true });
      await full.put("a", chunked(Buffer.alloc(10_000)));
      const failure = await failureOf(full.put("b", chunked(Buffer.alloc(1_000_000), 50_000)));
      expect(failure).to.include({ kind: "full", operation: "put b" });
      expect(failure.message).to.contain("Free space");
      expect(readdirSync(join(disk, "backups"))).to.deep.equal(["a"]);
      await full.put("b", chunked(Buffer.alloc(10_000)));
    } finally {
      await promisify(execFile)("umount", [disk]);
    }
  });

  it("reports a forbidden operation", async function () {
    if (process.getuid?.() === 0) {
      console.log("skipped: nothing is forbidden to root");
      this.skip();
    }
    chmodSync(directory, 0o500);
    expect((await failureOf(store.put("a", chunked(Buffer.from("x"))))).kind).to.equal("denied");
    chmodSync(directory, 0o700);
  });
});
