import type { TransactRequest } from "@quoin/proto";
import { expect } from "chai";
import { FakeRuntime, type ProgramInput, type ProgramRun, runProgram, ScriptedMember } from "../../../test/index.ts";
import { run } from "../index.ts";

const ENTRY = { key: "k", value: Buffer.from("v"), modRevision: 2n };

describe("quoinctl txn", () => {
  let member: ScriptedMember;

  beforeEach(async () => {
    member = await ScriptedMember.start({ transact: () => ({ succeeded: true, revision: 9n }) });
  });

  afterEach(() => member.stop());

  function quoinctl(parameters: readonly string[], input: ProgramInput = {}): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" };
    return runProgram(run, new FakeRuntime(), parameters, { environment, ...input });
  }

  function request(): TransactRequest {
    return member.callsOf("transact").at(-1)?.request as TransactRequest;
  }

  it("reads the form of etcdctl", async () => {
    const input = `mod("key1") > "0"
ver('two words') != 3
create(k) = "0"
val("é") < "a \\"b\\""

put key1 "overwrote-key1" --ttl 5m
put "-k" "--v"
increment n -3
del --prefix p/
del d

get key1
get --prefix --limit=7 --keys-only u/
`;
    const { code, err } = await quoinctl(["txn", "n", "--guard", "l=4"], { input });
    expect([code, err]).to.deep.equal([0, "done at revision 9\n"]);
    const { namespace, compare, success, failure, guard } = request();
    expect([namespace, guard?.lockName, guard?.fencingToken]).to.deep.equal(["n", "l", 4n]);
    expect(compare.map(({ key }) => [key?.key, key?.operator])).to.deep.equal([
      ["key1", 3],
      ["two words", 1],
      ["k", 0],
      ["é", 2],
    ]);
    expect([compare[0]?.key?.modRevision, compare[1]?.key?.version, compare[2]?.key?.createRevision]).to.deep.equal([
      0n,
      3n,
      0n,
    ]);
    expect(compare[3]?.key?.value).to.deep.equal(new Uint8Array(Buffer.from('a "b"')));
    expect(success[0]?.put).to.deep.include({ key: "key1", ttlSeconds: 300n });
    expect(success[1]?.put).to.deep.include({ key: "-k", value: new Uint8Array(Buffer.from("--v")) });
    expect(success[2]?.increment).to.deep.include({ key: "n", delta: -3n });
    expect(success[3]?.deletePrefix).to.deep.equal({ prefix: "p/" });
    expect(success[4]?.delete).to.deep.include({ key: "d", missingOk: true });
    expect(failure[0]?.get).to.deep.equal({ key: "key1" });
    expect(failure[1]?.list).to.deep.include({ prefix: "u/", limit: 7, keysOnly: true });
  });

  it("reads a request in JSON, with both spellings of names, texts and numbers", async () => {
    const input = JSON.stringify({
      namespace: "n",
      compare: [
        { key: { key: "7", operator: "GREATER", mod_revision: "5" } },
        { prefix: { prefix: "", unchangedSince: 3 } },
      ],
      success: [
        { put: { key: "8", value: "AP8=", ttlSeconds: "60" } },
        { put: { key: "t", value_text: "12", expectedModRevision: null } },
        { append: { logId: "L", payloads: ["YQ=="], idempotency_key: "9" } },
        { transaction: { success: [{ write_memory: { region_id: "r", offset: "1", dataText: "é" } }] } },
      ],
      guard: { lock_name: "l", fencing_token: "4" },
    });
    const { code, err } = await quoinctl(["txn", "n"], { input });
    expect([code, err]).to.deep.equal([0, "done at revision 9\n"]);
    const { compare, success, guard } = request();
    expect(compare[0]?.key).to.deep.include({ key: "7", operator: 3, modRevision: 5n });
    expect(compare[1]?.prefix).to.deep.equal({ prefix: "", unchangedSince: 3n });
    expect(success[0]?.put).to.deep.include({ key: "8", value: Uint8Array.of(0, 255), ttlSeconds: 60n });
    expect(success[1]?.put).to.deep.include({
      value: new Uint8Array(Buffer.from("12")),
      expectedModRevision: undefined,
    });
    expect(success[2]?.append).to.deep.include({
      payloads: [new Uint8Array(Buffer.from("a"))],
      idempotencyKey: "9",
    });
    expect(success[3]?.transaction?.success[0]?.writeMemory).to.deep.include({
      regionId: "r",
      offset: 1n,
      data: new Uint8Array(Buffer.from("é")),
    });
    expect(guard).to.deep.equal({ lockName: "l", fencingToken: 4n, rw: false, sessionId: undefined });
  });

  it("prints the results of the operations that have run", async () => {
    const results = [
      { put: { created: true } },
      { delete: {} },
      { increment: { value: 2n ** 63n - 1n, created: true } },
      { get: {} },
      { list: { items: [ENTRY], more: true } },
      { deletePrefix: { deletedKeys: 1n } },
      { touch: { expiresInMs: 1_500n } },
      { append: { lastSequence: 4n } },
      { readMemory: { data: Uint8Array.of(255), version: 2n } },
      { writeMemory: { version: 3n } },
      { release: {} },
      { transaction: { succeeded: false, failedCompare: 0, results: [{ get: { kv: ENTRY } }] } },
    ];
    member.scripts.transact = () => ({ succeeded: true, results, revision: 9n });
    const success = [
      { put: { value: "", key: "a" } },
      { delete: { key: "b", missing_ok: true } },
      { increment: { key: "i", delta: 1 } },
      { get: { key: "g" } },
      { list: { prefix: "p" } },
      { delete_prefix: { prefix: "q" } },
      { touch: { key: "t", ttl_seconds: 2 } },
      { append: { log_id: "L", payloads: ["YQ=="] } },
      { read_memory: { region_id: "r", offset: 0, length: 1 } },
      { write_memory: { region_id: "r", offset: 0, data: "YQ==" } },
      { release: { lock_name: "l", fencing_token: 1 } },
      { transaction: { failure: [{ get: { key: "k" } }] } },
    ];
    const input = JSON.stringify({ success });
    expect((await quoinctl(["txn", "n"], { input })).out).to.equal(
      [
        "OPERATION      ON  RESULT",
        "put            a   created",
        "delete         b   did not exist",
        "increment      i   9223372036854775807",
        "get            g   does not exist",
        "list           p   1 key and more",
        "               k   v",
        "delete prefix  q   1 key deleted",
        "touch          t   expires in 2s",
        "append         L   sequence 4",
        "read memory    r   base64:/w==",
        "write memory   r   version 3",
        "release        l   released",
        "get            k   v",
        "",
      ].join("\n"),
    );
    const { out, err } = await quoinctl(["txn", "n", "-o", "json"], { input });
    expect(err).to.equal("");
    const document = JSON.parse(out);
    expect(document).to.include({ namespace: "n", succeeded: true, revision: 9 });
    expect(document.results[2]).to.deep.equal({ increment: { value: "9223372036854775807", created: true } });
    expect(document.results[4].list.items[0]).to.include({ key: "k", value: "dg==", value_text: "v", mod_revision: 2 });
    expect(document.results[5]).to.deep.equal({ delete_prefix: { deleted_keys: 1 } });
    expect(document.results[11].transaction).to.deep.include({ succeeded: false, failed_compare: 0 });
    expect((await quoinctl(["txn", "n", "-o", "yaml"], { input })).out).to.include("deleted_keys: 1");
  });

  it("ends with 4 if a condition is not true, and shows omitted values", async () => {
    member.scripts.transact = () => ({
      succeeded: false,
      failedCompare: 1,
      results: [{ get: { kv: { ...ENTRY, value: new Uint8Array() } } }],
      valuesOmitted: true,
      revision: 9n,
    });
    const input = "mod(a) = 1\nmod(b) = 1\n\n\nget k\n";
    const { code, out, err } = await quoinctl(["txn", "n"], { input });
    expect([code, err]).to.deep.equal([4, "mod(b) = 1 is not true\n"]);
    const asJson =
      '{"compare":[{"key":{"key":"a","exists":true}},{"key":{"key":"b","exists":true}}],"failure":[{"get":{"key":"k"}}]}';
    expect((await quoinctl(["txn", "n"], { input: asJson })).err).to.equal("compare[1] is not true\n");
    expect(out).to.include("(not kept)");
    const json = JSON.parse((await quoinctl(["txn", "n", "-o", "json"], { input })).out);
    expect(json).to.deep.include({ succeeded: false, failed_compare: 1, values_omitted: true });
    expect(json.results[0].get.kv.value).to.equal(undefined);
  });

  const wrong: readonly (readonly [text: string, message: string])[] = [
    ["mod(k) > x", 'line 1: mod is compared with a whole number, not with "x"'],
    ["lease(k) = 1", "line 1: a condition is such as mod("],
    ["put k v", "line 1: a condition is such as mod("],
    ["\nputt k v", "line 2: an operation is one of put, get, del, increment"],
    ["\nput k", "line 2: give put KEY VALUE"],
    ["\nget a b", "line 2: give get KEY"],
    ["\ndel k --ttl 5m", "line 2: there is no --ttl: del KEY"],
    ["\nput k v --ttl", "line 2: put KEY VALUE"],
    ["\nput k v --ttl x", "line 2: Give a duration"],
    ["\nincrement k 1.5", "line 2: Give a whole number"],
    ['\nput k "v', "line 2: a quotation mark or a parenthesis"],
    ['\nput k "\\x"', "line 2: "],
    ["\n\n\nget k", "line 4: the parts are"],
    ["\n\nincrement k 1", "the operations after the second empty line would never run"],
    ["{", "the transaction is no JSON"],
    ['{"compares":[]}', "the transaction has no compares"],
    ['{"success":{}}', "success must be a list"],
    ['{"namespace":"m"}', "names the namespace m, and the command n"],
    ['{"success":[{"put":{"key":"k","value":"plain text"}}]}', "value must be base64; a text is value_text"],
  ];
  for (const [input, message] of wrong) {
    it(`refuses ${JSON.stringify(input)}`, async () => {
      const { code, err } = await quoinctl(["txn", "n"], { input });
      expect(err).to.include(message);
      expect([code, member.callsOf("transact").length]).to.deep.equal([2, 0]);
    });
  }

  it("leaves the check of fields to the SDK, and needs a text", async () => {
    const input = '{"success":[{"put":{"key":"k","value":"","ttl":1}}]}';
    expect((await quoinctl(["txn", "n"], { input })).err).to.include(
      "success[0].put.ttl is not an option of success[0]",
    );
    expect((await quoinctl(["txn", "n"], { input: Uint8Array.of(0xff) })).err).to.include("is not UTF-8");
    expect((await quoinctl(["txn", "n/k"], { input })).code).to.equal(2);
    expect((await quoinctl(["txn", "n", "--file", "/nonexistent"])).err).to.include("cannot be read");
  });

  it("increments a key", async () => {
    member.scripts.transact = () => ({
      succeeded: true,
      results: [{ increment: { value: -(2n ** 63n) } }],
      revision: 9n,
    });
    const { out } = await quoinctl(["kv", "increment", "n/k", "-5", "--ttl", "5m", "--guard", "l=4"]);
    expect(out).to.equal("KEY  VALUE                 CREATED\nn/k  -9223372036854775808  false\n");
    expect(request().success[0]?.increment).to.deep.equal({ key: "k", delta: -5n, ttlSeconds: 300n });
    expect(request().guard?.fencingToken).to.equal(4n);
    const json = JSON.parse((await quoinctl(["kv", "increment", "n/k", "-o", "json"])).out);
    expect(json).to.deep.equal({
      namespace: "n",
      key: "k",
      value: "-9223372036854775808",
      created: false,
      revision: 9,
    });
    expect(request().success[0]?.increment?.delta).to.equal(1n);
    expect((await quoinctl(["kv", "increment", "n/k", "half"])).code).to.equal(2);
  });
});
