import { EventEmitter } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import type { ListKeysRequest, PutKeyRequest, TransactRequest } from "@quoin/proto";
import { KeyEvent_Type } from "@quoin/proto";
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

const FULL = { code: "RESOURCE_EXHAUSTED", reason: "QUOTA", outcome: "not-executed", message: "full" } as const;
const HISTORY = { createRevision: 1n, modRevision: 2n, version: 3n };

function entry(key: string, value: string | Uint8Array, expiresInMs = 0n) {
  return { key, value: Buffer.from(value), ...HISTORY, expiresInMs };
}

describe("quoinctl kv, many keys", () => {
  let member: ScriptedMember;
  /** The keys that exist, in pages of two. */
  let keys: ReturnType<typeof entry>[];
  let written: PutKeyRequest[];
  /** The most keys that a transaction may delete. */
  let deletedMax: number;

  beforeEach(async () => {
    deletedMax = 10;
    keys = [entry("a", "one"), entry("b/1", Uint8Array.of(0xff)), entry("b/2", "", 4_500n)];
    written = [];
    member = await ScriptedMember.start({
      listKeys: ({ prefix, pageToken }: ListKeysRequest) => {
        const found = keys.filter(({ key }) => key.startsWith(prefix));
        const from = Number(pageToken || 0);
        const nextPageToken = from + 2 < found.length ? String(from + 2) : "";
        return { items: found.slice(from, from + 2), nextPageToken, revision: 9n };
      },
      putKey: (request: PutKeyRequest) => {
        written.push(request);
        return { created: true, modRevision: 9n, revision: 9n };
      },
      transact: (request: TransactRequest) => deletion(request),
    });
  });

  afterEach(() => member.stop());

  /** Deletes keys of one transaction: by name, or all with a prefix if that is at most `deletedMax`. */
  function deletion({ success }: TransactRequest) {
    const before = keys;
    const prefix = success[0]?.deletePrefix?.prefix;
    const isHit = (key: string) =>
      prefix === undefined ? success.some((one) => one.delete?.key === key) : key.startsWith(prefix);
    const hit = before.filter(({ key }) => isHit(key));
    if (hit.length > deletedMax) {
      return refuse({ code: "INVALID_ARGUMENT", reason: "TOO_LARGE", message: "too many" });
    }
    keys = before.filter(({ key }) => !isHit(key));
    const results = success.map((one) =>
      one.delete === undefined
        ? { deletePrefix: { deletedKeys: BigInt(hit.length) } }
        : { delete: { deleted: hit.some(({ key }) => key === one.delete?.key) } },
    );
    return { succeeded: true, results, revision: 9n };
  }

  function quoinctl(parameters: readonly string[], input: ProgramInput = {}): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" };
    return runProgram(run, new FakeRuntime(), parameters, { environment, ...input });
  }

  it("counts keys, and says if there are more", async () => {
    member.scripts.countKeys = () => ({ keys: 3n });
    expect((await quoinctl(["kv", "count", "n"])).out).to.equal("COUNT\n3\n");
    const { out } = await quoinctl(["kv", "count", "n/b/*", "-o", "json"]);
    expect(JSON.parse(out)).to.deep.equal({ namespace: "n", prefix: "b/", count: 3, more: false });
    expect(member.request).to.deep.equal({ namespace: "n", prefix: "b/", consistency: 0 });
    member.scripts.countKeys = () => ({ keys: 5n, more: true });
    expect((await quoinctl(["kv", "count", "n"])).out).to.equal("COUNT\nmore than 5\n");
  });

  it("shows on a terminal how many keys are done, and removes that line before it says anything else", async () => {
    const erase = "\r\u001b[K";
    deletedMax = 1;
    const input = '{"key":"x","value":""}\n';
    const shown: readonly (readonly [parameters: readonly string[], line: string])[] = [
      [["kv", "import", "m", "-"], "1 key imported"],
      [["kv", "delete", "--prefix", "n/*"], "1 key deleted"],
    ];
    for (const [parameters, line] of shown) {
      const { code, err } = await quoinctl(parameters, { input, isTTY: true });
      expect([code, err]).to.deep.equal([0, `${erase}${line}${erase}`]);
    }
    member.scripts.putKey = ({ key }: PutKeyRequest) =>
      key === "x" ? { created: true, modRevision: 9n, revision: 9n } : refuse(FULL);
    const more = `${input}{"key":"y","value":""}\n`;
    const { err } = await quoinctl(["kv", "import", "m", "-"], { input: more, isTTY: true });
    expect(err).to.include(`${erase}warning: 1 key is written; 1 line failed: 2; nothing after line 2 is\n`);
  });

  it("says how many keys are deleted if one of them cannot be", async () => {
    deletedMax = 1;
    member.scripts.transact = (request) =>
      request.success.some((one) => one.delete?.key === "b/1") && request.success.length === 1
        ? refuse(FULL)
        : deletion(request);
    const { code, err } = await quoinctl(["kv", "delete", "--prefix", "n/*"]);
    expect(code).to.not.equal(0);
    expect(err).to.include("1 key is deleted, the others are not").and.to.include("full");
  });

  it("imports what it has exported, byte by byte, with the time to live", async () => {
    const { code, out } = await quoinctl(["kv", "export", "n"]);
    expect(code).to.equal(0);
    expect(out.trimEnd().split("\n")).to.have.lengthOf(3);
    const imported = await quoinctl(["kv", "import", "m", "-o", "json"], { input: out });
    expect(JSON.parse(imported.out)).to.deep.equal({ namespace: "m", written: 3, existed: 0 });
    const told = written.map(({ namespace, key, value, ttlSeconds }) => [
      namespace,
      key,
      [...value],
      Number(ttlSeconds),
    ]);
    expect(told).to.have.deep.members([
      ["m", "a", [...Buffer.from("one")], 0],
      ["m", "b/1", [0xff], 0],
      ["m", "b/2", [], 5],
    ]);
  });

  it("imports texts from a file, and leaves existing keys with --if-absent", async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, "keys.jsonl");
    await writeFile(file, '{"key":"x","value_text":"ü"}\n\n{"key":"y","value":""}\n');
    member.scripts.putKey = (request: PutKeyRequest) => {
      written.push(request);
      return request.key === "y"
        ? refuse({ code: "FAILED_PRECONDITION", reason: "REVISION_MISMATCH", message: "it exists" })
        : { created: true, modRevision: 9n, revision: 9n };
    };
    const { out, err } = await quoinctl(["kv", "import", "m", file, "--if-absent"]);
    expect([out, err]).to.deep.equal(["WRITTEN  EXISTED\n1        1\n", ""]);
    expect(written.map(({ expectedModRevision }) => expectedModRevision)).to.deep.equal([0n, 0n]);
    expect(Buffer.from(written.find(({ key }) => key === "x")?.value ?? []).toString()).to.equal("ü");
  });

  const wrong: readonly (readonly [line: string, message: string])[] = [
    ["nothing", "line 2: must be an object of JSON"],
    ["[]", "line 2: must be an object of JSON"],
    ['{"key":""}', "line 2: key must be a text that is not empty"],
    ['{"key":"k"}', "line 2: needs value, in base64, or value_text"],
    ['{"key":"k","value":"plain text"}', "line 2: value must be base64; a text belongs into value_text"],
    ['{"key":"k","value":"","expires_in_ms":-1}', "line 2: expires_in_ms must be a number of at least 0"],
    ['{"key":"k","value":"","expires_in_m":1}', "line 2: expires_in_m is unknown; did you mean expires_in_ms?"],
    ['{"key":"k","value":"","ttl":1}', "line 2: ttl is unknown: a line has key, value_text, value, "],
    ['{"key":"k","value":"b25l","value_text":"two"}', "line 2: value and value_text mean different values"],
    ['{"key":"k","value":7,"value_text":"two"}', "line 2: value must be base64"],
    ['{"key":"k","value":"b25l","value_text":1}', "line 2: value_text must be a text"],
  ];
  for (const [line, message] of wrong) {
    it(`refuses to import ${line}, and names line and field`, async () => {
      const { code, err } = await quoinctl(["kv", "import", "m"], { input: `{"key":"a","value":""}\n${line}\n` });
      expect(code).to.equal(2);
      expect(err).to.include(message).and.to.include("1 key is written; nothing after line 1 is\n");
    });
  }

  it("writes a key that is there twice as the later line says", async () => {
    const values: string[] = [];
    member.scripts.putKey = async ({ value }: PutKeyRequest) => {
      const text = Buffer.from(value).toString();
      // Turns in which the second would arrive, if it were sent meanwhile.
      for (let turn = 0; turn < (text === "first" ? 200 : 0); turn++) {
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      values.push(text);
      return { created: true, modRevision: 9n, revision: 9n };
    };
    const input = ["first", "second"].map((text) => `{"key":"k","value_text":"${text}"}\n`).join("");
    expect((await quoinctl(["kv", "import", "m"], { input })).code).to.equal(0);
    expect(values).to.deep.equal(["first", "second"]);
  });

  it("names the line that the service refuses", async () => {
    member.scripts.putKey = () => refuse(FULL);
    const { code, err } = await quoinctl(["kv", "import", "m"], { input: '{"key":"a","value":""}\n' });
    expect(code).to.not.equal(0);
    expect(err).to.include("no key is written; 1 line failed: 1; nothing after line 1 is").and.to.include("full");
  });

  it("says once what the service refuses, of the first line, and counts the lines that failed", async () => {
    let requests = 0;
    member.scripts.putKey = async ({ key }: PutKeyRequest) => {
      requests += 1;
      // The first line is refused last.
      while (key === "1" && requests < 16) {
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      return refuse({ code: "NOT_FOUND", reason: "NAMESPACE_NOT_FOUND", message: `no namespace for ${key}` });
    };
    const input = Array.from({ length: 20 }, (_, at) => `{"key":"${at + 1}","value":""}\n`).join("");
    const { code, err } = await quoinctl(["kv", "import", "m"], { input });
    expect(code).to.equal(1);
    const lines = err.split("\n");
    expect(lines[0]).to.match(/^warning: no key is written; \d+ lines failed: 1, 2, .*; nothing after line \d+ is$/);
    expect(lines.slice(1)).to.deep.equal([
      "quoinctl: no namespace for 1 (NAMESPACE_NOT_FOUND)",
      "hint: create it with: quoinctl namespace create NAME",
      "",
    ]);
  });

  it("does not claim that nothing is written if that is not known", async () => {
    member.scripts.putKey = () => refuse({ code: "DEADLINE_EXCEEDED", reason: "DEADLINE", outcome: "unknown" });
    const { err } = await quoinctl(["kv", "import", "m"], { input: '{"key":"a","value":""}\n' });
    expect(err).to.include("; 1 line may have failed: 1;");
  });

  it("says that no key is deleted if it is interrupted before the first one", async () => {
    const signals = new EventEmitter();
    deletedMax = 1;
    member.scripts.listKeys = () => {
      signals.emit("SIGTERM");
      return { items: keys };
    };
    const { code, err } = await quoinctl(["kv", "delete", "--prefix", "n/*"], { signals });
    expect([code, err]).to.deep.equal([130, "warning: no key is deleted\n"]);
  });

  it("takes a namespace alone, and says so", async () => {
    const { code, err } = await quoinctl(["kv", "import", "m/x"], { input: '{"key":"a","value":""}\n' });
    expect([code, err]).to.deep.equal([2, 'quoinctl: give a namespace alone, not "m/x"\n']);
  });

  for (const isTTY of [false, true]) {
    const place = isTTY ? "on a terminal" : "without a terminal";

    it(`says ${place} how many keys are written when it is interrupted`, async () => {
      const signals = new EventEmitter();
      member.scripts.putKey = ({ key }: PutKeyRequest) => {
        // What is sent is finished, and nothing more is sent.
        if (key === "b") {
          signals.emit("SIGINT");
        }
        return { created: true, modRevision: 9n, revision: 9n };
      };
      const input = new PassThrough();
      input.write('{"key":"a","value":""}\n{"key":"b","value":""}\n');
      const { code, err } = await quoinctl(["kv", "import", "m", "-"], { input, isTTY, signals });
      expect([code, err.slice(err.indexOf("warning"))]).to.deep.equal([
        130,
        "warning: 2 keys are written; nothing after line 2 is\n",
      ]);
      expect(signals.eventNames()).to.deep.equal([]);
    });

    it(`says ${place} how many keys are deleted when it is interrupted`, async () => {
      const signals = new EventEmitter();
      deletedMax = 2;
      member.scripts.transact = (request) => {
        if (request.success[0]?.delete !== undefined) {
          signals.emit("SIGINT");
        }
        return deletion(request);
      };
      const { code, err } = await quoinctl(["kv", "delete", "--prefix", "n/*"], { isTTY, signals });
      expect([code, err.slice(err.indexOf("warning"))]).to.deep.equal([
        130,
        "warning: 2 keys are deleted, the others are not\n",
      ]);
    });
  }

  it("refuses what is not UTF-8", async () => {
    const input = Buffer.concat([Buffer.from('{"key":"k'), Uint8Array.of(0xff), Buffer.from('","value":""}')]);
    expect((await quoinctl(["kv", "import", "m"], { input })).err).to.include("line 1: is not UTF-8");
  });

  it("says what it cannot read", async () => {
    const { code, err } = await quoinctl(["kv", "import", "m", "/nonexistent"]);
    expect(code).to.equal(2);
    expect(err).to.include("/nonexistent cannot be read: ENOENT");
  });

  it("deletes all keys with a prefix as one change, and those of a namespace only with an asterisk", async () => {
    expect((await quoinctl(["kv", "delete", "--prefix", "n/b/", "--guard", "l=4"])).out).to.equal("DELETED\n2\n");
    const transactions = member.callsOf("transact").map(({ request }) => request as TransactRequest);
    expect(transactions.map(({ success, guard }) => [success.length, guard?.fencingToken])).to.deep.equal([[1, 4n]]);
    expect(keys.map(({ key }) => key)).to.deep.equal(["a"]);
    expect((await quoinctl(["kv", "delete", "--prefix", "n"])).err).to.include("write 'n/*'");
    expect((await quoinctl(["kv", "delete", "--prefix", "n/"])).code).to.equal(2);
    const { out } = await quoinctl(["kv", "delete", "--prefix", "n/*", "-o", "json"]);
    expect(JSON.parse(out)).to.deep.equal({ namespace: "n", prefix: "", deleted: 1 });
    expect((await quoinctl(["kv", "delete", "n/b/*"])).err).to.include(
      "to remove all keys that start with a text, use --prefix",
    );
    expect((await quoinctl(["kv", "delete", "--prefix", "n/b/", "--if-revision", "3"])).code).to.equal(2);
  });

  it("deletes more keys than a transaction may by pages, and does not count those that are gone", async () => {
    deletedMax = 1;
    member.scripts.listKeys = () => ({ items: [...keys, entry("gone", "")], revision: 9n });
    expect((await quoinctl(["kv", "delete", "--prefix", "n/*", "--guard", "l=4"])).out).to.equal("DELETED\n3\n");
    expect(keys).to.deep.equal([]);
    const guards = member.callsOf("transact").map(({ request }) => (request as TransactRequest).guard?.fencingToken);
    expect(new Set(guards)).to.deep.equal(new Set([4n]));
  });

  it("lists the versions of a key", async () => {
    const versions = [
      { type: KeyEvent_Type.DELETE, kv: entry("k", "two"), ageMs: 1_500n },
      { type: KeyEvent_Type.PUT, kv: entry("k", "two") },
    ];
    member.scripts.listKeyVersions = ({ pageToken }: { pageToken: string }) => ({
      versions: pageToken === "" ? versions.slice(0, 1) : versions.slice(1),
      nextPageToken: pageToken === "" ? "next" : "",
    });
    const table = "REVISION  CHANGE  AGE  VALUE\n2         DELETE  1s   -\n2         PUT     -    two\n";
    expect((await quoinctl(["kv", "history", "n/k"])).out).to.equal(table);
    const { out } = await quoinctl(["kv", "history", "n/k", "--limit", "1", "--keys-only", "-o", "json"]);
    expect(JSON.parse(out)).to.deep.equal({
      namespace: "n",
      key: "k",
      versions: [{ type: "DELETE", age_ms: 1_500, create_revision: 1, mod_revision: 2, version: 3, expires_in_ms: 0 }],
    });
  });
});
