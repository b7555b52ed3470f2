import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ListKeysRequest, TouchKeyRequest } from "@quoin/proto";
import { expect } from "chai";
import { parse } from "yaml";
import { temporaryDirectory } from "../../../testing/index.ts";
import {
  FakeRuntime,
  issueTokens,
  type ProgramInput,
  type ProgramRun,
  type Refusal,
  refuse,
  runProgram,
  ScriptedMember,
} from "../../test/index.ts";
import { run } from "./program.ts";

const ENTRY = {
  key: "k",
  value: Buffer.from("old"),
  createRevision: 1n,
  modRevision: 2n,
  version: 3n,
  expiresInMs: 4_500n,
};
const HISTORY = { create_revision: 1, mod_revision: 2, version: 3, expires_in_ms: 4_500 };

describe("quoinctl, the program", () => {
  let member: ScriptedMember;
  let runtime: FakeRuntime;

  beforeEach(async () => {
    runtime = new FakeRuntime();
    member = await ScriptedMember.start();
  });

  afterEach(async () => {
    member.stop();
  });

  /** Runs a command in this process against the scripted member. */
  function quoinctl(parameters: readonly string[], input: ProgramInput = {}): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" };
    return runProgram(run, runtime, parameters, { environment, ...input });
  }

  describe("namespace create", () => {
    beforeEach(() => {
      member.scripts.createNamespace = ({ namespace }) => ({ namespace, createdAtMs: 0n, revision: 3n });
    });

    it("prints a table", async () => {
      expect(await quoinctl(["namespace", "create", "prod"])).to.include({
        code: 0,
        out: "NAMESPACE  CREATED                   REVISION\nprod       1970-01-01T00:00:00.000Z  3\n",
        err: "",
      });
    });

    it("prints JSON and YAML, with the option at any position", async () => {
      const document = { namespace: "prod", created_at_ms: 0, revision: 3 };
      expect(JSON.parse((await quoinctl(["-o", "json", "namespace", "create", "prod"])).out)).to.deep.equal(document);
      expect(JSON.parse((await quoinctl(["namespace", "create", "prod", "--output", "json"])).out)).to.deep.equal(
        document,
      );
      expect(parse((await quoinctl(["namespace", "-o", "yaml", "create", "prod"])).out)).to.deep.equal(document);
    });
  });

  describe("kv put", () => {
    beforeEach(() => {
      member.scripts.putKey = ({ returnPrevious }) => ({
        modRevision: 8n,
        created: !returnPrevious,
        revision: 8n,
        previous: returnPrevious ? ENTRY : undefined,
      });
    });

    it("writes a value from an argument", async () => {
      expect(await quoinctl(["kv", "put", "n/a/b", "hello"])).to.include({
        code: 0,
        out: "KEY    CREATED  MOD REVISION\nn/a/b  true     8\n",
        err: "",
      });
      expect(member.request).to.deep.equal({
        namespace: "n",
        key: "a/b",
        value: new Uint8Array(Buffer.from("hello")),
        ttlSeconds: 0n,
        sessionId: 0n,
        expectedModRevision: undefined,
        returnPrevious: false,
        guard: undefined,
      });
    });

    it("writes a value from the standard input", async () => {
      await quoinctl(["kv", "put", "n/k"], { input: "from stdin\n" });
      expect(member.request).to.deep.include({ value: new Uint8Array(Buffer.from("from stdin\n")) });
    });

    it("sends --ttl, --if-revision and --prev", async () => {
      const { out } = await quoinctl(["kv", "put", "n/k", "v", "--ttl", "5m", "--if-revision", "0", "--prev"]);
      expect(member.request).to.include({ ttlSeconds: 300n, expectedModRevision: 0n, returnPrevious: true });
      expect(out).to.equal("KEY  CREATED  MOD REVISION  PREVIOUS\nn/k  false    8             old\n");
    });

    it("guards a write with a hold, as delete and cas do", async () => {
      const guard = { lockName: "a=b", fencingToken: 7n, rw: false, sessionId: undefined };
      await quoinctl(["kv", "put", "n/k", "v", "--guard", "a=b=7"]);
      expect(member.request).to.deep.include({ guard });
      await quoinctl(["kv", "delete", "n/k", "--rw-guard", "a=b=7"]);
      expect(member.request).to.deep.include({ guard: { ...guard, rw: true } });
      await quoinctl(["kv", "cas", "n/k", "v", "--absent", "--guard", "a=b=7"]);
      expect(member.request).to.deep.include({ guard });
    });

    it("prints JSON with the previous value", async () => {
      const { out } = await quoinctl(["kv", "put", "n/k", "v", "--prev", "-o", "json"]);
      expect(JSON.parse(out)).to.deep.equal({
        namespace: "n",
        key: "k",
        created: false,
        mod_revision: 8,
        revision: 8,
        previous: { key: "k", value: "b2xk", value_text: "old", ...HISTORY },
      });
      member.scripts.putKey = () => ({ created: true });
      expect(JSON.parse((await quoinctl(["kv", "put", "n/k", "v", "--prev", "-o", "json"])).out)).to.include({
        previous: null,
      });
      expect((await quoinctl(["kv", "put", "n/k", "v", "--prev"])).out).to.match(/ -\n$/);
    });

    it("accepts a value that begins with a dash after --", async () => {
      await quoinctl(["kv", "put", "--", "n/k", "-1"]);
      expect(member.request).to.deep.include({ value: new Uint8Array(Buffer.from("-1")) });
    });

    it("ends with 4 if the revision differs", async () => {
      member.scripts.putKey = () =>
        refuse({ code: "FAILED_PRECONDITION", reason: "REVISION_MISMATCH", message: "the key is at revision 9" });
      expect(await quoinctl(["kv", "put", "n/k", "v", "--if-revision", "8"])).to.include({
        code: 4,
        out: "",
        err: "quoinctl: the key is at revision 9 (REVISION_MISMATCH)\n",
      });
    });
  });

  describe("kv get", () => {
    it("prints the value and a line break, or with --raw only the bytes", async () => {
      const value = Uint8Array.of(0xff, 0, 0x1b);
      member.scripts.getKey = () => ({ value });
      expect((await quoinctl(["kv", "get", "n/k"])).bytes).to.deep.equal(Buffer.from([...value, 10]));
      expect((await quoinctl(["kv", "get", "n/k", "--raw"])).bytes).to.deep.equal(Buffer.from(value));
      expect((await quoinctl(["kv", "get", "n/k", "--raw", "-o", "json"])).bytes).to.deep.equal(Buffer.from(value));
    });

    it("prints revisions in JSON and YAML, and bytes in base64 as HTTP does, with their text if they have one", async () => {
      member.scripts.getKey = () => ({ ...ENTRY, revision: 9n });
      const document = { namespace: "n", key: "k", value: "b2xk", value_text: "old", ...HISTORY, revision: 9 };
      expect(JSON.parse((await quoinctl(["kv", "get", "n/k", "-o", "json"])).out)).to.deep.equal(document);
      expect(parse((await quoinctl(["kv", "get", "n/k", "-o", "yaml"])).out)).to.deep.equal(document);
      member.scripts.getKey = () => ({ value: Uint8Array.of(0xff) });
      const binary = JSON.parse((await quoinctl(["kv", "get", "n/k", "-o", "json"])).out);
      expect(binary).to.include({ value: "/w==" }).and.to.not.have.property("value_text");
    });

    it("names the missing key, and the command that creates namespaces", async () => {
      member.scripts.getKey = () => refuse({ code: "NOT_FOUND", reason: "KEY_NOT_FOUND", message: "no key k" });
      expect(await quoinctl(["kv", "get", "n/k"])).to.include({
        code: 1,
        out: "",
        err: "quoinctl: no key k (KEY_NOT_FOUND)\n",
      });
      member.scripts.getKey = () =>
        refuse({ code: "NOT_FOUND", reason: "NAMESPACE_NOT_FOUND", message: "no namespace n" });
      expect((await quoinctl(["kv", "get", "n/k"])).err).to.equal(
        "quoinctl: no namespace n (NAMESPACE_NOT_FOUND)\nhint: create it with: quoinctl namespace create NAME\n",
      );
    });
  });

  it("kv get writes a binary value to a terminal only with --raw", async () => {
    member.scripts.getKey = () => ({ value: Uint8Array.of(0x1b, 0x5b, 0x32, 0x4a) });
    expect(await quoinctl(["kv", "get", "n/k"], { isTTY: true })).to.include({
      code: 1,
      out: "",
      err:
        "quoinctl: the value is binary, and is not written to a terminal\n" +
        "hint: write it to a file or a pipe, or pass --raw; -o json prints it in base64\n",
    });
    expect(await quoinctl(["kv", "get", "n/k", "--raw"], { isTTY: true })).to.include({ code: 0, out: "\u001b[2J" });
    expect(await quoinctl(["kv", "get", "n/k"])).to.include({ code: 0, out: "\u001b[2J\n" });
  });

  describe("kv delete", () => {
    it("prints the removed value", async () => {
      member.scripts.deleteKey = () => ({ deleted: true, previous: ENTRY, revision: 6n });
      const { code, out } = await quoinctl(["kv", "delete", "n/k", "--if-revision", "2", "--prev"]);
      expect(code).to.equal(0);
      expect(out).to.equal("KEY  DELETED  REVISION  PREVIOUS\nn/k  true     6         old\n");
      expect(member.request).to.include({ expectedModRevision: 2n, returnPrevious: true });
      const json = await quoinctl(["kv", "delete", "n/k", "-o", "json"]);
      expect(JSON.parse(json.out)).to.deep.equal({ namespace: "n", key: "k", deleted: true, revision: 6 });
    });
  });

  describe("kv touch", () => {
    beforeEach(() => {
      member.scripts.touchKey = ({ ttlSeconds }: TouchKeyRequest) => ({
        modRevision: 2n,
        expiresInMs: ttlSeconds * 1_000n,
        revision: 6n,
      });
    });

    it("prints how long the key has, and its revision", async () => {
      const { code, out } = await quoinctl(["kv", "touch", "n/k", "--ttl", "5m", "--if-revision", "2"]);
      expect(code).to.equal(0);
      expect(out).to.equal("KEY  EXPIRES IN  MOD REVISION\nn/k  300s        2\n");
      expect(member.request).to.include({ ttlSeconds: 300n, expectedModRevision: 2n });
      const json = await quoinctl(["kv", "touch", "n/k", "--ttl", "none", "-o", "json"]);
      expect(JSON.parse(json.out)).to.deep.equal({
        namespace: "n",
        key: "k",
        mod_revision: 2,
        expires_in_ms: 0,
        revision: 6,
      });
      expect(member.request).to.include({ ttlSeconds: 0n });
    });

    it("wants a time to live", async () => {
      const { code, err } = await quoinctl(["kv", "touch", "n/k"]);
      expect(code).to.equal(2);
      expect(err).to.include("--ttl");
    });
  });

  describe("kv list", () => {
    beforeEach(() => {
      member.scripts.listKeys = ({ prefix, pageToken }: ListKeysRequest) =>
        pageToken === ""
          ? { items: [{ ...ENTRY, key: `${prefix}1` }], nextPageToken: "2", revision: 5n }
          : {
              items: [{ key: `${prefix}2\u001b[2J`, value: Uint8Array.of(0xff), modRevision: 7n, version: 1n }],
              revision: 9n,
            };
    });

    it("prints all pages as one table, without control sequences", async () => {
      expect((await quoinctl(["kv", "list", "n/a/"])).out).to.equal(
        [
          "KEY           MOD REVISION  VERSION  EXPIRES IN  VALUE",
          "a/1           2             3        5s          old",
          "a/2\\u{1b}[2J  7             1        -           base64:/w==",
          "",
        ].join("\n"),
      );
    });

    it("takes an asterisk at the end for the rest of the key, and an escaped one as it is", async () => {
      for (const [target, prefix] of [
        ["n/a/*", "a/"],
        ["n/a/\\*", "a/*"],
        ["n/*", ""],
        ["n", ""],
      ] as const) {
        expect((await quoinctl(["kv", "list", target])).code).to.equal(0);
        expect(member.request, target).to.include({ prefix });
      }
    });

    it("leaves out the values with --keys-only", async () => {
      const { out } = await quoinctl(["kv", "list", "n", "--keys-only", "--page-size", "1"]);
      expect(member.request).to.include({ keysOnly: true, pageSize: 1, prefix: "" });
      expect(out.split("\n")[0]).to.equal("KEY         MOD REVISION  VERSION  EXPIRES IN");
    });

    it("stops after --limit keys, and requests no further page", async () => {
      const { out } = await quoinctl(["kv", "list", "n", "--limit", "1", "-o", "json"]);
      expect(JSON.parse(out)).to.deep.equal({
        namespace: "n",
        prefix: "",
        items: [{ key: "1", value: "b2xk", value_text: "old", ...HISTORY }],
        revision: 5,
      });
      expect(member.calls).to.have.length(1);
    });

    it("prints the revision of the first page, from where a watch misses nothing", async () => {
      const { out } = await quoinctl(["kv", "list", "n", "-o", "yaml", "--keys-only"]);
      const document = parse(out);
      expect(document.revision).to.equal(5);
      expect(document.items[0]).to.deep.equal({ key: "1", ...HISTORY });
    });

    it("prints the head of the table when there are no keys", async () => {
      member.scripts.listKeys = () => ({ revision: 1n });
      expect(await quoinctl(["kv", "list", "n"])).to.include({
        code: 0,
        out: "KEY  MOD REVISION  VERSION  EXPIRES IN  VALUE\n",
      });
    });

    it("is in bold only on a terminal, unless NO_COLOR is set", async () => {
      member.scripts.listKeys = () => ({ revision: 1n });
      expect((await quoinctl(["kv", "list", "n"], { isTTY: true })).out).to.include("\u001b[1m");
      const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t", NO_COLOR: "1" };
      expect((await quoinctl(["kv", "list", "n"], { isTTY: true, environment })).out).to.not.include("\u001b");
    });
  });

  describe("kv cas", () => {
    beforeEach(() => {
      member.scripts.compareAndSwap = ({ newValue }) => ({
        success: true,
        currentExists: true,
        currentValue: newValue,
        modRevision: 4n,
        revision: 4n,
      });
    });

    it("swaps for each kind of expectation", async () => {
      const directory = temporaryDirectory();
      const file = path.join(directory, "expected");
      await writeFile(file, Uint8Array.of(0xff));
      for (const [options, expected] of [
        [["--expect", "old"], { expectedValue: new Uint8Array(Buffer.from("old")), expectedModRevision: undefined }],
        [["--expect", ""], { expectedValue: new Uint8Array(), expectedModRevision: undefined }],
        [["--expect-file", file], { expectedValue: Uint8Array.of(0xff), expectedModRevision: undefined }],
        [["--if-revision", "3"], { expectedValue: undefined, expectedModRevision: 3n }],
        [
          ["--expect", "old", "--if-revision", "3"],
          { expectedValue: new Uint8Array(Buffer.from("old")), expectedModRevision: 3n },
        ],
        [["--absent"], { expectedValue: undefined, expectedModRevision: undefined }],
      ] as const) {
        expect((await quoinctl(["kv", "cas", "n/k", ...options, "new", "--ttl", "1h"])).code, options[0]).to.equal(0);
        expect(member.request).to.deep.include({ ...expected, ttlSeconds: 3_600n });
      }
    });

    it("prints the new value", async () => {
      const { out } = await quoinctl(["kv", "cas", "n/k", "--absent", "new"]);
      expect(out).to.equal("KEY  SUCCESS  MOD REVISION  CURRENT VALUE\nn/k  true     4             new\n");
    });

    it("prints the current value and ends with 4 if it is not as expected", async () => {
      member.scripts.compareAndSwap = () => ({
        success: false,
        currentExists: true,
        currentValue: Buffer.from("other"),
        modRevision: 5n,
      });
      expect(await quoinctl(["kv", "cas", "n/k", "--expect", "old", "new"])).to.include({
        code: 4,
        out: "KEY  SUCCESS  MOD REVISION  CURRENT VALUE\nn/k  false    5             other\n",
        err: "quoinctl: n/k is not as expected\n",
      });
      member.scripts.compareAndSwap = () => ({ success: false, currentExists: false, revision: 6n });
      const json = await quoinctl(["kv", "cas", "n/k", "--expect", "old", "new", "-o", "json"]);
      expect(json.code).to.equal(4);
      expect(JSON.parse(json.out)).to.deep.equal({
        namespace: "n",
        key: "k",
        success: false,
        current_exists: false,
        mod_revision: 0,
        revision: 6,
      });
    });

    it("reports a value that the service no longer keeps", async () => {
      member.scripts.compareAndSwap = () => ({ currentExists: true, currentValueOmitted: true, modRevision: 5n });
      const cas = ["kv", "cas", "n/k", "--expect", "old", "new"];
      expect((await quoinctl(cas)).out).to.include("n/k  false    5             (not kept)\n");
      expect(JSON.parse((await quoinctl([...cas, "-o", "json"])).out)).to.include({ current_value_omitted: true });
    });

    it("requires exactly one condition: an expectation, or --absent", async () => {
      for (const options of [
        [],
        ["--absent", "--expect", "v"],
        ["--absent", "--if-revision", "1"],
        ["--absent", "--expect-file", "f"],
        ["--expect", "v", "--expect-file", "f"],
      ]) {
        expect((await quoinctl(["kv", "cas", "n/k", "new", ...options])).code, options.join(" ")).to.equal(2);
      }
      expect(member.calls).to.have.length(0);
    });
  });

  describe("status", () => {
    it("prints the members as a table, or all fields as JSON", async () => {
      member.scripts.getCluster = () => ({
        clusterId: "c",
        members: [{ id: "2", name: "m-2", grpcEndpoint: "127.0.0.1:1" }],
      });
      member.scripts.getStatus = () => ({
        status: {
          id: "1",
          name: "m-1",
          state: 3,
          role: 1,
          term: 4n,
          appliedIndex: 7n,
          commitIndex: 9n,
          dbSizeBytes: 1_572_864n,
          version: "0.1.0",
          alarms: ["NOSPACE"],
        },
      });
      const { code, out } = await quoinctl(["status"]);
      expect(code).to.equal(0);
      expect(out.split("\n").map((line) => line.split(/ {2,}/))).to.deep.equal([
        ["ID", "NAME", "ENDPOINT", "STATE", "ROLE", "TERM", "APPLIED", "LAG", "DB SIZE", "VERSION"],
        ["1", "m-1", member.endpoint, "RUNNING NOSPACE", "LEADER", "4", "7", "2", "1.5 MiB", "0.1.0"],
        ["2", "m-2", "127.0.0.1:1", "UNREACHABLE", "FOLLOWER", "-", "-", "-", "-", "-"],
        [""],
      ]);
      const document = JSON.parse((await quoinctl(["status", "-o", "json"])).out);
      expect(document.cluster_id).to.equal("c");
      expect(document.members[0]).to.deep.equal({
        id: "1",
        name: "m-1",
        endpoint: member.endpoint,
        state: "RUNNING",
        role: "LEADER",
        term: 4,
        applied_index: 7,
        lag: 2,
        db_size_bytes: 1_572_864,
        version: "0.1.0",
        alarms: ["NOSPACE"],
        clock_ahead_ms: null,
      });
      expect(document.members[1]).to.include({ state: "UNREACHABLE", term: null, db_size_bytes: null });
    });

    it("warns of clocks that differ, and says how far each one is ahead", async () => {
      const other = await ScriptedMember.start({
        getStatus: () => ({ status: { id: "2", state: 3, clockMs: BigInt(Date.now()) } }),
      });
      member.scripts.getStatus = () => ({ status: { id: "1", state: 3, clockMs: BigInt(Date.now() + 60_000) } });
      try {
        const environment = { QUOIN_ENDPOINTS: `${member.endpoint},${other.endpoint}`, QUOIN_TOKEN: "t" };
        const { out, err } = await quoinctl(["status", "-o", "json"], { environment });
        expect(err).to.match(/^warning: the clocks of members differ by at least \d+ s: synchronize them, .*\n$/);
        expect(JSON.parse(out).members[0].clock_ahead_ms).to.be.above(30_000);
      } finally {
        other.stop();
      }
    });
  });

  describe("token", () => {
    it("prints a fresh token of an API key, with the given lifetime", async () => {
      member.scripts.exchangeToken = issueTokens();
      const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_API_KEY: "qk_key" };
      expect(await quoinctl(["token"], { environment })).to.include({ code: 0, out: "token-1\n", err: "" });
      const json = await quoinctl(["token", "--expires-in", "10m", "-o", "json"], { environment });
      expect(JSON.parse(json.out)).to.deep.equal({ access_token: "token-2", expires_in: 3_600, token_type: "Bearer" });
      expect(member.calls.map(({ request: sent }) => sent)).to.deep.equal([
        { apiKey: "qk_key", expiresInSeconds: 0n },
        { apiKey: "qk_key", expiresInSeconds: 600n },
      ]);
    });

    it("prints a given token, but cannot change its lifetime", async () => {
      expect(await quoinctl(["token"])).to.include({ code: 0, out: "t\n" });
      expect(JSON.parse((await quoinctl(["token", "-o", "json"])).out)).to.deep.equal({
        access_token: "t",
        token_type: "Bearer",
      });
      expect(await quoinctl(["token", "--expires-in", "60"])).to.include({ code: 2, out: "" });
    });

    it("ends with 1 for an invalid key, and does not repeat it", async () => {
      const refusal: Refusal = {
        code: "UNAUTHENTICATED",
        reason: "INVALID_API_KEY",
        message: "the API key is not valid",
      };
      member.scripts.exchangeToken = () => refuse(refusal);
      const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_API_KEY: "qk_secret" };
      for (const command of [["token"], ["kv", "get", "n/k"], ["status"]]) {
        const { code, out, err } = await quoinctl(command, { environment });
        expect([code, out]).to.deep.equal([1, ""]);
        expect(err)
          .to.match(/^quoinctl: the API key is not valid \(INVALID_API_KEY\)\n/)
          .and.to.not.include("qk_secret");
      }
    });
  });

  describe("usage", () => {
    const wrong: readonly (readonly string[])[] = [
      [],
      ["kv"],
      ["kvv"],
      ["kv", "get"],
      ["kv", "get", "n"],
      ["kv", "get", "/k"],
      ["kv", "get", "n/k", "more"],
      ["kv", "get", "n/k", "--unknown"],
      ["kv", "put", "n/k", "v", "--ttl", "soon"],
      ["kv", "put", "n/k", "v", "--ttl", "500ms"],
      ["kv", "put", "n/k", "v", "--if-revision", "9007199254740992"],
      ["kv", "put", "n/k", "v", "--file", "f"],
      ["kv", "list", "n", "--limit", "0"],
      ["kv", "list", "n", "--page-size", "2147483648"],
      ["member"],
      ["member", "add"],
      ["member", "promote"],
      ["member", "promote", "1", "--wait", "soon"],
      ["member", "remove"],
      ["member", "remove", "1", "--if-config-index", "-1"],
      ["leader", "q-1"],
      ["leader", "transfer", "1", "2"],
      ["leader", "transfer", "--if-term", "x"],
      ["-o", "xml", "kv", "get", "n/k"],
      ["--timeout", "0", "kv", "get", "n/k"],
      ["--cert", "f", "kv", "get", "n/k"],
      ["--endpoints", "nowhere", "kv", "get", "n/k"],
      ["--context", "absent", "kv", "get", "n/k"],
      ["--ca", "/nonexistent", "kv", "get", "n/k"],
      ["--token-file", "/nonexistent", "kv", "get", "n/k"],
      ["--api-key-file", "/nonexistent", "kv", "get", "n/k"],
    ];
    for (const parameters of wrong) {
      it(`ends with 2 for: quoinctl ${parameters.join(" ")}`, async () => {
        const { code, out, err } = await quoinctl(parameters);
        expect([code, out]).to.deep.equal([2, ""]);
        expect(err).to.match(/^(quoinctl: .+\n(hint: .+\n)?$|Usage: quoinctl )/);
        expect(member.calls).to.have.length(0);
      });
    }

    it("refuses invalid certificates before it connects", async () => {
      const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t", QUOIN_CA_PEM: "no PEM" };
      for (const command of [["kv", "get", "n/k"], ["status"]]) {
        expect((await quoinctl(command, { environment })).code).to.equal(2);
      }
      const file = import.meta.filename;
      const { code, err } = await quoinctl(["kv", "get", "n/k", "--ca", file], {
        environment: { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" },
      });
      expect(code).to.equal(2);
      expect(err, "the name of the file").to.include(`cannot be used: ${file}: `);
    });

    it("prints help and version on the standard output", async () => {
      const help = await quoinctl(["--help"]);
      expect(help.code).to.equal(0);
      for (const command of [
        "namespace",
        "kv",
        "member",
        "leader",
        "status",
        "token",
        "QUOIN_ENDPOINTS",
        "Exit codes",
      ]) {
        expect(help.out).to.include(command);
      }
      expect(await quoinctl(["kv", "put", "--help"])).to.include({ code: 0, err: "" });
      expect((await quoinctl(["--version"])).out).to.match(/^\d+\.\d+\.\d+\n$/);
    });
  });

  it("gives up after --timeout", async () => {
    member.scripts.getKey = (_request, call) =>
      new Promise((_resolve, reject) => {
        call.cancelled.addEventListener("abort", () => reject(new Error("given up")), { once: true });
      });
    const { code, err } = await quoinctl(["--timeout", "200ms", "kv", "get", "n/k"]);
    expect(code).to.equal(3);
    expect(err).to.include("(DEADLINE)\nhint: a write may have been executed");
  });

  it("refuses the files of a local cluster that other users may use", async () => {
    const directory = temporaryDirectory();
    await mkdir(path.join(directory, ".quoin"));
    const file = path.join(directory, ".quoin", "endpoints.json");
    await writeFile(file, JSON.stringify({ grpc: [member.endpoint], apiKey: "qk_local" }));
    await chmod(file, 0o644);
    const { code, err } = await quoinctl(["kv", "get", "n/k"], { environment: {}, directory });
    expect(code).to.equal(2);
    expect(err).to.equal(`quoinctl: ${file} holds secrets, and other users may use it\nhint: chmod 600 ${file}\n`);
  });
});
