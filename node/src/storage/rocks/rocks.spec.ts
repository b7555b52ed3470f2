import { spawnSync } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import fc from "fast-check";
import { temporaryDirectory } from "../../../test/harness/index.ts";
import { compareBytes, isWithin } from "../../bytes/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import type { Change } from "../../state/index.ts";
import { StoreError } from "../files/index.ts";
import { Rocks, type RocksOptions } from "./rocks.ts";

const OPTIONS: RocksOptions = {
  createIfMissing: true,
  memtableBytes: 4 * 1024 * 1024,
  cacheBytes: 1024 * 1024,
};
const MODULE = fileURLToPath(new URL("./rocks.ts", import.meta.url));
const LEFT_OBJECTS = fileURLToPath(new URL("../../../test/storage/left-objects.ts", import.meta.url));
const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const ALL_ROWS = { from: hex("00"), to: hex("ff") };
const put = (key: string, value: string): Change => ({ key: hex(key), value: hex(value) });
const del = (key: string): Change => ({ key: hex(key), value: null });

function rowsOf(rocks: Rocks, from: string, to: string): string[] {
  const rows: string[] = [];
  rocks.scan(hex(from), hex(to), ({ key, value }) => {
    rows.push(`${Buffer.from(key).toString("hex")}=${Buffer.from(value).toString("hex")}`);
    return true;
  });
  return rows;
}

