import { expect } from "chai";
import { failure, ScriptedMember } from "../../test/index.ts";
import { type AdminClient, type Client, createAdminClient, createClient, exchangeApiKey, logIn } from "../index.ts";

/** Everything as plain JavaScript sees it. */
type Untyped = Record<string, Record<string, (...parameters: unknown[]) => unknown>>;

/** The refusal of a call, whether it raises it, rejects, or raises it with its first item. */
async function refusal(work: () => unknown): Promise<string> {
  const error = await failure(
    (async () => {
      const result = await work();
      const isIterable = typeof result === "object" && result !== null && Symbol.asyncIterator in result;
      if (isIterable) {
        await (result as AsyncIterable<unknown>)[Symbol.asyncIterator]().next();
      }
    })(),
  );
  expect(error).to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD", outcome: "not-executed" });
  expect(error.message).to.include(error.details.get("field"));
  return error.message;
}

describe("the check of arguments", () => {
  let member: ScriptedMember;
  let client: Client;
  let admin: AdminClient;
  let untyped: Untyped;

  beforeEach(async () => {
    member = await ScriptedMember.start();
    const credentials = { token: "t" };
    client = createClient({ endpoints: [member.endpoint], credentials });
    admin = createAdminClient({ endpoint: member.endpoint, credentials });
    untyped = client as unknown as Untyped;
  });

  afterEach(async () => {
    client.close();
    admin.close();
    // Nothing was sent.
    expect(member.calls).to.deep.equal([]);
    member.stop();
  });

  it("refuses an unknown option in every call, and names the nearest known one", async () => {
    const wrong = { timeutMs: 1 };
    const guesses: readonly [string, () => unknown][] = [
      ["keyValue.createNamespace", () => untyped.keyValue!.createNamespace!("n", wrong)],
      ["keyValue.deleteNamespace", () => untyped.keyValue!.deleteNamespace!("n", wrong)],
      ["keyValue.listNamespaces", () => untyped.keyValue!.listNamespaces!(wrong)],
      ["keyValue.versions", () => untyped.keyValue!.versions!("n", "k", wrong)],
      ["keyValue.get", () => untyped.keyValue!.get!("n", "k", wrong)],
      ["keyValue.put", () => untyped.keyValue!.put!("n", "k", "v", wrong)],
      ["keyValue.delete", () => untyped.keyValue!.delete!("n", "k", wrong)],
      ["keyValue.touch", () => untyped.keyValue!.touch!("n", "k", 1, wrong)],
      ["keyValue.count", () => untyped.keyValue!.count!("n", wrong)],
      ["keyValue.list", () => untyped.keyValue!.list!("n", wrong)],
      ["keyValue.pages", () => untyped.keyValue!.pages!("n", wrong)],
      ["keyValue.compareAndSwap", () => untyped.keyValue!.compareAndSwap!("n", "k", "v", wrong)],
      ["locks.create", () => untyped.locks!.create!("n", "l", wrong)],
      ["locks.describe", () => untyped.locks!.describe!("n", "l", wrong)],
      ["locks.listNames", () => untyped.locks!.listNames!("n", wrong)],
      ["locks.listWaits", () => untyped.locks!.listWaits!("n", "l", wrong)],
      ["locks.acquire", () => untyped.locks!.acquire!("n", "l", wrong)],
      ["locks.renew", () => untyped.locks!.renew!("n", "l", 1, wrong)],
      ["locks.release", () => untyped.locks!.release!("n", "l", wrong)],
      ["forceRelease", () => untyped.locks!.forceRelease!("n", "l", wrong)],
      ["locks.delete", () => untyped.locks!.delete!("n", "l", wrong)],
      ["locks.hold", () => untyped.locks!.hold!("n", "l", wrong)],
      ["locks.hold", () => untyped.locks!.withLock!("n", "l", () => undefined, wrong)],
      ["readWriteLocks.create", () => untyped.readWriteLocks!.create!("n", "l", wrong)],
      ["readWriteLocks.describe", () => untyped.readWriteLocks!.describe!("n", "l", wrong)],
      ["readWriteLocks.acquire", () => untyped.readWriteLocks!.acquire!("n", "l", "READ", wrong)],
      ["readWriteLocks.renew", () => untyped.readWriteLocks!.renew!("n", "l", "READ", 1, wrong)],
      ["readWriteLocks.release", () => untyped.readWriteLocks!.release!("n", "l", wrong)],
      ["readWriteLocks.hold", () => untyped.readWriteLocks!.hold!("n", "l", "READ", wrong)],
      ["forceRelease", () => untyped.readWriteLocks!.forceRelease!("n", "l", wrong)],
      ["readWriteLocks.delete", () => untyped.readWriteLocks!.delete!("n", "l", wrong)],
      ["readWriteLocks.hold", () => untyped.readWriteLocks!.withLock!("n", "l", "READ", () => undefined, wrong)],
      ["locks.setValue", () => untyped.locks!.setValue!("n", "l", 1, "v", wrong)],
      ["semaphores.create", () => untyped.semaphores!.create!("n", "l", 1, wrong)],
      ["semaphores.describe", () => untyped.semaphores!.describe!("n", "l", wrong)],
      ["semaphores.acquire", () => untyped.semaphores!.acquire!("n", "l", wrong)],
      ["semaphores.renew", () => untyped.semaphores!.renew!("n", "l", 1, wrong)],
      ["semaphores.release", () => untyped.semaphores!.release!("n", "l", wrong)],
      ["semaphores.update", () => untyped.semaphores!.update!("n", "l", 1, wrong)],
      ["forceRelease", () => untyped.semaphores!.forceRelease!("n", "l", wrong)],
      ["semaphores.delete", () => untyped.semaphores!.delete!("n", "l", wrong)],
      ["semaphores.hold", () => untyped.semaphores!.hold!("n", "l", wrong)],
      ["semaphores.hold", () => untyped.semaphores!.withPermits!("n", "l", () => undefined, wrong)],
      ["memory.allocate", () => untyped.memory!.allocate!("n", 1, wrong)],
      ["memory.describe", () => untyped.memory!.describe!("n", "r", wrong)],
      ["memory.resize", () => untyped.memory!.resize!("n", "r", 1, wrong)],
      ["memory.free", () => untyped.memory!.free!("n", "r", wrong)],
      ["memory.write", () => untyped.memory!.write!("n", "r", 0, "v", wrong)],
      ["memory.read", () => untyped.memory!.read!("n", "r", 0, 1, wrong)],
      ["memory.list", () => untyped.memory!.list!("n", wrong)],
      ["memory.pages", () => untyped.memory!.pages!("n", wrong)],
      ["readAt", () => client.memory.open("n", "r").readAt(0, 1, wrong as object)],
      ["writeAt", () => client.memory.open("n", "r").writeAt(0, "v", wrong as object)],
      ["watch.keys", () => untyped.watch!.keys!("n", wrong)],
      ["watch.locks", () => untyped.watch!.locks!("n", wrong)],
      ["watch.streams", () => untyped.watch!.streams!(wrong)],
      ["cluster.getCluster", () => untyped.cluster!.getCluster!(wrong)],
      ["election.campaign", () => client.election("n", "e").campaign("v", wrong as object)],
      ["election.leader", () => client.election("n", "e").leader(wrong as object)],
      ["election.observe", () => client.election("n", "e").observe(wrong as object)],
      ["logs.create", () => untyped.logs!.create!("l", wrong)],
      ["logs.describe", () => untyped.logs!.describe!("l", wrong)],
      ["logs.find", () => untyped.logs!.find!("l", wrong)],
      ["logs.pages", () => untyped.logs!.pages!(wrong)],
      ["logs.updateSettings", () => untyped.logs!.updateSettings!("l", {}, wrong)],
      ["logs.delete", () => untyped.logs!.delete!("l", wrong)],
      ["logs.append", () => untyped.logs!.append!("l", "v", wrong)],
      ["logs.appendBatch", () => untyped.logs!.appendBatch!("l", ["v"], wrong)],
      ["logs.read", () => untyped.logs!.read!("l", wrong)],
      ["keys.create", () => untyped.keys!.create!("k", wrong)],
      ["keys.pages", () => untyped.keys!.pages!(wrong)],
      ["keys.revoke", () => untyped.keys!.revoke!("k", wrong)],
      ["users.create", () => untyped.users!.create!("e", { role: "viewer", namespaces: [] }, wrong)],
      ["users.get", () => untyped.users!.get!("u", wrong)],
      ["users.pages", () => untyped.users!.pages!(wrong)],
      ["users.update", () => untyped.users!.update!("u", {}, wrong)],
      ["users.delete", () => untyped.users!.delete!("u", wrong)],
      ["usage.read", () => untyped.usage!.read!(wrong)],
      ["getStatus", () => admin.getStatus(wrong as object)],
      ["memberCounters", () => admin.memberCounters(wrong as object)],
      ["settings", () => admin.settings(wrong as object)],
      ["bootstrap", () => admin.bootstrap(wrong as never)],
      ["resetOwner", () => admin.resetOwner(wrong as never)],
      ["listMembers", () => admin.listMembers(wrong as object)],
      ["addMember", () => admin.addMember("m", wrong as object)],
      ["promoteMembers", () => admin.promoteMembers(["1"], wrong as object)],
      ["removeMembers", () => admin.removeMembers(["1"], wrong as object)],
      ["transferLeadership", () => admin.transferLeadership(wrong as object)],
      ["compact", () => admin.compact(1, wrong as object)],
      ["putSettings", () => admin.putSettings(new Map(), wrong as object)],
      ["startBackup", () => admin.startBackup(wrong as object)],
      ["getBackupStatus", () => admin.getBackupStatus("", wrong as object)],
      ["listBackups", () => admin.listBackups("", wrong as object)],
      ["snapshot", () => admin.snapshot(wrong as object)],
      ["createClient", () => createClient({ endpoints: ["h:1"], credentials: { token: "t" }, ...wrong } as never)],
      ["exchangeApiKey", () => exchangeApiKey({ apiKey: "k", endpoints: ["h:1"], ...wrong } as never)],
      ["logIn", () => logIn({ email: "e", password: "p", endpoints: ["h:1"], ...wrong } as never)],
    ];
    for (const [call, work] of guesses) {
      const expected = `timeutMs is not an option of ${call}; did you mean timeoutMs?`;
      expect(await refusal(work), call).to.equal(expected);
    }
    expect(await refusal(() => untyped.logs!.tail!("l", { fromSeqence: 1 }))).to.include("did you mean fromSequence?");
    const create = () => createAdminClient({ endpoint: "h:1", credentials: { token: "t" }, ...wrong } as never);
    expect(await refusal(create)).to.include("did you mean timeoutMs?");
  });

  it("takes an option that is undefined as none, whatever its name", async () => {
    const nothing = { colour: undefined, ttlSeconds: undefined, timeoutMs: undefined };
    expect(await refusal(() => untyped.keyValue!.put!("n", "k", 5, nothing))).to.match(/^value must be/);
  });

  it("lists the known options if none is near, and takes names of JavaScript itself for unknown ones", async () => {
    for (const name of ["colour", "constructor", "toString"]) {
      expect(await refusal(() => untyped.cluster!.getCluster!({ [name]: 1 }))).to.equal(
        `${name} is not an option of cluster.getCluster: it has requestId, signal, timeoutMs, traceparent`,
      );
    }
    // An own `__proto__` comes from parsed JSON.
    expect(await refusal(() => untyped.cluster!.getCluster!(JSON.parse('{"__proto__":1}')))).to.match(/^__proto__ is/);
    expect(await refusal(() => untyped.keyValue!.pages!("n", { requestId: "x" }))).to.include("requestId is not an");
  });

  it("refuses a value of the wrong type, and names the option and the rule", async () => {
    const put = (options: unknown) => untyped.keyValue!.put!("n", "k", "v", options);
    for (const [work, message] of [
      [() => put({ ttlSeconds: "5" }), "ttlSeconds must be a whole number within ±(2^53 - 1), not a string"],
      [() => put({ ttlSeconds: 0.5 }), "ttlSeconds must be a whole number within ±(2^53 - 1), not 0.5"],
      [() => put({ ttlSeconds: null }), "ttlSeconds must be a whole number within ±(2^53 - 1), not null"],
      [() => put({ returnPrevious: "no" }), "returnPrevious must be true or false, not a string"],
      [
        () => put({ timeoutMs: "5000" }),
        "timeoutMs must be more than 0 and at most 2147483647 milliseconds, not a string",
      ],
      [() => put({ signal: "now" }), "signal must be an AbortSignal, not a string"],
      [() => put({ requestId: 5 }), "requestId must be a string, not a number"],
      [() => put({ traceparent: 5 }), "traceparent must be a string, not a number"],
      [() => put({ guard: "lock" }), "guard must be an object, not a string"],
      [() => put({ guard: { lockName: "l" } }), "guard.fencingToken is missing"],
      [() => put({ guard: { lockName: 5, fencingToken: 1 } }), "guard.lockName must be a string, not a number"],
      [
        () => put({ guard: { lockNam: "l", fencingToken: 1 } }),
        "guard.lockNam is not an option of guard; did you mean lockName?",
      ],
      [() => put("fast"), "options of keyValue.put must be an object, not a string"],
      [() => put([]), "options of keyValue.put must be an object, not an array"],
      [() => put(null), "options of keyValue.put must be an object, not null"],
      [
        () => untyped.keyValue!.get!("n", "k", { consistency: "strong" }),
        'consistency must be "linearizable" or "serializable", not "strong"',
      ],
      [() => untyped.keyValue!.list!("n", { prefix: 1 }), "prefix must be a string, not a number"],
      [
        () => untyped.keyValue!.compareAndSwap!("n", "k", "v", { expectedValue: 5 }),
        "expectedValue must be a string or a Uint8Array, not a number",
      ],
      [() => untyped.usage!.read!({ from: new Date("never") }), /^from must be a date or a time in ISO 8601/],
      [() => untyped.usage!.read!({ from: 5 }), "from must be a Date or a string, not a number"],
      [() => untyped.users!.create!("e", { role: "king", namespaces: [] }), /^user.role must be "viewer" or .*"king"$/],
      [() => untyped.users!.create!("e", { role: "viewer" }), "user.namespaces is missing"],
      [() => untyped.users!.update!("u", { namespaces: [1] }), "changes.namespaces[0] must be a string, not a number"],
      [
        () => untyped.logs!.create!("l", { settings: { retentionMaxBytes: "1" } }),
        "settings.retentionMaxBytes must be a whole number within ±(2^53 - 1), not a string",
      ],
      [() => client.memory.open("n", "r").readAt(0, 1, { onProgress: 1 } as never), /^onProgress must be a function/],
    ] as const) {
      const refused = await refusal(work);
      if (typeof message === "string") {
        expect(refused).to.equal(message);
      } else {
        expect(refused).to.match(message);
      }
    }
  });

  it("refuses a missing or wrong argument before the options, by its name", async () => {
    for (const [work, message] of [
      [() => untyped.keyValue!.put!("n", "k"), "value must be a string or a Uint8Array, not undefined"],
      [() => untyped.keyValue!.put!("n", "k", 5), "value must be a string or a Uint8Array, not a number"],
      [() => untyped.keyValue!.put!("n", 5, "v"), "key must be a string, not a number"],
      [() => untyped.keyValue!.get!(undefined, "k"), "namespace must be a string, not undefined"],
      [
        () => untyped.locks!.renew!("n", "l", 5n),
        "fencingToken must be a whole number within ±(2^53 - 1), not a bigint",
      ],
      [() => untyped.readWriteLocks!.acquire!("n", "l", "SHARED"), 'mode must be "READ" or "WRITE", not "SHARED"'],
      [() => untyped.memory!.read!("n", "r", "0", 1), "offset must be a whole number within ±(2^53 - 1), not a string"],
      [() => untyped.logs!.append!("l", { a: 1 }), "payload must be a string or a Uint8Array, not an object"],
      [() => untyped.logs!.appendBatch!("l", "v"), "payloads must be an array of 1 to 10,000 events"],
      [() => untyped.logs!.append!(5, "v"), "log must be a string, not a number"],
    ] as const) {
      expect(await refusal(work)).to.equal(message);
    }
  });

  it("refuses a missing option that a call needs, by its name", async () => {
    for (const [work, message] of [
      [() => admin.bootstrap({} as never), "clusterId is missing"],
      [() => admin.bootstrap({ clusterId: "c", incarnation: "i" } as never), "owner is missing"],
      [
        () => admin.bootstrap({ clusterId: "c", incarnation: "i", owner: {} } as never),
        /^owner.email must be a string/,
      ],
      [() => admin.resetOwner({} as never), "owner is missing"],
      [() => admin.snapshot({ silenceMs: 0 }), /^silenceMs must be more than 0/],
    ] as const) {
      const refused = await refusal(work);
      if (typeof message === "string") {
        expect(refused).to.equal(message);
      } else {
        expect(refused).to.match(message);
      }
    }
  });

  it("refuses wrong options of a client, and never quotes a credential", async () => {
    const valid = { endpoints: ["h:1"], credentials: { token: "t" } };
    const create = (options: object) => createClient({ ...valid, ...options } as never);
    for (const [work, message] of [
      [() => createClient(undefined as never), "options of createClient must be an object, not undefined"],
      [() => create({ endpoint: "h:1" }), "endpoint is not an option of createClient; did you mean endpoints?"],
      [() => create({ endpoints: "h:1" }), "endpoints must be an array, not a string"],
      [() => create({ endpoints: undefined }), "endpoints must name at least one host:port"],
      [() => create({ channel: { keepalive: 1 } }), /^channel.keepalive is not .*did you mean keepaliveTimeMs/],
      [() => create({ tls: { cert: "x" } }), "tls.cert is not an option of tls; did you mean certificate?"],
      [() => create({ tls: true }), "tls must be an object, not a boolean"],
      [
        () => create({ credentials: {} }),
        /^credentials must have a token, a tokenFile, an apiKey, or an email and a password/,
      ],
      [() => create({ credentials: "secret" }), /^credentials must have a token/],
      [() => create({ credentials: { token: "secret", apiKey: "k" } }), /^credentials.apiKey is not an option of/],
      [
        () => create({ credentials: { apiKey: "secret", httpEndpoints: ["http://h"] } }),
        /^credentials.httpEndpoints is not an option of/,
      ],
      [() => create({ httpEndpoints: ["http://h"] }), /^httpEndpoints is not an option of createClient/],
      [() => createAdminClient({ credentials: { token: "t" } } as never), /^endpoint must be host:port/],
    ] as const) {
      const refused = await refusal(work);
      expect(refused).not.to.include("secret");
      if (typeof message === "string") {
        expect(refused).to.equal(message);
      } else {
        expect(refused).to.match(message);
      }
    }
  });
});
