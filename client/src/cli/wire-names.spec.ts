import { readFileSync } from "node:fs";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { readDescriptorSet } from "@quoin/proto";
import { expect } from "chai";
import { FakeRuntime, runProgram, ScriptedMember } from "../../test/index.ts";
import { run } from "./program.ts";

/** Names that only the command line has: what it has found out itself, or that the request has on the wire. */
const OWN_NAMES = new Set([
  "namespaces",
  "endpoint",
  "role",
  "lag",
  "deleted",
  "email",
  "length",
  "file",
  "replayed",
  "clock_ahead_ms",
]);

/** The names of all fields of the contract. */
function namesOfContract(): readonly string[] {
  const files = fromBinary(FileDescriptorSetSchema, readDescriptorSet()).file;
  return files.flatMap(({ messageType }) => messageType.flatMap(({ field }) => field.map(({ name }) => name)));
}

/** The names of all fields over HTTP. */
function namesOfHttp(): readonly string[] {
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) {
      return;
    }
    const properties = "properties" in value ? value.properties : undefined;
    if (typeof properties === "object" && properties !== null) {
      found.push(...Object.keys(properties));
    }
    Object.values(value).forEach(visit);
  };
  visit(JSON.parse(readFileSync(new URL("../../../docs/api/openapi.json", import.meta.url), "utf8")));
  return found;
}

/** The names of all fields of a document. */
function namesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) {
    return value.flatMap(namesOf);
  }
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([name, content]) => [name, ...namesOf(content)]);
}

/** A transaction; other commands do not read it. */
const INPUT = "\nincrement k\n";
const VALUE = Buffer.from("v");
const ENTRY = { key: "k", value: VALUE };
const HOLD = { owner: "o", subject: "s", fencingToken: 7n, value: VALUE };
const LOG = { logId: "11111111-2222-4333-8444-555555555555", name: "l", namespace: "n" };

