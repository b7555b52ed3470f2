import { spawn } from "node:child_process";
import { appendFile, cp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import {
  acceptContract,
  CONTRACT_DIRECTORY,
  checkContract,
  compareWithBaseline,
  deriveFiles,
  runBuf,
  writeDerivedFiles,
} from "./contract.ts";

const PARTS = ["coordination", "google", "grpc", "generated", "buf.yaml", "buf.gen.yaml", "baseline.binpb"];

describe("contract", function () {
  // Each check compiles all definitions several times.
  this.timeout(60_000);

  let directory: string;

  beforeEach(async () => {
    directory = temporaryDirectory();
    for (const part of PARTS) {
      await cp(path.join(CONTRACT_DIRECTORY, part), path.join(directory, part), { recursive: true });
    }
  });

  async function edit(file: string, from: string, to: string): Promise<void> {
    const target = path.join(directory, file);
    const before = await readFile(target, "utf8");
    expect(before).to.include(from);
    await writeFile(target, before.replace(from, to));
  }

  /** Runs one of the scripts as a developer does, from another folder. */
  async function runScript(script: string, ...parameters: string[]): Promise<{ code: number | null; output: string }> {
    const file = path.join(CONTRACT_DIRECTORY, "scripts", script);
    const child = spawn(process.execPath, [file, ...parameters], { cwd: tmpdir(), stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { code, output };
  }

  it("is in order as it is checked in, from whatever folder the check runs", async () => {
    const { code, output } = await runScript("generate.ts", "--check");
    expect(output).to.equal("The protobuf definitions and the generated files are in order.\n");
    expect(code).to.equal(0);
  });

  it("refuses parameters that it does not know", async () => {
    expect((await runScript("generate.ts", "--chekc")).code).to.equal(2);
  });

  const breakingChanges: readonly (readonly [string, string, string, string, RegExp])[] = [
    [
      "another tag of a field",
      "coordination/v1/key_value.proto",
      "bytes value = 3;",
      "bytes value = 9;",
      /field "3" with name "value" on message "PutKeyRequest" was deleted/,
    ],
    [
      "another type of a field",
      "coordination/v1/lock.proto",
      "int32 waiters = 4;",
      "int64 waiters = 4;",
      /Field "4" with name "waiters" on message "DescribeLockResponse" changed type/,
    ],
    [
      "the loss of `optional`, which distinguishes empty from absent",
      "coordination/v1/key_value.proto",
      "optional bytes expected_value = 3;",
      "bytes expected_value = 3;",
      /changed cardinality from "optional with explicit presence" to "optional with implicit presence"/,
    ],
    [
      "another number of an enum value",
      "coordination/v1/types.proto",
      "WRITE = 2;",
      "WRITE = 3;",
      /enum value "2" on enum "RWMode" was deleted/,
    ],
    [
      "the loss of a method",
      "coordination/v1/cluster_admin.proto",
      "rpc Compact(CompactRequest) returns (CompactResponse);",
      "",
      /RPC "Compact" on service "ClusterAdminService" was deleted/,
    ],
  ];
  it("reports each change that breaks clients", async () => {
    for (const [, file, from, to] of breakingChanges) {
      await edit(file, from, to);
    }
    const breaking = await compareWithBaseline(directory);
    expect(breaking.succeeded).to.equal(false);
    for (const [change, , , , expected] of breakingChanges) {
      expect(breaking.output, change).to.match(expected);
    }
  });

  it("reports a break of clients and outdated files, each with what to do", async () => {
    await edit("coordination/v1/key_value.proto", "bytes value = 3;", "bytes value = 9;");
    const [breaking, stale, ...others] = await checkContract(directory);
    expect(breaking?.title).to.include("break clients");
    expect(breaking?.details).to.include('on message "PutKeyRequest" was deleted');
    expect(breaking?.remedy).to.include("npm run proto:accept");
    expect(stale?.details.split("\n")).to.deep.equal([
      "generated/coordination/v1/key_value.ts: outdated",
      "generated/descriptors.binpb: outdated",
      "generated/wire_fields.ts: outdated",
    ]);
    expect(stale?.remedy).to.include("npm run proto:generate");
    expect(others).to.deep.equal([]);
  });

  it("lets a new field pass once the files are generated again; accept makes it part of the contract", async () => {
    const field = "  // A field that is new.\n  string note = 9;\n";
    await edit("coordination/v1/cluster.proto", "  bool leader = 6;\n", `  bool leader = 6;\n${field}`);
    const changed = await writeDerivedFiles(directory);
    expect(changed.map((file) => file.path)).to.deep.equal([
      "generated/coordination/v1/cluster.ts",
      "generated/descriptors.binpb",
      "generated/wire_fields.ts",
    ]);
    expect(await checkContract(directory)).to.deep.equal([]);

    expect(await acceptContract(directory)).to.equal(true);
    expect(await acceptContract(directory)).to.equal(false);
    await edit("coordination/v1/cluster.proto", field, "");
    const breaking = await compareWithBaseline(directory);
    expect(breaking.succeeded).to.equal(false);
    expect(breaking.output).to.match(/field "9" with name "note" on message "Member" was deleted/);
  });

  it("reports definitions without documentation, and definitions that do not compile", async () => {
    await edit("coordination/v1/cluster.proto", "  // Whether it leads the cluster.\n", "");
    const [lint] = await checkContract(directory);
    expect(lint?.details).to.match(/Field "leader" should have a non-empty comment/);

    await edit("coordination/v1/cluster.proto", "bool leader = 6;", "Nothing leader = 6;");
    const problems = await checkContract(directory);
    expect(problems.map((problem) => problem.title)).to.deep.equal(["The protobuf definitions do not compile"]);
    expect(problems[0]?.details).to.match(/cluster\.proto:\d+:\d+:cannot find `Nothing`/);
    await deriveFiles(directory).then(
      () => expect.fail("the definitions were compiled"),
      (error: Error) => expect(error.message).to.match(/^buf generate failed:\n.*cannot find `Nothing`/s),
    );
  });

  it("finds generated files that are outdated, missing or superfluous, and repairs exactly those", async () => {
    await appendFile(path.join(directory, "generated/coordination/v1/lock.ts"), "// edited by hand\n");
    await rm(path.join(directory, "generated/coordination/v1/watch.ts"));
    await writeFile(path.join(directory, "generated/old.ts"), "");
    const expected = [
      { path: "generated/coordination/v1/lock.ts", reason: "outdated" },
      { path: "generated/coordination/v1/watch.ts", reason: "missing" },
      { path: "generated/old.ts", reason: "superfluous" },
    ];
    const [problem] = await checkContract(directory);
    expect(problem?.details).to.equal(expected.map((file) => `${file.path}: ${file.reason}`).join("\n"));
    expect(await writeDerivedFiles(directory)).to.deep.equal(expected);
    expect(await writeDerivedFiles(directory)).to.deep.equal([]);
  });

  for (const field of ["fixed64 weight = 9;", "repeated int64 weight = 9;"]) {
    it(`refuses a field that the check of incoming bytes does not know: ${field}`, async () => {
      const documented = `  // A field of another type.\n  ${field}\n`;
      await edit("coordination/v1/cluster.proto", "  bool leader = 6;\n", `  bool leader = 6;\n${documented}`);
      await deriveFiles(directory).then(
        () => expect.fail("the files were derived"),
        (error: Error) => expect(error.message).to.include("coordination.v1.Member.weight has a type"),
      );
    });
  }

  it("reports what buf prints", async () => {
    const result = await runBuf(directory, "no-such-command");
    expect(result.succeeded).to.equal(false);
    expect(result.output).to.match(/unknown command/i);
  });
});