describe("Rocks", () => {
  const opened: Rocks[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((rocks) => rocks.close())));

  async function open(directory = temporaryDirectory(), options = OPTIONS): Promise<Rocks> {
    const rocks = await Rocks.open(directory, options);
    opened.push(rocks);
    return rocks;
  }

  async function openFailure(directory: string, options = OPTIONS): Promise<StoreError> {
    try {
      await open(directory, options);
    } catch (error) {
      if (error instanceof StoreError) {
        return error;
      }
      throw error;
    }
    throw new Error("the store opened");
  }

  it("gets what was put, undefined for what was not or was deleted, and an empty value as such", async () => {
    const rocks = await open();
    rocks.write([put("61", "01"), put("62", ""), put("63", "03"), del("63")], false);
    expect(rocks.get(hex("61"))).to.deep.equal(Buffer.from("01", "hex"));
    expect(rocks.get(hex("62"))).to.have.length(0);
    expect(rocks.get(hex("63"))).to.equal(undefined);
    expect(rocks.get(hex("64"))).to.equal(undefined);
  });

  it("scans in the order of unsigned bytes, within from ≤ key < to, until the visitor has enough", async () => {
    const rocks = await open();
    rocks.write(
      ["7f", "80", "ff", "00", "6100", "61", "ff00"].map((key) => put(key, key)),
      false,
    );
    const ordered = ["00", "61", "6100", "7f", "80", "ff", "ff00"];
    expect(rowsOf(rocks, "00", "ffff")).to.deep.equal(ordered.map((key) => `${key}=${key}`));
    expect(rowsOf(rocks, "61", "80")).to.deep.equal(["61=61", "6100=6100", "7f=7f"]);
    expect(rowsOf(rocks, "62", "7f")).to.deep.equal([]);
    expect(rowsOf(rocks, "80", "61"), "to before from").to.deep.equal([]);
    let visited = 0;
    rocks.scan(hex("00"), hex("ffff"), () => ++visited < 3);
    expect(visited).to.equal(3);
  });

  it("gets many rows at once, as far as their bytes allow", async () => {
    const rocks = await open();
    const large = { key: hex("62"), value: new Uint8Array(300_000) };
    rocks.write([put("61", "01"), large, put("63", "03")], false);
    const before = rocks.rowsRead;
    const read = rocks.getMany(["61", "60", "63"].map(hex));
    expect(read).to.deep.equal([Buffer.from("01", "hex"), undefined, Buffer.from("03", "hex")]);
    expect(rocks.rowsRead - before).to.equal(3);
    expect(rocks.getMany(["61", "62", "63"].map(hex)).map((value) => value?.length ?? value)).to.deep.equal([
      1,
      300_000,
      null,
    ]);
    expect(rocks.getMany([])).to.deep.equal([]);
  });

  it("counts each row that it was asked for, and once more for each whole 4 KiB of its value", async () => {
    const rocks = await open();
    rocks.write([put("01", "aa"), { key: hex("02"), value: new Uint8Array(9_000) }, put("03", "")], false);
    const cost = (read: () => unknown): number => {
      const before = rocks.rowsRead;
      read();
      return rocks.rowsRead - before;
    };
    expect(cost(() => rocks.get(hex("01")))).to.equal(1);
    expect(cost(() => rocks.get(hex("04")))).to.equal(1);
    expect(cost(() => rocks.get(hex("02")))).to.equal(3);
    expect(cost(() => rowsOf(rocks, "00", "ff"))).to.equal(5);
    expect(cost(() => rocks.scan(hex("00"), hex("ff"), () => false))).to.equal(1);
  });

  it("scans across the rows that the binding fetches at a time, and lets a visitor read meanwhile", async () => {
    const rocks = await open();
    const keys = Array.from({ length: 100 }, (_, at) => (0x1000 + at).toString(16));
    rocks.write(
      keys.map((key) => put(key, key)),
      false,
    );
    const seen: string[] = [];
    rocks.scan(hex("10"), hex("11"), ({ key }) => {
      seen.push(Buffer.from(key).toString("hex"));
      expect(rowsOf(rocks, "1000", "1003")).to.have.length(3);
      return true;
    });
    expect(seen).to.deep.equal(keys);
  });

  it("hands out bytes that stay what they are when the rows change", async () => {
    const rocks = await open();
    rocks.write([put("61", "0102"), put("62", "0304")], false);
    const value = rocks.get(hex("61"));
    const scanned: Uint8Array[] = [];
    rocks.scan(hex("61"), hex("63"), (row) => scanned.push(row.value) > 0);
    rocks.write([put("61", "ffff"), del("62")], true);
    expect(value).to.deep.equal(Buffer.from("0102", "hex"));
    expect(scanned.map((bytes) => Buffer.from(bytes).toString("hex"))).to.deep.equal(["0102", "0304"]);
  });

  it("ends a scan properly when the visitor throws", async () => {
    const rocks = await open();
    rocks.write([put("61", "01")], false);
    expect(() => {
      rocks.scan(hex("00"), hex("ff"), () => {
        throw new RangeError("the visitor");
      });
    }).to.throw(RangeError, "the visitor");
    expect(rowsOf(rocks, "00", "ff")).to.have.length(1);
  });

  it("holds what a map and a sort hold, after any batches and a reopening", async () => {
    const key = fc.uint8Array({ minLength: 1, maxLength: 3 });
    const change = fc.record({ key, value: fc.option(fc.uint8Array({ maxLength: 4 }), { nil: null }) });
    const batches = fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(batches, key, key, async (writes, from, to) => {
        const directory = temporaryDirectory();
        const rocks = await Rocks.open(directory, OPTIONS);
        const model = new Map<string, Uint8Array>();
        for (const batch of writes) {
          rocks.write(batch, false);
          for (const { key: row, value } of batch) {
            model.delete(Buffer.from(row).toString("hex"));
            if (value !== null) {
              model.set(Buffer.from(row).toString("hex"), value);
            }
          }
        }
        const expected = [...model]
          .filter(([row]) => isWithin(hex(row), from, to))
          .sort(([a], [b]) => compareBytes(hex(a), hex(b)))
          .map(([row, value]) => `${row}=${Buffer.from(value).toString("hex")}`);
        const bounds = [Buffer.from(from).toString("hex"), Buffer.from(to).toString("hex")] as const;
        expect(rowsOf(rocks, ...bounds)).to.deep.equal(expected);
        await rocks.close();
        const again = await Rocks.open(directory, OPTIONS);
        expect(rowsOf(again, ...bounds)).to.deep.equal(expected);
        await again.close();
      }),
      { numRuns: 12 },
    );
  });

  it("reports gaps between rows, at the beginning and the end too, and none with a row in it", async () => {
    const rocks = await open(temporaryDirectory(), { ...OPTIONS, slowMs: -1 });
    const keys = Array.from({ length: 40 }, (_, at) => Buffer.of(3 * at + 3).toString("hex"));
    rocks.write(
      keys.map((key) => put(key, "01")),
      false,
    );
    const gaps: string[] = [];
    rocks.scan(
      hex("01"),
      hex("ff"),
      () => true,
      ({ from, to }) => gaps.push(`${hexOf(from)}-${hexOf(to)}`),
    );
    expect(gaps).to.include("01-03");
    const ends = gaps.map((gap) => gap.split("-") as [string, string]);
    expect(ends.flatMap((bounds) => rowsOf(rocks, ...bounds))).to.deep.equal([]);
    gaps.length = 0;
    rocks.scan(
      hex("79"),
      hex("ff"),
      () => true,
      ({ from, to }) => gaps.push(`${hexOf(from)}-${hexOf(to)}`),
    );
    expect(new Set(gaps)).to.deep.equal(new Set(["79-ff"]));
  });

  it("writes all of a batch or nothing", async () => {
    const rocks = await open();
    // The last key is too much for one entry of a batch, and is found out after the first one was taken.
    const tooLarge = {
      key: hex("62"),
      get value(): Uint8Array {
        throw new RangeError("no value");
      },
    };
    expect(() => rocks.write([put("61", "01"), tooLarge], false)).to.throw(StoreError, "failed to write: no value");
    expect(rocks.get(hex("61"))).to.equal(undefined);
    rocks.write([put("61", "02")], false);
    expect(rocks.get(hex("61"))).to.deep.equal(Buffer.from("02", "hex"));
  });

  it("deletes a range at once", async () => {
    const rocks = await open();
    rocks.write(
      ["61", "62", "63", "64"].map((key) => put(key, key)),
      false,
    );
    const failure = await new Promise((resolve) => rocks.clear(hex("62"), hex("64"), resolve));
    expect(failure).to.equal(null);
    expect(rowsOf(rocks, "00", "ff")).to.deep.equal(["61=61", "64=64"]);
    expect(rocks.isStalled).to.equal(false);
  });

  describe("a view", () => {
    const texts = (rows: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[]): string[] =>
      rows.map(({ key, value }) => `${Buffer.from(key).toString("hex")}=${Buffer.from(value).toString("hex")}`);

    it("shows the rows of its ranges as they were, in pieces of the size asked for", async () => {
      const rocks = await open();
      rocks.write([put("61", "0101"), put("62", "02"), put("6300", "03"), put("64", ""), put("65", "05")], false);
      const view = rocks.view([
        { from: hex("61"), to: hex("62") },
        { from: hex("63"), to: hex("63") },
        { from: hex("63"), to: hex("65") },
      ]);
      rocks.write([put("61", "ff"), del("6300"), put("6301", "ff")], true);
      expect(texts(view.read(1)), "one row is read however large it is").to.deep.equal(["61=0101"]);
      expect(texts(view.read(100))).to.deep.equal(["6300=03", "64="]);
      expect(view.read(100)).to.deep.equal([]);
      view.close();
    });

    it("never returns more than was asked for, and at most 1,024 rows", async () => {
      const rocks = await open();
      const rows = Array.from({ length: 3_000 }, (_, at) => put((0x100000 + at).toString(16), "01"));
      rocks.write(rows, false);
      const view = rocks.view([ALL_ROWS]);
      expect(view.read(9), "two rows of four bytes").to.have.length(2);
      const lengths = [0, 0, 0, 0].map(() => view.read(1_000_000).length);
      expect(lengths).to.deep.equal([1024, 1024, 950, 0]);
      view.close();
    });

    it("is not read once the store is closed, and can still be closed", async () => {
      const rocks = await open();
      rocks.write([put("61", "01")], false);
      const view = rocks.view([ALL_ROWS]);
      await rocks.close();
      expect(() => view.read(1)).to.throw(StoreError, "the store is closed");
      view.close();
    });
  });

  it("opens another store like it, and no other thread's", async () => {
    const rocks = await open();
    const directory = join(temporaryDirectory(), "another");
    const another = await rocks.openAnother(directory);
    opened.push(another);
    expect(another.directory).to.equal(directory);
    another.write([put("61", "01")], false);
    expect(rocks.get(hex("61"))).to.equal(undefined);
    const shared = await Rocks.attach(rocks.handle);
    expect(shared.directory).to.equal(rocks.directory);
    expect(() => shared.openAnother(directory)).to.throw(InvariantViolation);
  });

  it("shares one store by its handle: what one side writes the other reads", async () => {
    const rocks = await open();
    const shared = await Rocks.attach(rocks.handle);
    shared.write([put("61", "01")], true);
    expect(rocks.get(hex("61"))).to.deep.equal(Buffer.from("01", "hex"));
    rocks.write([put("61", "02")], false);
    expect(shared.get(hex("61"))).to.deep.equal(Buffer.from("02", "hex"));
  });

  it("refuses everything after it was closed, instead of ending the process", async () => {
    const rocks = await open();
    rocks.write([put("61", "01")], false);
    const closing = rocks.close();
    for (const [what, action] of new Map<string, () => unknown>([
      ["get", () => rocks.get(hex("61"))],
      ["scan", () => rocks.scan(hex("00"), hex("ff"), () => true)],
      ["write", () => rocks.write([put("61", "02")], false)],
      ["clear", () => rocks.clear(hex("00"), hex("ff"), () => undefined)],
      ["isStalled", () => rocks.isStalled],
      ["handle", () => rocks.handle],
    ])) {
      expect(action, what).to.throw(StoreError, "the store is closed");
    }
    await closing;
    expect(() => rocks.get(hex("61"))).to.throw(StoreError, "the store is closed");
    await rocks.close();
  });

  it("keeps no batch and no iterator once it is done with it", () => {
    const child = spawnSync(process.execPath, [LEFT_OBJECTS, temporaryDirectory()]);
    expect(child.status, String(child.stderr)).to.equal(0);
    const { batches, iterators } = JSON.parse(String(child.stdout)) as { batches: number; iterators: number };
    expect(batches).to.be.lessThan(50);
    expect(iterators).to.be.lessThan(50);
  });

  describe("errors at opening", () => {
    const existing = { ...OPTIONS, createIfMissing: false };

    async function filled(): Promise<string> {
      const directory = temporaryDirectory();
      for (const value of ["01", "02", "03"]) {
        const rocks = await Rocks.open(directory, OPTIONS);
        rocks.write([put("61", value.repeat(100))], true);
        await rocks.close();
      }
      return directory;
    }

    function fileOf(directory: string, pattern: RegExp): string {
      const name = readdirSync(directory).find((file) => pattern.test(file));
      if (name === undefined) {
        throw new Error(`no file in ${directory} matches ${pattern}`);
      }
      return join(directory, name);
    }

    it("is missing where there is no store, in a folder or without", async () => {
      const directory = temporaryDirectory();
      for (const path of [directory, join(directory, "absent")]) {
        const error = await openFailure(path, existing);
        expect(error.kind, error.message).to.equal("missing");
        expect(error.message).to.include(path);
      }
    });

    it("is missing without CURRENT, which names the manifest", async () => {
      const directory = await filled();
      rmSync(join(directory, "CURRENT"));
      expect((await openFailure(directory, existing)).kind).to.equal("missing");
    });

    it("is locked while it is open, in this process and in another, and free afterwards", async () => {
      const directory = temporaryDirectory();
      const rocks = await open(directory);
      const error = await openFailure(directory);
      expect(error.kind).to.equal("locked");
      expect(error.message).to.include("another process uses the data directory");
      const program =
        `const { Rocks } = await import(${JSON.stringify(MODULE)});` +
        `await Rocks.open(${JSON.stringify(directory)}, ${JSON.stringify(OPTIONS)})` +
        `.catch((error) => process.stdout.write(error.kind));`;
      const other = spawnSync(process.execPath, ["--input-type=module", "-e", program]);
      expect(String(other.stdout), String(other.stderr)).to.equal("locked");
      await rocks.close();
      await open(directory);
    });

    it("is corruption when a table or the manifest is gone, cut, or flipped", async () => {
      const damages = new Map<string, (directory: string) => void>([
        ["table gone", (directory) => rmSync(fileOf(directory, /\.sst$/))],
        ["table cut", (directory) => truncateSync(fileOf(directory, /\.sst$/), 100)],
        ["table longer", (directory) => appendFileSync(fileOf(directory, /\.sst$/), "x")],
        ["manifest gone", (directory) => rmSync(fileOf(directory, /^MANIFEST/))],
        ["manifest empty", (directory) => writeFileSync(fileOf(directory, /^MANIFEST/), "")],
        ["manifest flipped", (directory) => flip(fileOf(directory, /^MANIFEST/), 20)],
        ["current names nothing", (directory) => writeFileSync(join(directory, "CURRENT"), "MANIFEST-999999\n")],
        ["current is nonsense", (directory) => writeFileSync(join(directory, "CURRENT"), "nonsense")],
      ]);
      for (const [what, damage] of damages) {
        const directory = await filled();
        damage(directory);
        const error = await openFailure(directory, existing);
        expect(error.kind, `${what}: ${error.message}`).to.equal("corruption");
      }
    });

    it("ends, as corruption, where a flipped bit would send RocksDB's reader round in circles", async () => {
      const directory = await filled();
      const manifest = fileOf(directory, /^MANIFEST/);
      const bytes = readFileSync(manifest);
      const secondHeader = 7 + bytes.readUInt16LE(4);
      expect(bytes[secondHeader + 6]).to.equal(1);
      flip(manifest, secondHeader + 6, 2);
      expect((await openFailure(directory, existing)).kind).to.equal("corruption");
    });

    it("is io when the place cannot be used", async () => {
      const file = join(temporaryDirectory(), "file");
      writeFileSync(file, "");
      await open(join(temporaryDirectory(), "inner"));
      const error = await Rocks.open(join(file, "store"), existing).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(StoreError);
      expect((error as StoreError).kind).to.equal("io");
    });
  });

  it("raises corruption when a block that is read fails its checksum", async () => {
    const directory = temporaryDirectory();
    const first = await Rocks.open(directory, OPTIONS);
    first.write([put("61", "ab".repeat(1000))], true);
    await first.close();
    // Opening writes what is in the log to a table.
    await (await Rocks.open(directory, OPTIONS)).close();
    const table = readdirSync(directory).find((name) => name.endsWith(".sst")) as string;
    flip(join(directory, table), 50);
    const rocks = await open(directory);
    for (const action of [() => rocks.get(hex("61")), () => rowsOf(rocks, "00", "ff")]) {
      expect(action).to.throw(StoreError).with.property("kind", "corruption");
    }
  });

  it("raises io when the disk refuses a write, and latches: nothing is written over the hole (P32)", function () {
    const directory = temporaryDirectory();
    const program =
      `const { Rocks } = await import(${JSON.stringify(MODULE)});` +
      `const rocks = await Rocks.open(${JSON.stringify(directory)}, ${JSON.stringify(OPTIONS)});` +
      `const attempt = (size, sync) => { try { rocks.write([{ key: Buffer.from("k" + size), value: Buffer.alloc(size) }], sync);` +
      `return "written"; } catch (error) { return error.name + " " + error.kind; } };` +
      `const results = [attempt(10, true), attempt(200_000, true), attempt(20, false), attempt(30, true)];` +
      `const cleared = await new Promise((resolve) => rocks.clear(Buffer.from("a"), Buffer.from("z"), resolve));` +
      `results.push(cleared === null ? "cleared" : cleared.name + " " + cleared.kind);` +
      `process.stdout.write(results.join(", ")); process.kill(process.pid, "SIGKILL");`;
    const limited = 'ulimit -f 128 2>/dev/null || exit 3; exec "$@"';
    const child = spawnSync("sh", ["-c", limited, "sh", process.execPath, "--input-type=module", "-e", program]);
    if (child.status === 3) {
      this.skip();
    }
    expect(String(child.stdout), String(child.stderr)).to.equal(
      "written, StoreError io, StoreError io, StoreError io, StoreError io",
    );
  });

  function flip(path: string, byte: number, bit = 0): void {
    const bytes = readFileSync(path);
    bytes[byte] = (bytes[byte] as number) ^ (1 << bit);
    writeFileSync(path, bytes);
  }
});
