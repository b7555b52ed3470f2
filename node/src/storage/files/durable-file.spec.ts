import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { temporaryDirectory } from "../../../test/harness/index.ts";
import { listenToMarks } from "../../primitives/index.ts";
import { createFile, replaceFile, syncDirectory } from "./durable-file.ts";

/** Runs the statement with `replaceFile` and `path` in a process that may write files of at most 1 KiB. */
function withSmallFiles(statement: string, path: string): { readonly code: number | null; readonly output: string } {
  const module = fileURLToPath(new URL("./durable-file.ts", import.meta.url));
  const program =
    `const { createFile, replaceFile } = await import(${JSON.stringify(module)});` +
    `const path = ${JSON.stringify(path)}; ${statement}`;
  // Two blocks of 512 bytes, or one of 1,024, as the shell counts.
  const limited = 'ulimit -f 2 2>/dev/null || exit 3; exec "$@"';
  const result = spawnSync("sh", ["-c", limited, "sh", process.execPath, "--input-type=module", "-e", program]);
  return { code: result.status, output: String(result.stderr) };
}

describe("durable file", () => {
  afterEach(() => {
    listenToMarks(null);
  });

  it("replaces a file whole, for the owner alone, and leaves nothing else", () => {
    const directory = temporaryDirectory();
    const path = join(directory, "file");
    replaceFile(path, "first");
    expect(readFileSync(path, "utf8")).to.equal("first");
    replaceFile(path, Uint8Array.of(0, 255));
    expect([...readFileSync(path)]).to.deep.equal([0, 255]);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(readdirSync(directory)).to.deep.equal(["file"]);
  });

  it("passes its crash points in order, and holds the old content until the rename", () => {
    const path = join(temporaryDirectory(), "file");
    replaceFile(path, "old");
    const seen: string[] = [];
    listenToMarks((name) => seen.push(`${name} ${readFileSync(path, "utf8")}`));
    replaceFile(path, "new");
    expect(seen).to.deep.equal([
      "file.write.before old",
      "file.rename.before old",
      "file.rename.after new",
      "file.directory-sync.after new",
    ]);
  });

  it("takes the place of what a start that was cut short has left", () => {
    const path = join(temporaryDirectory(), "file");
    writeFileSync(`${path}.new`, "a longer draft of a file");
    replaceFile(path, "new");
    expect(readFileSync(path, "utf8")).to.equal("new");
    expect(existsSync(`${path}.new`)).to.equal(false);
  });

  it("creates a file once, and keeps it when it is created again", () => {
    const directory = temporaryDirectory();
    const path = join(directory, "file");
    const seen: string[] = [];
    listenToMarks((name) => seen.push(`${name} ${existsSync(path)}`));
    createFile(path, "first");
    expect(seen).to.deep.equal(["file.write.before false", "file.link.before false", "file.link.after true"]);
    createFile(path, "second");
    expect(readFileSync(path, "utf8")).to.equal("first");
    expect(readdirSync(directory)).to.deep.equal(["file"]);
  });

  it("fails, and keeps the old content, when only a part of the new one fits on the disk", function () {
    const directory = temporaryDirectory();
    const path = join(directory, "file");
    replaceFile(path, "old");
    const replaced = withSmallFiles(`replaceFile(path, "x".repeat(5_000));`, path);
    if (replaced.code === 3) {
      this.skip();
    }
    expect(replaced.code).to.equal(1);
    expect(replaced.output).to.include("EFBIG");
    expect(readFileSync(path, "utf8")).to.equal("old");

    const other = join(directory, "other");
    expect(withSmallFiles(`createFile(path, "x".repeat(5_000));`, other).output).to.include("EFBIG");
    expect(existsSync(other)).to.equal(false);
  });

  it("raises what goes wrong: a missing folder, a folder in the file's place", () => {
    const directory = temporaryDirectory();
    expect(() => replaceFile(join(directory, "absent", "file"), "x")).to.throw("ENOENT");
    expect(() => syncDirectory(join(directory, "absent"))).to.throw("ENOENT");
    mkdirSync(join(directory, "folder", "inner"), { recursive: true });
    expect(() => replaceFile(join(directory, "folder"), "x")).to.throw(/EISDIR|ENOTEMPTY/);
  });
});
