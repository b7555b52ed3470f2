import { randomUUID } from "node:crypto";
import {
  CompareAndSwapRequest,
  DeleteKeyRequest,
  GetKeyRequest,
  PutKeyRequest,
  serviceDefinitions,
} from "@quoin/proto";
import { expect } from "chai";
import {
  type CallOptions,
  type GrpcCaller,
  GrpcPorts,
  grpcFrame,
  rawGrpcCall,
  verdict,
} from "../../../test/harness/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { CoordinationError } from "../../state/index.ts";

const { compareAndSwap, createNamespace, deleteKey, getKey, putKey } = serviceDefinitions.KeyValueService;
const PUT = PutKeyRequest.fromPartial({ namespace: "default", key: "k", value: Buffer.from("v") });
const PUT_BYTES = Buffer.from(PutKeyRequest.encode(PUT).finish());

function withRequestId(requestId: string): CallOptions {
  return { metadata: new Map([["request-id", requestId]]) };
}

describe("unary call", () => {
  let ports: GrpcPorts;
  let owner: GrpcCaller;
  let ownerToken: string;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
    ownerToken = await ports.token();
    owner = ports.caller(ownerToken);
  });

  afterEach(() => ports.close());

  /** The headers of a valid call. */
  function rawHeaders() {
    return { authorization: `Bearer ${ownerToken}`, "api-version": "v1", "request-id": randomUUID() };
  }

  describe("order of checks", () => {
    it("reports the first error in the order of the contract", async () => {
      const broken = new Map<string, string | null>([
        ["authorization", null],
        ["api-version", "v2"],
        ["request-id", "not a UUID"],
      ]);
      const badUtf8 = Buffer.from(PUT_BYTES);
      badUtf8[badUtf8.indexOf("k", 10)] = 0xff;
      const call = (request: PutKeyRequest | Buffer) => owner.call(putKey, request, { metadata: broken });

      expect(verdict(await call(badUtf8)), "1: token").deep.equal(["UNAUTHENTICATED", "TOKEN_INVALID"]);
      const viewer = await ports.token({ role: "viewer", namespaces: ["prod"] });
      broken.set("authorization", `Bearer ${viewer}`);
      expect(verdict(await call(badUtf8)), "2: api-version").deep.equal([
        ...["INVALID_ARGUMENT", "BAD_METADATA", "api-version"],
      ]);
      broken.set("api-version", "v1");
      expect(verdict(await call(badUtf8)), "3: request-id").deep.equal([
        ...["INVALID_ARGUMENT", "BAD_METADATA", "request-id"],
      ]);
      broken.delete("request-id");
      expect(verdict(await call(badUtf8)), "4: decoding").deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "key"]);
      const request = { ...PUT, key: "", expectedModRevision: 7n };
      expect(verdict(await call(request)), "5: namespace").deep.equal(["PERMISSION_DENIED", "NAMESPACE_DENIED"]);
      request.namespace = "prod";
      expect(verdict(await call(request)), "5: access").deep.equal(["PERMISSION_DENIED", "ACCESS_DENIED"]);
      const member = await ports.token({ role: "member", namespaces: ["prod"] });
      broken.set("authorization", `Bearer ${member}`);
      expect(verdict(await call(request)), "6: fields").deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "key"]);
      request.key = "k";
      expect(ports.replica.proposed.length, "nothing was proposed before step 7").equal(0);
      expect(verdict(await call(request)), "7: namespace").deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
      await owner.ask(createNamespace, { namespace: "prod" });
      expect(verdict(await call(request)), "8: state").deep.equal(["FAILED_PRECONDITION", "REVISION_MISMATCH"]);
      request.expectedModRevision = 0n;
      expect((await call(request)).code).equal("OK");
    });

    it("checks access before existence: no oracle for other namespaces (S43)", async () => {
      const caller = ports.caller(await ports.token({ role: "member", namespaces: ["prod"] }));
      const refused = ["PERMISSION_DENIED", "NAMESPACE_DENIED"];
      for (const namespace of ["default", "no-such-namespace", "prod-eu", "pro", "", "*"]) {
        const request = GetKeyRequest.fromPartial({ namespace, key: "k" });
        expect(verdict(await caller.call(getKey, request)), namespace).deep.equal(refused);
      }
    });

    it("refuses because of replicated records only after a read barrier and a second check", async () => {
      const { cluster } = ports.member;
      cluster.changeOwner({ role: "viewer" });
      cluster.barriers.length = 0;
      expect(verdict(await owner.call(putKey, PUT))).deep.equal(["PERMISSION_DENIED", "ACCESS_DENIED"]);
      expect(cluster.barriers).have.length(1);
      // The barrier brings the entry that restores the access.
      cluster.onBarrier = (done) => {
        cluster.changeOwner({ role: "owner" });
        done(null);
      };
      expect((await owner.call(putKey, PUT)).code).equal("OK");
    });

    it("does not refuse because of records while barriers fail, but answers NO_LEADER", async () => {
      const { cluster } = ports.member;
      cluster.changeApiKey({ revokedAtMs: 1 });
      cluster.onBarrier = (done) => done(new CoordinationError("NO_LEADER", "no leader"));
      const answer = await owner.call(putKey, PUT);
      expect(verdict(answer)).deep.equal(["UNAVAILABLE", "NO_LEADER"]);
      expect(answer.trailers.get("outcome")).deep.equal(["not-executed"]);
    });
  });

  describe("metadata", () => {
    it("refuses repeated request-id and api-version", async () => {
      for (const [name, value] of [
        ["request-id", randomUUID()],
        ["api-version", "v1"],
      ] as const) {
        const answer = await owner.call(putKey, PUT, { metadata: new Map([[name, [value, value]]]) });
        expect(verdict(answer)).deep.equal(["INVALID_ARGUMENT", "BAD_METADATA", name]);
      }
    });

    it("refuses two authorization headers, whichever is good", async () => {
      const second = { ...rawHeaders(), authorization: [`Bearer ${ownerToken}`, "Bearer other"] };
      expect((await rawGrpcCall(ports.publicPort, putKey.path, second, grpcFrame(PUT_BYTES))).grpcStatus).equal("16");
      const first = { ...rawHeaders(), authorization: ["Bearer other", `Bearer ${ownerToken}`] };
      expect((await rawGrpcCall(ports.publicPort, putKey.path, first, grpcFrame(PUT_BYTES))).grpcStatus).equal("16");
    });

    it("prints no token to the console, not even one that metadata may not contain", async () => {
      const written: string[] = [];
      const { error, warn, log, info } = console;
      const note = (...parts: readonly unknown[]) => {
        written.push(parts.join(" "));
      };
      Object.assign(console, { error: note, warn: note, log: note, info: note });
      try {
        const headers = { ...rawHeaders(), authorization: `Bearer ${ownerToken}\u00ff` };
        const answer = await rawGrpcCall(ports.publicPort, putKey.path, headers, grpcFrame(PUT_BYTES));
        expect(answer.grpcStatus).equal("16");
      } finally {
        Object.assign(console, { error, warn, log, info });
      }
      expect(written).deep.equal([]);
      expect(ports.reported).deep.equal([]);
    });
  });

  describe("decoding", () => {
    it("refuses text that is not UTF-8, naming the field", async () => {
      const guarded = { ...PUT, guard: { lockName: "lock", fencingToken: 1n, rw: false } };
      const bytes = Buffer.from(PutKeyRequest.encode(guarded).finish());
      bytes[bytes.indexOf("lock")] = 0xc0;
      const answer = await owner.call(putKey, bytes);
      expect(verdict(answer)).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "guard.lock_name"]);
      expect(answer.message).to.include("guard.lock_name is not valid UTF-8");
    });

    it("distinguishes two keys that a lenient decoder would make equal", async () => {
      for (const byte of [0xfe, 0xff]) {
        const bytes = Buffer.from(PUT_BYTES);
        bytes[bytes.indexOf("k", 10)] = byte;
        expect((await owner.call(putKey, bytes)).code).equal("INVALID_ARGUMENT");
      }
      expect(ports.replica.proposed.length).equal(0);
    });

    it("refuses an int64 above 2^53 - 1 with the field's name, never rounded (S17)", async () => {
      const tooMuch = 2n ** 53n;
      const cases: readonly (readonly [Partial<PutKeyRequest>, string])[] = [
        [{ ttlSeconds: tooMuch }, "ttl_seconds"],
        [{ ttlSeconds: -tooMuch }, "ttl_seconds"],
        [{ expectedModRevision: tooMuch + 1n }, "expected_mod_revision"],
        [{ guard: { lockName: "l", fencingToken: tooMuch, rw: false } }, "guard.fencing_token"],
      ];
      for (const [fields, field] of cases) {
        const answer = await owner.call(putKey, { ...PUT, ...fields });
        expect(verdict(answer)).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", field]);
        expect(answer.message).to.include("2^53");
      }
      const largest = await owner.call(putKey, { ...PUT, expectedModRevision: tooMuch - 1n });
      expect(verdict(largest)).deep.equal(["FAILED_PRECONDITION", "REVISION_MISMATCH"]);
    });

    it("refuses bytes that are not a message", async () => {
      for (const bytes of [Buffer.from([0x0a]), Buffer.from([0x0a, 0x05, 0x61]), Buffer.from([0x07])]) {
        const answer = await owner.call(putKey, bytes);
        expect([answer.code, answer.reason], bytes.toString("hex")).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD"]);
      }
    });

    it("refuses more fields than a client ever sends, before they are decoded", async () => {
      const empty = Buffer.alloc(2 * 20_001, Buffer.of(0x3a, 0));
      const answer = await owner.call(putKey, Buffer.concat([PUT_BYTES, empty]));
      expect([answer.code, answer.reason]).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD"]);
      expect(answer.message).equal("the request must have at most 20000 fields");
    });

    it("takes 100,000 fields of a transaction, and not one more", async () => {
      const { transact } = serviceDefinitions.TransactionService;
      // The guard, 100,000 times.
      const most = Buffer.alloc(2 * 100_000, Buffer.of(0x2a, 0));
      const decoded = await owner.call(transact, most);
      expect(verdict(decoded)).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "namespace"]);
      const answer = await owner.call(transact, Buffer.concat([most, most.subarray(0, 2)]));
      expect([answer.code, answer.reason]).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD"]);
      expect(answer.message).equal("the request must have at most 100000 fields");
    });

    it("ignores fields that it does not know", async () => {
      const unknown = Buffer.from([0xa2, 0x06, 0x02, 0xff, 0xff, 0xa8, 0x06, 0x01]);
      expect((await owner.call(putKey, Buffer.concat([PUT_BYTES, unknown]))).code).equal("OK");
      const found = await owner.ask(getKey, { namespace: "default", key: "k" });
      expect(Buffer.from(found.response?.value ?? []).toString()).equal("v");
    });
  });

  describe("deadline", () => {
    it("never executes a call whose deadline has passed", async () => {
      for (const timeout of ["0m", "0n", "1n", "999u"]) {
        const headers = { ...rawHeaders(), "grpc-timeout": timeout };
        const answer = await rawGrpcCall(ports.publicPort, putKey.path, headers, grpcFrame(PUT_BYTES));
        expect(answer.grpcStatus, timeout).equal("4");
        expect(answer.headers).include({ "error-reason": "DEADLINE", outcome: "unknown" });
      }
      expect(ports.replica.proposed.length).equal(0);
    });

    it("has the trailers of the contract even if the library enforces it, because the request never arrived", async () => {
      const headers = { ...rawHeaders(), "grpc-timeout": "50m" };
      const answer = await rawGrpcCall(ports.publicPort, putKey.path, headers, grpcFrame(PUT_BYTES).subarray(0, 7), {
        endStream: false,
      });
      expect(answer.grpcStatus).equal("4");
      expect(answer.headers).include({ "error-reason": "DEADLINE", outcome: "unknown" });
      expect(answer.headers["leader-endpoint"]).equal("127.0.0.1:7400");
      expect(answer.headers["grpc-status-details-bin"]).a("string");
    });

    it("answers unknown when it passes, whatever happens later; a retry returns the real answer (S12)", async () => {
      const { replica } = ports.member;
      const executed: (() => void)[] = [];
      const execute = replica?.onPropose;
      if (replica === null || execute === undefined) {
        throw new Error("the member serves");
      }
      replica.onPropose = (command, done) => {
        const outcome = replica.execute(command);
        executed.push(() => done(null, outcome));
      };
      const headers = { ...rawHeaders(), "grpc-timeout": "100m" };
      const missed = await rawGrpcCall(ports.publicPort, putKey.path, headers, grpcFrame(PUT_BYTES));
      expect(missed.grpcStatus).equal("4");
      expect(missed.headers["error-reason"]).equal("DEADLINE");
      expect(missed.headers.outcome).equal("unknown");
      for (const answerLate of executed) {
        answerLate();
      }

      replica.onPropose = execute;
      const retried = await owner.call(putKey, PUT, withRequestId(headers["request-id"]));
      expect(retried.response?.modRevision).equal(2n);
      expect(retried.headers.get("replayed")).deep.equal(["true"]);
      expect(replica.revision).equal(2);
    });

    /** Client and server use whole milliseconds, on different clocks. */
    const ROUNDING_MS = 10;

    it("reaches the replica: what the client sets, 5 s without, at most 60 s", async () => {
      const { cluster } = ports.member;
      const request = GetKeyRequest.fromPartial({ namespace: "default", key: "k" });
      for (const [timeoutMs, allowedMs] of [
        [undefined, 5_000],
        [20_000, 20_000],
        [600_000, 60_000],
      ] as const) {
        cluster.barriers.length = 0;
        const beforeMs = performance.now();
        await owner.call(getKey, request, timeoutMs === undefined ? {} : { timeoutMs });
        const afterMs = performance.now();
        expect(cluster.barriers[0]).within(beforeMs + allowedMs - ROUNDING_MS, afterMs + allowedMs + ROUNDING_MS);
      }
    });
  });

  describe("replay (S13)", () => {
    it("answers the same request with the same id again, marked, and does not execute it again", async () => {
      const id = randomUUID();
      const first = await owner.call(putKey, PUT, withRequestId(id));
      const second = await owner.call(putKey, PUT, withRequestId(id.toUpperCase()));
      expect(first.headers.get("replayed")).deep.equal([]);
      expect(second.headers.get("replayed")).deep.equal(["true"]);
      expect(second.response).deep.equal(first.response);
      expect(ports.replica.revision).equal(2);
    });

    it("refuses the id for another request or another method", async () => {
      const id = randomUUID();
      await owner.call(putKey, PUT, withRequestId(id));
      const reused = ["INVALID_ARGUMENT", "REQUEST_ID_REUSED"];
      expect(verdict(await owner.call(putKey, { ...PUT, key: "other" }, withRequestId(id)))).deep.equal(reused);
      const sameBytes = await owner.call(deleteKey, PUT_BYTES, withRequestId(id));
      expect(verdict(sameBytes)).deep.equal(reused);
      expect(ports.replica.revision).equal(2);
    });

    it("repeats a refusal by the state, even if the state has changed", async () => {
      const id = randomUUID();
      const request = DeleteKeyRequest.fromPartial({ namespace: "default", key: "k" });
      const first = await owner.call(deleteKey, request, withRequestId(id));
      await owner.call(putKey, PUT);
      const second = await owner.call(deleteKey, request, withRequestId(id));
      expect([first, second].map(verdict)).deep.equal(Array(2).fill(["NOT_FOUND", "KEY_NOT_FOUND"]));
      expect(first.trailers.get("replayed")).deep.equal([]);
      expect(second.trailers.get("replayed")).deep.equal(["true"]);
    });

    it("stores nothing for calls that the first six steps refuse", async () => {
      const id = randomUUID();
      expect((await owner.call(putKey, { ...PUT, key: "" }, withRequestId(id))).code).equal("INVALID_ARGUMENT");
      expect((await owner.call(putKey, PUT, withRequestId(id))).code).equal("OK");
    });

    describe("of answers above 4 KiB", () => {
      const LARGE = { ...PUT, value: Buffer.alloc(5_000, "x") };
      const SWAP = CompareAndSwapRequest.fromPartial({ namespace: "default", key: "k", newValue: Buffer.from("y") });
      /** Calls whose answer contains the large value of the key. */
      const CALLS = [
        (metadata: CallOptions) => owner.call(putKey, { ...PUT, returnPrevious: true }, metadata),
        (metadata: CallOptions) =>
          owner.call(deleteKey, { namespace: "default", key: "k", returnPrevious: true } as DeleteKeyRequest, metadata),
        (metadata: CallOptions) => owner.call(compareAndSwap, SWAP, metadata),
        (metadata: CallOptions) =>
          owner.call(compareAndSwap, { ...SWAP, newValue: LARGE.value, expectedValue: LARGE.value }, metadata),
      ] as const;

      async function later(): Promise<void> {
        const value = Buffer.from("of later");
        await owner.call(putKey, { ...PUT, value });
      }

      it("is complete: values that are not stored twice are in the request, the key, or the history", async () => {
        for (const hasChanged of [false, true]) {
          for (const [at, call] of CALLS.entries()) {
            await owner.call(putKey, LARGE);
            const id = withRequestId(randomUUID());
            const first = await call(id);
            expect(first.code, String(at)).equal("OK");
            if (hasChanged) {
              await later();
            }
            const second = await call(id);
            expect(second.headers.get("replayed"), String(at)).deep.equal(["true"]);
            expect(second.response, String(at)).deep.equal(first.response);
          }
        }
      });

      it("marks what is missing once the history has dropped it", async () => {
        const missing: unknown[] = [];
        for (const call of CALLS) {
          await owner.call(putKey, LARGE);
          const id = withRequestId(randomUUID());
          const first = await call(id);
          await later();
          const { replica } = ports.member;
          replica?.lead({
            kind: "compact-history",
            revision: replica.revision + 1,
            subject: "spec",
            request: null,
          });
          replica?.lead({ kind: "trim-history", countMax: 100 });
          const second = await call(id);
          const without = { ...first.response, ...second.response } as Record<string, unknown>;
          missing.push([second.headers.get("replayed")[0], without.previousValueOmitted, without.currentValueOmitted]);
          const { previous, currentValue, ...others } = first.response as unknown as Record<string, unknown>;
          const omitted = { previousValueOmitted: true, currentValueOmitted: true };
          if (second.headers.get("replayed")[0] === "true") {
            expect(second.response).deep.equal(first.response);
          } else {
            const empty = new Uint8Array(0);
            const named = Object.fromEntries(Object.entries(omitted).filter(([field]) => field in others));
            expect(second.response).deep.equal({
              ...others,
              ...named,
              ...(previous === undefined ? {} : { previous: { ...(previous as object), value: empty } }),
              ...(currentValue === undefined ? {} : { currentValue: empty }),
            });
          }
        }
        expect(missing).deep.equal([
          ["no-values", true, undefined],
          ["no-values", true, undefined],
          ["no-values", undefined, true],
          // The value that was swapped in is in the request.
          ["true", undefined, false],
        ]);
      });

      it("takes the value of a failed swap from the key, if it has not changed, without any history", async () => {
        await owner.call(putKey, LARGE);
        const { replica } = ports.member;
        replica?.lead({ kind: "compact-history", revision: replica.revision + 1, subject: "spec", request: null });
        replica?.lead({ kind: "trim-history", countMax: 100 });
        const id = withRequestId(randomUUID());
        const first = await owner.call(compareAndSwap, SWAP, id);
        const second = await owner.call(compareAndSwap, SWAP, id);
        expect(second.response).deep.equal(first.response);
        expect(second.headers.get("replayed")).deep.equal(["true"]);
      });
    });
  });

  describe("errors", () => {
    it("contain the leader's address, if a leader is known", async () => {
      const request = GetKeyRequest.fromPartial({ namespace: "default", key: "k" });
      const known = await owner.call(getKey, request);
      expect(known.trailers.get("leader-endpoint")).deep.equal(["127.0.0.1:7400"]);
      ports.replica.leaderId = 0;
      expect((await owner.call(getKey, request)).trailers.get("leader-endpoint")).deep.equal([]);
    });

    it("of the replica are passed on with their outcome", async () => {
      const { replica } = ports.member;
      for (const outcome of ["unknown", "not-executed"] as const) {
        (replica as NonNullable<typeof replica>).onPropose = (_command, done) =>
          done(new CoordinationError("LEADER_CHANGED", "the leader changed", { outcome }), null);
        const answer = await owner.call(putKey, PUT);
        expect(verdict(answer)).deep.equal(["UNAVAILABLE", "LEADER_CHANGED"]);
        expect(answer.trailers.get("outcome")).deep.equal([outcome]);
        expect(answer.details?.retryDelayMs).greaterThan(0);
      }
    });

    it("that are bugs are answered as INTERNAL and logged by request id, without the request", async () => {
      const { replica } = ports.member;
      (replica as NonNullable<typeof replica>).onPropose = () => {
        throw new TypeError("a bug");
      };
      const id = randomUUID();
      const request = { ...PUT, key: "secret-key", value: Buffer.from("secret-value") };
      const answer = await owner.call(putKey, request, withRequestId(id));
      expect(verdict(answer)).deep.equal(["INTERNAL", "INTERNAL"]);
      expect(answer.message).not.to.include("a bug");
      expect(ports.reported).have.length(1);
      const { err, ...fields } = ports.reported[0]?.fields ?? {};
      expect(fields).deep.equal({ method: putKey.path, requestId: id });
      expect(err).instanceOf(TypeError);
      expect(String((err as Error).stack)).not.to.include("secret");
    });

    it("that break an invariant end the process", async () => {
      const violation = new InvariantViolation("a rule of the spec");
      const { replica } = ports.member;
      (replica as NonNullable<typeof replica>).onPropose = () => {
        throw violation;
      };
      const listeners = process.listeners("uncaughtException");
      process.removeAllListeners("uncaughtException");
      const uncaught = new Promise((resolve) => process.once("uncaughtException", resolve));
      try {
        const unanswered = owner.call(putKey, PUT);
        expect(await uncaught).equal(violation);
        expect(ports.reported).deep.equal([]);
        await ports.publicServer.stop(0);
        expect((await unanswered).code).oneOf(["UNAVAILABLE", "CANCELLED"]);
      } finally {
        for (const listener of listeners) {
          process.on("uncaughtException", listener);
        }
      }
    });

    it("are NO_LEADER while the member serves no cluster, before any other check", async () => {
      ports.member.stopServing();
      const answer = await owner.call(putKey, PUT, { metadata: new Map([["authorization", null]]) });
      expect(verdict(answer)).deep.equal(["UNAVAILABLE", "NO_LEADER"]);
      expect(answer.trailers.get("outcome")).deep.equal(["not-executed"]);
    });
  });
});
