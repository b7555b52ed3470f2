import { randomBytes } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { backupErrorOf, codeOf } from "../../test/index.ts";
import { KeyRing, parseKeys, readKeyFile } from "./key-ring.ts";

const KEY = randomBytes(32);
const OTHER = randomBytes(32);

function parse(text: string): KeyRing {
  return parseKeys(Buffer.from(text), "keys");
}

describe("keys for backups", () => {
  it("are read from lines, and the first one encrypts", () => {
    const ring = parse(`# since 2026\nnew: ${KEY.toString("base64")}\n\n  old:${OTHER.toString("base64")}  \n`);
    expect(ring.first).to.deep.equal({ id: "new", bytes: KEY });
    expect(ring.ids).to.deep.equal(["new", "old"]);
    expect(ring.get("old")?.bytes).to.deep.equal(OTHER);
    expect(ring.get("else")).to.equal(undefined);
  });

  it("without an id get one that is derived from the key and shows nothing of it", () => {
    const [raw, line] = [parseKeys(KEY, "keys"), parse(`${KEY.toString("base64")}\n`)];
    expect(raw.first.id)
      .to.equal(line.first.id)
      .and.match(/^[0-9a-f]{16}$/);
    expect(KEY.toString("hex")).not.to.contain(raw.first.id);
    expect(raw.first.bytes).to.deep.equal(Uint8Array.from(KEY));
  });

  it("are refused with the number of the wrong line, and never shown", () => {
    const base64 = KEY.toString("base64");
    for (const [text, message] of [
      ["", "has no key"],
      ["# nothing\n", "has no key"],
      [`${base64}\nnew:${base64.slice(4)}`, "line 2"],
      ["new:", "line 1"],
      [`new:${base64}x`, "line 1"],
      [`a b:${base64}`, "key 1"],
      [`a:${base64}\na:${OTHER.toString("base64")}`, "same id"],
    ] as const) {
      expect(() => parse(text), text)
        .to.throw(message)
        .with.property("message")
        .not.contain(base64.slice(4, 20));
    }
    expect(() => new KeyRing([])).to.throw("no key");
    expect(() => new KeyRing([{ id: "a", bytes: KEY.subarray(1) }])).to.throw("31 bytes");
  });

  it("come from a file, with a warning if every user can read it", async () => {
    const file = join(temporaryDirectory(), "keys");
    writeFileSync(file, KEY, { mode: 0o600 });
    expect((await readKeyFile(file)).warning).to.equal(undefined);
    expect((await readKeyFile(file)).keyRing.first.bytes).to.deep.equal(Uint8Array.from(KEY));
    chmodSync(file, 0o644);
    expect((await readKeyFile(file)).warning).to.contain("chmod 600");
  });

  it("cannot come from a file that is missing or too large for keys", async () => {
    const file = join(temporaryDirectory(), "keys");
    expect((await backupErrorOf(readKeyFile(file))).message)
      .to.contain("cannot be read")
      .and.contain("ENOENT");
    writeFileSync(file, Buffer.alloc(100_000), { mode: 0o600 });
    expect(await codeOf(readKeyFile(file))).to.equal("bad-key");
  });
});
