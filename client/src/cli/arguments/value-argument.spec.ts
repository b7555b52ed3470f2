import { writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import { UsageError } from "../errors/index.ts";
import type { Input } from "../terminal/index.ts";
import { readFileValue, readValue, type ValueArgument } from "./value-argument.ts";

const MOST_BYTES = 1_024 * 1_024;

function input(bytes: Uint8Array, isTTY = false): Input {
  return Object.assign(Readable.from([Buffer.from(bytes)]), { isTTY });
}

async function assertUsageError(work: Promise<unknown>, message: RegExp): Promise<void> {
  const failure = await work.catch((error: unknown) => error);
  expect(failure).to.be.instanceOf(UsageError);
  expect((failure as UsageError).message).to.match(message);
}

describe("readValue", () => {
  const given: ValueArgument = { argument: undefined, text: undefined, file: undefined };

  it("takes the argument, as UTF-8, and does not read the standard input", async () => {
    const stdin = input(Buffer.from("unread"));
    expect(Buffer.from(await readValue({ stdin }, { ...given, argument: "Grüße" }))).to.deep.equal(
      Buffer.from("Grüße"),
    );
    expect(await readValue({ stdin }, { ...given, argument: "" })).to.have.length(0);
    expect(stdin.readableDidRead).to.equal(false);
  });

  it("takes the bytes of the standard input for - or no argument", async () => {
    const bytes = Uint8Array.of(0, 0xff, 10);
    expect([...(await readValue({ stdin: input(bytes) }, { ...given, argument: "-" }))]).to.deep.equal([...bytes]);
    expect([...(await readValue({ stdin: input(bytes) }, given))]).to.deep.equal([...bytes]);
    expect([...(await readValue({ stdin: input(bytes, true) }, { ...given, argument: "-" }))]).to.deep.equal([
      ...bytes,
    ]);
  });

  it("does not wait for input from a terminal without a prompt", async () => {
    await assertUsageError(readValue({ stdin: input(Uint8Array.of(1), true) }, given), /^there is no value$/);
  });

  it("takes the bytes of a file, and no other value with it", async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, "value");
    await writeFile(file, Uint8Array.of(0xff, 0));
    const stdin = input(Buffer.from("unread"));
    expect([...(await readValue({ stdin }, { ...given, file }))]).to.deep.equal([0xff, 0]);
    await assertUsageError(readValue({ stdin }, { ...given, argument: "v", file }), /exclude each other/);
    await assertUsageError(readFileValue(path.join(directory, "absent")), /cannot be read: ENOENT/);
    await assertUsageError(readFileValue(directory), /cannot be read: EISDIR/);
  });

  it("takes a text as it is, and no other value with it", async () => {
    const stdin = input(Buffer.from("unread"));
    for (const text of ["-", "--", "-x", "", "plain"]) {
      expect(Buffer.from(await readValue({ stdin }, { ...given, text })).toString()).to.equal(text);
    }
    await assertUsageError(readValue({ stdin }, { ...given, argument: "v", text: "w" }), /--text and --file exclude/);
    await assertUsageError(readValue({ stdin }, { ...given, file: "f", text: "w" }), /exclude each other/);
    expect(stdin.readableDidRead).to.equal(false);
  });

  it("takes 1 MiB and not a byte more", async () => {
    expect(await readValue({ stdin: input(new Uint8Array(MOST_BYTES)) }, given)).to.have.length(MOST_BYTES);
    const stdin = input(new Uint8Array(MOST_BYTES + 1));
    await assertUsageError(readValue({ stdin }, given), /larger than a value may be: 1048576 bytes/);
    expect(stdin.destroyed, "an endless input is not read further").to.equal(true);
  });
});
