import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ReadMemoryRequest, WriteMemoryRequest } from "@quoin/proto";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import {
  FakeRuntime,
  type ProgramInput,
  type ProgramRun,
  refuse,
  runProgram,
  ScriptedMember,
} from "../../../test/index.ts";
import { run } from "../index.ts";

/** Most bytes of one call, by the contract. */
const CALL_BYTES = 4 * 1_024 * 1_024 - 64 * 1_024;

const REGION = { regionId: "r", namespace: "n", sizeBytes: 65_536n, version: 3n, updatedAtMs: 0n, label: "a\tlabel" };

describe("quoinctl memory", () => {
  let member: ScriptedMember;
  let bytes: Uint8Array;

  beforeEach(async () => {
    bytes = new Uint8Array(CALL_BYTES + 10);
    member = await ScriptedMember.start({
      allocateMemory: ({ sizeBytes }) => ({ regionId: "r", sizeBytes, version: 1n, revision: 5n }),
      describeMemory: () => ({ region: { ...REGION, sizeBytes: BigInt(bytes.length) }, revision: 5n }),
      resizeMemory: ({ sizeBytes }) => ({ sizeBytes, previousSizeBytes: 1n, version: 4n, revision: 5n }),
      freeMemory: () => ({ freed: true, revision: 5n }),
      listMemoryRegions: ({ pageToken }) => ({ regions: [REGION], nextPageToken: pageToken === "" ? "2" : "" }),
      writeMemory: ({ offset, data }: WriteMemoryRequest) => {
        bytes.set(data, Number(offset));
        return { bytesWritten: BigInt(data.length), version: 4n };
      },
      readMemory: ({ offset, length }: ReadMemoryRequest) => ({
        data: bytes.subarray(Number(offset), Number(offset + length)),
        version: 4n,
      }),
    });
  });

  afterEach(() => member.stop());

  function quoinctl(parameters: readonly string[], input: ProgramInput = {}): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" };
    return runProgram(run, new FakeRuntime(), ["memory", ...parameters], { environment, ...input });
  }

  it("allocate and describe", async () => {
    expect(await quoinctl(["allocate", "n", "64KiB", "--label", "x"])).to.include({
      code: 0,
      out: "REGION  SIZE      VERSION\nr       64.0 KiB  1\n",
    });
    expect(member.request).to.deep.equal({ namespace: "n", sizeBytes: 65_536n, label: "x" });
    expect(await quoinctl(["allocate", "n", "nothing"])).to.include({ code: 2 });
    const { out } = await quoinctl(["describe", "n/r", "-o", "json"]);
    expect(JSON.parse(out)).to.deep.equal({
      namespace: "n",
      region_id: "r",
      label: "a\tlabel",
      size_bytes: bytes.length,
      version: 3,
      created_at_ms: 0,
      updated_at_ms: 0,
      revision: 5,
    });
  });

  it("resize and free, under conditions, with exit code 4 if the version differs", async () => {
    expect((await quoinctl(["resize", "n/r", "2KiB", "--if-version", "3", "--guard", "l=k=7"])).out).to.equal(
      "REGION  SIZE     SIZE BEFORE  VERSION\nr       2.0 KiB  1 B          4\n",
    );
    const guard = { lockName: "l=k", fencingToken: 7n, rw: false, sessionId: undefined };
    expect(member.request).to.deep.include({ sizeBytes: 2_048n, expectedVersion: 3n, guard });
    expect(await quoinctl(["free", "n/r", "--rw-guard", "l=7"])).to.include({
      code: 0,
      out: "REGION  FREED\nr       true\n",
    });
    expect(member.request).to.deep.include({
      guard: { lockName: "l", fencingToken: 7n, rw: true, sessionId: undefined },
    });
    for (const guardText of ["l", "=7", "l=0", "l=x"]) {
      expect(await quoinctl(["free", "n/r", "--guard", guardText]), guardText).to.include({ code: 2 });
    }
    expect(await quoinctl(["free", "n/r", "--guard", "l=7", "--rw-guard", "l=7"])).to.include({ code: 2 });
    member.scripts.freeMemory = () => refuse({ code: "FAILED_PRECONDITION", reason: "VERSION_MISMATCH" });
    expect(await quoinctl(["free", "n/r", "--if-version", "3"])).to.include({ code: 4 });
  });

  it("list", async () => {
    expect((await quoinctl(["list", "n"])).out).to.equal(
      [
        "REGION  SIZE      VERSION  UPDATED                   LABEL",
        "r       64.0 KiB  3        1970-01-01T00:00:00.000Z  a\\tlabel",
        "r       64.0 KiB  3        1970-01-01T00:00:00.000Z  a\\tlabel\n",
      ].join("\n"),
    );
    expect(JSON.parse((await quoinctl(["list", "n", "--limit", "1", "-o", "json"])).out).regions).to.have.length(1);
  });

  it("write and read bytes as they are", async () => {
    expect(await quoinctl(["write", "n/r", "hello", "--offset", "2"])).to.include({
      code: 0,
      out: "REGION  OFFSET  BYTES WRITTEN  VERSION\nr       2       5              4\n",
    });
    await quoinctl(["write", "n/r", "-", "--offset", "7"], { input: "!\n" });
    expect((await quoinctl(["read", "n/r", "--offset", "2", "--length", "7"])).out).to.equal("hello!\n");
    const { out } = await quoinctl(["read", "n/r", "--length", "3", "-o", "json"]);
    expect(JSON.parse(out)).to.deep.equal({
      namespace: "n",
      region_id: "r",
      offset: 0,
      length: 3,
      data: "AABo",
      data_text: "\0\0h",
    });
    bytes[0] = 0xff;
    const binary = await quoinctl(["read", "n/r", "--length", "1", "-o", "json"]);
    expect(JSON.parse(binary.out)).to.include({ data: "/w==" });
  });

  it("writes no binary bytes to a terminal, except with --raw", async () => {
    bytes[0] = 0xff;
    const refused = await quoinctl(["read", "n/r", "--length", "1"], { isTTY: true });
    expect([refused.code, refused.out]).to.deep.equal([1, ""]);
    expect(refused.err).to.include("binary").and.include("--raw");
    const raw = await quoinctl(["read", "n/r", "--length", "1", "--raw"], { isTTY: true });
    expect(raw.bytes).to.deep.equal(Buffer.of(0xff));
  });

  it("finds a region by its label, and lists the candidates if several have it", async () => {
    member.scripts.listMemoryRegions = () => ({
      regions: [
        { ...REGION, regionId: "r1", label: "one" },
        { ...REGION, regionId: "r2", label: "both" },
        { ...REGION, regionId: "r3", label: "both" },
      ],
    });
    for (const parameters of [["describe"], ["resize"], ["free"], ["write"], ["read"]]) {
      const [command = ""] = parameters;
      const rest = command === "resize" ? ["2KiB"] : command === "write" ? ["x"] : [];
      expect((await quoinctl([command, "n/one", ...rest])).code, command).to.equal(0);
      expect(member.request, command).to.include({ regionId: "r1" });
      const several = await quoinctl([command, "n/both", ...rest]);
      expect(several).to.include({
        code: 2,
        err: 'quoinctl: 2 memory regions are called "both": name one of them\nhint: n/r2 (both), n/r3 (both)\n',
      });
      const absent = await quoinctl([command, "n/absent", ...rest]);
      expect(absent.code).to.equal(1);
      expect(absent.err).to.include('there is no memory region "absent" (REGION_NOT_FOUND)');
    }
  });

  it("write and read whole files, and show their progress on a terminal", async () => {
    const directory = temporaryDirectory();
    const source = path.join(directory, "source");
    const target = path.join(directory, "target");
    const content = Buffer.alloc(bytes.length, "0123456789");
    await writeFile(source, content);
    const written = await quoinctl(["write", "n/r", "--file", source], { isTTY: true });
    expect(written.code).to.equal(0);
    expect(written.err).to.include("writing [#############################-]  99% 3.9 MiB of 3.9 MiB");
    expect(written.err).to.include("[##############################] 100%");
    expect(written.err.endsWith("\r\u001b[K"), "the bar is taken away").to.equal(true);
    const read = await quoinctl(["read", "n/r", "--output-file", target]);
    expect(read).to.include({ code: 0, err: "" });
    expect(read.out).to.include(String(content.length));
    expect(Buffer.compare(await readFile(target), content)).to.equal(0);
    expect(await quoinctl(["read", "n/r", "--output-file", directory])).to.include({ code: 2 });
  });

  it("read fails when the region changes meanwhile, unless that is allowed", async () => {
    const read = member.scripts.readMemory!;
    let version = 1n;
    member.scripts.readMemory = async (asked, call) => {
      version += 1n;
      return { ...(await read(asked, call)), version };
    };
    expect(await quoinctl(["read", "n/r"])).to.include({ code: 4, out: "" });
    expect((await quoinctl(["read", "n/r", "--mixed"])).bytes).to.have.length(bytes.length);
  });
});