describe("JSON of quoinctl", () => {
  it("spells its fields as the contract and HTTP do; bytes that are text have another field with _text", async () => {
    const member = await ScriptedMember.start({
      createNamespace: () => ({}),
      deleteNamespace: () => ({}),
      listNamespaces: () => ({ namespaces: [{ name: "n", quotas: [{ name: "keys", used: 1n, limit: 2n }] }] }),
      putKey: () => ({ previous: ENTRY }),
      getKey: () => ({ value: VALUE }),
      deleteKey: () => ({ previous: ENTRY, previousValueOmitted: true }),
      listKeys: () => ({ items: [ENTRY] }),
      countKeys: () => ({}),
      compareAndSwap: () => ({ success: true, currentExists: true, currentValue: VALUE, currentValueOmitted: true }),
      transact: () => ({ succeeded: true, results: [{ increment: { value: 1n } }], revision: 1n }),
      touchKey: () => ({ modRevision: 1n, expiresInMs: 1n, revision: 1n }),
      createLock: () => ({}),
      describeLock: () => ({ holder: HOLD }),
      acquireLock: () => ({ acquired: true, holder: HOLD }),
      listLocks: () => ({
        locks: [
          { name: "l", holders: [HOLD] },
          { name: "s", permits: 2 },
        ],
      }),
      releaseLock: () => ({}),
      forceReleaseLock: () => ({ previous: HOLD }),
      deleteLock: () => ({}),
      describeRWLock: () => ({ holders: [{ ...HOLD, mode: 1 }] }),
      acquireRWLock: () => ({ acquired: true, holders: [{ ...HOLD, mode: 1 }] }),
      createSemaphore: () => ({}),
      describeSemaphore: () => ({ permits: 2, holders: [{ ...HOLD, permits: 1 }] }),
      acquireSemaphore: () => ({ acquired: true, holders: [{ ...HOLD, permits: 1 }] }),
      updateSemaphore: () => ({}),
      createSession: () => ({ sessionId: 7n }),
      renewSessions: () => ({ sessions: [{ sessionId: 7n, expiresInMs: 1n }] }),
      endSession: () => ({}),
      describeSession: () => ({ session: { sessionId: 7n, metadata: VALUE }, keys: ["k"], holds: [{ lockName: "l" }] }),
      listSessions: () => ({ items: [{ sessionId: 7n }] }),
      allocateMemory: () => ({ regionId: "r" }),
      describeMemory: () => ({ region: { regionId: "r", sizeBytes: 1n } }),
      resizeMemory: () => ({}),
      freeMemory: () => ({}),
      listMemoryRegions: () => ({ regions: [{ regionId: "r" }] }),
      writeMemory: () => ({ bytesWritten: 1n }),
      readMemory: () => ({ data: VALUE }),
      getCluster: () => ({ leaderId: "1", members: [{ id: "1", name: "q-0" }] }),
      getStatus: () => ({ status: { id: "1", name: "q-0" } }),
      listMembers: () => ({ members: [{ id: "1", name: "q-0", incarnation: "x" }] }),
      addMember: () => ({ member: { id: "2", name: "q-1" } }),
      promoteMembers: () => ({}),
      removeMembers: () => ({}),
      transferLeadership: () => ({ leaderId: "1" }),
      putSettings: () => ({}),
      createLog: () => ({ log: LOG }),
      listLogs: () => ({ logs: [LOG] }),
      getLog: () => ({ log: LOG }),
      appendEvent: () => ({ sequence: 1n }),
      appendEvents: () => ({ runs: [{ firstSequence: 1n, count: 1n }], lastSequence: 1n }),
      readEvents: () => ({ events: [{ sequence: 1n, payload: VALUE }] }),
    });
    member.streams.watchKeys = (_request, stream) => {
      stream.send({ created: true });
      stream.send({ events: [{ type: 1, kv: ENTRY, previous: ENTRY }], revision: 1n });
    };
    member.streams.watchLocks = (_request, stream) => {
      stream.send({ created: true });
      stream.send({ events: [{ lockKey: "l", mode: 1, permits: 1, value: VALUE }], revision: 1n });
    };
    try {
      const known = new Set([...namesOfContract(), ...namesOfHttp(), ...OWN_NAMES]);
      const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" };
      for (const line of [
        ...[
          "namespace create n",
          "namespace list",
          "kv put n/k v --prev",
          "kv get n/k",
          "kv delete n/k --prev",
          "kv touch n/k --ttl 5m",
          "kv list n",
          "kv increment n/k",
          "txn n",
          "session create n",
          "session renew n/7",
          "session end n/7",
          "session describe n/7",
          "session list n",
        ],
        ...["kv cas n/k --absent v", "lock create n/l", "lock describe n/l", "lock acquire n/l", "lock list n"],
        ...["semaphore create n/l", "semaphore describe n/l", "semaphore acquire n/l", "semaphore list n"],
        ...["semaphore update n/l 3", "election observe n/l --limit 1", "election resign n/l --token 7"],
        ...["lock release n/l --token 7", "lock force-release n/l", "rwlock describe n/l", "rwlock acquire n/l"],
        ...["memory allocate n 1", "memory describe n/r", "memory resize n/r 1", "memory free n/r", "memory list n"],
        ...["memory write n/r v", "memory read n/r", "watch keys n --limit 1", "watch locks n --limit 1"],
        ...["leader", "leader transfer", "status", "member list", "member add q-1", "member promote 1"],
        ...["member remove 1", "settings put a=1", "log create l", "log list", `log describe ${LOG.logId}`],
        ...[`log append ${LOG.logId} v`, `log append-batch ${LOG.logId} v`, `log read ${LOG.logId}`],
      ]) {
        const parameters = [...line.split(" "), "-o", "json"];
        const { code, out, err } = await runProgram(run, new FakeRuntime(), parameters, { environment, input: INPUT });
        expect({ code, err }, line).to.deep.equal({ code: 0, err: "" });
        for (const name of namesOf(JSON.parse(out))) {
          expect(known.has(name) || known.has(name.replace(/_text$/, "")), `${line}: ${name}`).to.equal(true);
        }
      }
    } finally {
      member.stop();
    }
  });
});
