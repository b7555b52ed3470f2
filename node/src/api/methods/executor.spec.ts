import { AcquireLockRequest, AcquireSemaphoreRequest, ReadConsistency, SetLockValueRequest } from "@quoin/proto";
import { expect } from "chai";
import { SingleReplica } from "../../../test/harness/index.ts";
import { FoundedCluster, secrets } from "../../../test/index.ts";
import { Turns } from "../../collections/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import {
  CoordinationError,
  createNamespaceOperation,
  deleteLogOperation,
  type Replayed,
  type RequiredAccess,
  touchKeyOperation,
} from "../../state/index.ts";
import type { Call, CancellableCall } from "./call.ts";
import { Executor } from "./executor.ts";
import type { HostReplica } from "./host.ts";
import { LockMethods } from "./lock-methods.ts";

const VALUE = Uint8Array.of(1);
const NEED: RequiredAccess = { access: "write", namespace: "default" };

describe("executor", () => {
  let cluster: FoundedCluster;
  let replica: SingleReplica;

  beforeEach(() => {
    cluster = new FoundedCluster();
    replica = new SingleReplica(cluster);
  });

  function call(authorize: Call["authorize"] = () => undefined): Call {
    return {
      principal: { subject: cluster.ownerId, apiKeyId: cluster.apiKeyId },
      deadlineMs: 10_000,
      trace: null,
      isGone: false,
      authorize,
      recheck: () => undefined,
      charge: () => undefined,
      hasRequestId: true,
      requestId: () => new Uint8Array(16),
    };
  }

  /** The answer to CreateNamespace "prod". */
  function create(executor: Executor, asked: Call, response: () => unknown = () => "created"): Promise<unknown> {
    return new Promise((resolve) => {
      const reply = (answer: unknown, replayed: Replayed) => resolve([answer, replayed]);
      const operation = () => ({ kind: "create-namespace", namespace: "prod" }) as const;
      executor.mutate(asked, createNamespaceOperation, "prod", operation, response, reply);
    });
  }

  function read(executor: Executor, asked: Call, consistency: ReadConsistency): Promise<unknown> {
    return new Promise((resolve) => {
      const reply = (answer: unknown) => resolve(answer);
      executor.read(
        asked,
        NEED,
        () => ({ consistency }),
        ({ revision }) => `at ${revision}`,
        reply,
      );
    });
  }

  it("proposes no operation on logs and accounts with a request id before all members know the format", async () => {
    const deletion = (asked: Call) => {
      const executor = new Executor({ replica });
      return new Promise<unknown>((resolve) => {
        const operation = () => ({ kind: "delete-log", logId: new Uint8Array(16) }) as const;
        executor.submit(asked, deleteLogOperation, NEED, operation, () => "deleted", resolve);
      });
    };
    const founding = { ...secrets.founding, clusterVersion: 6 };
    cluster = new FoundedCluster(founding);
    replica = new SingleReplica(cluster);
    expect(await deletion(call()))
      .instanceOf(CoordinationError)
      .include({ reason: "NOT_SERVED", outcome: "not-executed" });
    expect(replica.proposed).deep.equal([]);
    const byHttp = { ...call(), hasRequestId: false };
    expect(await deletion(byHttp)).include({ reason: "LOG_NOT_FOUND" });
    replica.lead({ kind: "set-cluster-version", version: 7 });
    expect(await deletion(call())).include({ reason: "LOG_NOT_FOUND" });
    expect(replica.proposed.map(({ request }) => request !== null)).deep.equal([false, true]);
  });

  it("proposes no touch of a key before all members know the operation", async () => {
    const touch = () => {
      const executor = new Executor({ replica });
      const fields = { namespace: "default", key: new Uint8Array(1), ttlSeconds: 1, expectedModRevision: undefined };
      const operation = () => ({ kind: "touch-key", ...fields }) as const;
      return new Promise<unknown>((resolve) => {
        executor.mutate(call(), touchKeyOperation, "default", operation, () => "touched", resolve);
      });
    };
    cluster = new FoundedCluster({ ...secrets.founding, clusterVersion: 6 });
    replica = new SingleReplica(cluster);
    expect(await touch())
      .instanceOf(CoordinationError)
      .include({ reason: "NOT_SERVED", outcome: "not-executed" });
    expect(replica.proposed).deep.equal([]);
    replica.lead({ kind: "set-cluster-version", version: 7 });
    expect(await touch()).include({ reason: "KEY_NOT_FOUND" });
  });

  it("proposes nothing about semaphores and values of holds before all members know them", async () => {
    const lock = { namespace: "default", name: "l" };
    cluster = new FoundedCluster({ ...secrets.founding, clusterVersion: 6 });
    replica = new SingleReplica(cluster);
    const methods = new LockMethods(new Executor({ replica }));
    const asked: CancellableCall = { ...call(), onGone: () => undefined };
    const reasons = (): Promise<readonly string[]> => {
      const asking: readonly ((reply: (answer: unknown) => void) => void)[] = [
        (reply) => methods.createSemaphore(asked, { ...lock, permits: 1, ttlSeconds: 0n }, reply),
        (reply) => methods.acquireSemaphore(asked, AcquireSemaphoreRequest.fromPartial({ ...lock, permits: 1 }), reply),
        (reply) => methods.releaseSemaphore(asked, { ...lock, owner: "", fencingToken: 1n }, reply),
        (reply) => methods.updateSemaphore(asked, { ...lock, permits: 1 }, reply),
        (reply) => methods.deleteSemaphore(asked, { ...lock, force: false }, reply),
        (reply) => methods.setLockValue(asked, SetLockValueRequest.fromPartial({ ...lock, fencingToken: 1n }), reply),
        (reply) => methods.acquireLock(asked, AcquireLockRequest.fromPartial({ ...lock, value: VALUE }), reply),
        (reply) => methods.acquireLock(asked, AcquireLockRequest.fromPartial(lock), reply),
      ];
      return Promise.all(
        asking.map(async (ask) => {
          const answer = await new Promise(ask);
          return answer instanceof CoordinationError ? answer.reason : "OK";
        }),
      );
    };
    expect(await reasons()).deep.equal([...Array(7).fill("NOT_SERVED"), "LOCK_NOT_FOUND"]);
    expect(replica.proposed).to.have.length(1);
  });

  it("counts a read as one more request for each hundred rows that it examines", async () => {
    const executor = new Executor({ replica });
    const charged: number[] = [];
    const asked = { ...call(), charge: (requests: number) => void charged.push(requests) };
    const query = () => ({ consistency: ReadConsistency.LINEARIZABLE });
    for (const rows of [1, 99, 100, 250]) {
      const look = ({ state }: HostReplica) => {
        for (let row = 0; row < rows; row++) {
          state.get(new Uint8Array(1));
        }
        return "read";
      };
      expect(await new Promise((resolve) => executor.read(asked, NEED, query, look, resolve))).equal("read");
    }
    const failing = ({ state }: HostReplica) => {
      state.scan(new Uint8Array(0), new Uint8Array([255]), () => true);
      throw new CoordinationError("KEY_NOT_FOUND", "no such key");
    };
    await new Promise((resolve) => executor.read(asked, NEED, query, failing, resolve));
    expect(charged).deep.equal([1, 2]);
  });

  it("reads in steps, between which others have their turns, and charges for all of them", async () => {
    let nowMs = 0;
    const later: (() => void)[] = [];
    const turns = new Turns({ nowMs: () => nowMs, later: (callback) => void later.push(callback) });
    const told: string[] = [];
    const executor = new Executor({ replica }, (_principal, area) => told.push(area), undefined, turns);
    const charged: number[] = [];
    let checks = 0;
    let isRevoked = false;
    const asked = {
      ...call(),
      charge: (requests: number) => void charged.push(requests),
      recheck: () => {
        checks++;
        if (isRevoked) {
          throw new CoordinationError("TOKEN_REVOKED", "revoked");
        }
      },
    };
    const begin = function* ({ state }: HostReplica, _query: object, mayGoOn: () => boolean) {
      for (let step = 0; step < 3; step++) {
        while (mayGoOn()) {
          nowMs += 0.01;
          state.get(new Uint8Array(1));
        }
        yield;
      }
      return "read";
    };
    const read = () => {
      const answers: unknown[] = [];
      const query = () => ({ consistency: ReadConsistency.LINEARIZABLE });
      executor.readInSteps(asked, NEED, query, begin, (answer) => answers.push(answer), "keys");
      return answers;
    };
    const answers = read();
    turns.wait("another", () => answers.push("another"));
    for (let callback = later.shift(); callback !== undefined; callback = later.shift()) {
      callback();
    }
    expect([answers, told, checks]).to.deep.equal([["another", "read"], ["keys"], 4]);
    expect(charged).to.deep.equal([1, 1, 1]);
    const refused = read();
    isRevoked = true;
    later.shift()?.();
    expect(refused).to.have.lengthOf(1);
    expect(refused[0]).to.include({ reason: "TOKEN_REVOKED" });
  });

  it("reports every read that was answered, with its area, and none that was refused", async () => {
    const told: string[] = [];
    const executor = new Executor({ replica }, ({ subject }, area) => told.push(`${subject} ${area}`));
    await read(executor, call(), ReadConsistency.LINEARIZABLE);
    await read(executor, call(), ReadConsistency.SERIALIZABLE);
    const query = () => ({ consistency: ReadConsistency.LINEARIZABLE });
    await new Promise((resolve) => executor.read(call(), NEED, query, () => "read", resolve, "keys"));
    const refusing = { ...call(), recheck: () => expect.fail("the caller may not") };
    await read(executor, refusing, ReadConsistency.LINEARIZABLE);
    await create(executor, call());
    expect(told).deep.equal([`${cluster.ownerId} other`, `${cluster.ownerId} other`, `${cluster.ownerId} keys`]);
  });

  it("reads nothing for a client that has gone while the read waited for its barrier", async () => {
    const told: string[] = [];
    const executor = new Executor({ replica }, (_principal, area) => told.push(area));
    let isGone = false;
    const asked = {
      ...call(),
      get isGone(): boolean {
        return isGone;
      },
    };
    const answer = new Promise((resolve) => {
      const query = () => {
        isGone = true;
        return { consistency: ReadConsistency.LINEARIZABLE };
      };
      executor.read(asked, NEED, query, () => expect.fail("it is read"), resolve);
    });
    expect(await answer).to.have.property("reason", "DEADLINE");
    expect(told).to.deep.equal([]);
  });

  it("checks the caller again when a read has waited for its turn", async () => {
    const later: (() => void)[] = [];
    const turns = new Turns({ nowMs: () => 0, later: (callback) => void later.push(callback) });
    const executor = new Executor({ replica }, undefined, undefined, turns);
    expect(await read(executor, call(), ReadConsistency.LINEARIZABLE)).equal("at 1");
    const revoked = new CoordinationError("TOKEN_REVOKED", "revoked");
    let isRevoked = false;
    const asked = {
      ...call(),
      recheck: () => {
        if (isRevoked) {
          throw revoked;
        }
      },
    };
    turns.wait("another caller", () => undefined);
    const answer = read(executor, asked, ReadConsistency.SERIALIZABLE);
    isRevoked = true;
    for (const callback of later.splice(0)) {
      callback();
    }
    expect(await answer).equal(revoked);
    expect(turns.waiting).equal(0);
  });

  it("reads nothing of a member that has stopped to serve while the read waited for its turn", async () => {
    const later: (() => void)[] = [];
    const turns = new Turns({ nowMs: () => 0, later: (callback) => void later.push(callback) });
    const member: { replica: SingleReplica | null } = { replica };
    const executor = new Executor(member, undefined, undefined, turns);
    turns.wait("another caller", () => undefined);
    const query = () => ({ consistency: ReadConsistency.LINEARIZABLE });
    const answer = new Promise((resolve) => {
      executor.read(call(), NEED, query, () => expect.fail("it is read"), resolve);
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(turns.waiting).equal(2);
    member.replica = null;
    for (const callback of later.splice(0)) {
      callback();
    }
    expect(await answer).to.have.property("reason", "NO_LEADER");
  });

  it("answers at once or later, depending on the authorisation", async () => {
    const executor = new Executor({ replica });
    expect(await create(executor, call())).deep.equal(["created", "no"]);
    expect(
      await create(
        executor,
        call(() => Promise.resolve()),
      ),
    ).deep.equal(["created", "yes"]);
    expect(
      await read(
        executor,
        call(() => Promise.resolve()),
        ReadConsistency.LINEARIZABLE,
      ),
    ).equal("at 2");
  });

  it("does nothing for a caller whom the authorisation refuses, at once or later", async () => {
    const executor = new Executor({ replica });
    const refusal = new CoordinationError("ACCESS_DENIED", "no");
    const atOnce = call(() => {
      throw refusal;
    });
    for (const asked of [atOnce, call(() => Promise.reject(refusal))]) {
      expect(await create(executor, asked)).deep.equal([refusal, "no"]);
      expect(await read(executor, asked, ReadConsistency.LINEARIZABLE)).equal(refusal);
      expect(await read(executor, asked, ReadConsistency.SERIALIZABLE)).equal(refusal);
    }
    expect(replica.proposed).deep.equal([]);
    expect(cluster.barriers).deep.equal([]);
  });

  it("checks the fields before the barrier, and the caller after it", async () => {
    const executor = new Executor({ replica });
    const refusal = new CoordinationError("BAD_FIELD", "bad");
    const answer = await new Promise((resolve) => {
      const query = () => {
        throw refusal;
      };
      executor.read(call(), NEED, query, () => "read", resolve);
    });
    expect(answer).equal(refusal);
    expect(cluster.barriers).deep.equal([]);
    const revoked = new CoordinationError("TOKEN_REVOKED", "revoked");
    const asked = {
      ...call(),
      recheck: () => {
        throw revoked;
      },
    };
    expect(await read(executor, asked, ReadConsistency.LINEARIZABLE)).equal(revoked);
    expect(cluster.barriers).deep.equal([10_000]);
  });

  it("P12, P13, P14: skips the round to a quorum only for serializable reads, however recently the leader confirmed", async () => {
    const executor = new Executor({ replica }, undefined, cluster.clock);
    replica.leaderId = 1;
    await read(executor, call(), ReadConsistency.LINEARIZABLE);
    cluster.barriers.length = 0;
    await read(executor, call(), ReadConsistency.SERIALIZABLE);
    expect(cluster.barriers).deep.equal([]);
    // The time since a message from the leader proves nothing: the next read waits for a barrier again.
    for (let asked = 1; asked <= 3; asked++) {
      await read(executor, call(), ReadConsistency.LINEARIZABLE);
      expect(cluster.barriers).lengthOf(asked);
    }
  });

  it("S39: reads serializable only after a barrier that began in the last second, and checks the caller after it", async () => {
    const executor = new Executor({ replica }, undefined, cluster.clock);
    const serializable = (asked = call()) => read(executor, asked, ReadConsistency.SERIALIZABLE);
    const barriersOf = async (reads: number): Promise<number> => {
      const before = cluster.barriers.length;
      for (let left = reads; left > 0; left--) {
        expect(await serializable()).equal("at 1");
      }
      return cluster.barriers.length - before;
    };
    expect(await barriersOf(5)).equal(1);
    cluster.clock.monotonic += 1_000;
    expect(await barriersOf(5)).equal(0);
    cluster.clock.monotonic += 1;
    // Its age counts from its beginning: a read need not see what was committed during the barrier.
    cluster.onBarrier = (done) => {
      cluster.clock.monotonic += 600;
      done(null);
    };
    expect(await barriersOf(1)).equal(1);
    cluster.clock.monotonic += 400;
    expect(await barriersOf(1)).equal(0);
    cluster.clock.monotonic += 1;
    const revoked = new CoordinationError("TOKEN_REVOKED", "revoked");
    const refusing = {
      ...call(),
      recheck: () => {
        throw revoked;
      },
    };
    expect(await serializable(refusing)).equal(revoked);
    const failed = new CoordinationError("NO_LEADER", "no leader");
    cluster.clock.monotonic += 2_000;
    cluster.onBarrier = (done) => done(failed);
    expect(await serializable()).equal(failed);
    expect(await serializable(), "a barrier that failed proves nothing").equal(failed);
  });

  it("S39: reads serializable only from a state younger than a second, which bounds the effect of a revocation", async () => {
    const executor = new Executor({ replica }, undefined, cluster.clock);
    await read(executor, call(), ReadConsistency.LINEARIZABLE);
    cluster.barriers.length = 0;
    replica.lagMs = 1_000;
    expect(await read(executor, call(), ReadConsistency.SERIALIZABLE)).equal("at 1");
    replica.lagMs = 1_001;
    const refused = await read(executor, call(), ReadConsistency.SERIALIZABLE);
    expect(refused).instanceOf(CoordinationError).include({ reason: "NO_LEADER", outcome: "not-executed" });
    expect(cluster.barriers).deep.equal([]);
  });

  it("replies with a bug as an error, wherever it occurs, and never throws it", async () => {
    const executor = new Executor({ replica });
    const bug = new TypeError("a bug");
    const failing = () => {
      throw bug;
    };
    expect(await create(executor, call(), failing)).deep.equal([bug, "no"]);
    replica.onPropose = failing;
    expect(
      await create(
        executor,
        call(() => Promise.resolve()),
      ),
    ).deep.equal([bug, "no"]);
  });

  it("treats the result of another operation as a broken invariant", async () => {
    const executor = new Executor({ replica });
    replica.onPropose = (_command, done) =>
      done(null, { answer: { kind: "delete-key", previous: null, revision: 3 }, replayed: "no" });
    const [answer] = (await create(executor, call())) as readonly unknown[];
    expect(answer).instanceOf(InvariantViolation);
  });

  it("refuses everything while the member has no replica", async () => {
    const executor = new Executor({ replica: null });
    const answers = [
      ((await create(executor, call())) as readonly unknown[])[0],
      await read(executor, call(), ReadConsistency.LINEARIZABLE),
      await read(executor, call(), ReadConsistency.SERIALIZABLE),
    ];
    for (const answer of answers) {
      expect(answer).instanceOf(CoordinationError).include({ reason: "NO_LEADER", outcome: "not-executed" });
    }
  });
});
