import { expect } from "chai";
import { CoordinationError, type Outcome, type RenewSessions } from "../../state/index.ts";
import type { HostReplica } from "./host.ts";
import { RENEWED_MAX, SessionRenewals } from "./session-renewals.ts";

type Done = (error: CoordinationError | null, outcome: Outcome | null) => void;

interface Proposed {
  readonly operation: RenewSessions;
  readonly deadlineMs: number;
  readonly done: Done;
}

class FakeReplica {
  readonly proposed: Proposed[] = [];

  get asHost(): HostReplica {
    const proposeClusterOperation = (operation: RenewSessions, deadlineMs: number, done: Done) =>
      this.proposed.push({ operation, deadlineMs, done });
    return { proposeClusterOperation } as unknown as HostReplica;
  }
}

describe("SessionRenewals", () => {
  let replica: FakeReplica;
  let host: HostReplica;
  let renewals: SessionRenewals;
  /** Pauses in milliseconds, of timers that run. */
  let timers: Map<() => void, number>;
  let answers: unknown[][];

  beforeEach(() => {
    replica = new FakeReplica();
    host = replica.asHost;
    timers = new Map();
    answers = [];
    renewals = new SessionRenewals({
      every: (intervalMs, act) => {
        timers.set(act, intervalMs);
        return () => timers.delete(act);
      },
    });
  });

  function add(subject: string, sessionIds: readonly number[], { deadlineMs = 10, at = host } = {}): void {
    const renewal = { principal: { subject, apiKeyId: "" }, namespace: "n", sessionIds };
    renewals.add(at, renewal, deadlineMs, (...answer) => answers.push([subject, ...answer]));
  }

  /** Lets the tenth of a second pass. */
  function pass(): void {
    for (const act of [...timers.keys()]) {
      act();
    }
  }

  function subjectsOf({ operation }: Proposed): readonly string[] {
    return operation.renewals.map(({ principal }) => principal.subject);
  }

  it("writes what has come within 100 ms together, with the last deadline, and gives each its answer", () => {
    add("anna", [1, 2], { deadlineMs: 20 });
    add("ben", [3]);
    add("carl", [4]);
    expect([...timers.values()]).to.deep.equal([100]);
    expect(replica.proposed).to.deep.equal([]);
    pass();
    pass();
    expect(timers.size, "no timer is left").to.equal(0);
    const [proposed, ...others] = replica.proposed;
    expect(others).to.deep.equal([]);
    expect([subjectsOf(proposed as Proposed), proposed?.deadlineMs]).to.deep.equal([["anna", "ben", "carl"], 20]);
    const renewed = [
      [
        { sessionId: 1, deadlineMs: 1_500 },
        { sessionId: 2, deadlineMs: 0 },
      ],
      [{ sessionId: 3, deadlineMs: 1_000 }],
      null,
    ];
    const answer = { kind: "renew-sessions", renewed, tickMs: 1_000, revision: 7 };
    proposed?.done(null, { answer, replayed: "no" } as unknown as Outcome);
    expect(answers).to.deep.equal([
      ["anna", null, [500n, 0n], 7],
      ["ben", null, [1n], 7],
      ["carl", null, null, 7],
    ]);
  });

  it("writes at most 500 sessions together", () => {
    const ids = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
    add("anna", ids(RENEWED_MAX - 1));
    add("ben", [1]);
    add("carl", [1]);
    expect(replica.proposed.map(subjectsOf)).to.deep.equal([["anna", "ben"]]);
    pass();
    expect(replica.proposed.map(subjectsOf)).to.deep.equal([["anna", "ben"], ["carl"]]);
  });

  it("gives each user 500 sessions in 100 ms, and refuses more with RATE_LIMITED", () => {
    const ids = Array.from({ length: RENEWED_MAX }, (_, at) => at + 1);
    add("anna", ids.slice(1));
    add("anna", [1]);
    add("anna", [2]);
    add("ben", [2]);
    const refused = answers.map(([subject, error]) => [subject, (error as CoordinationError).reason]);
    expect(refused).to.deep.equal([["anna", "RATE_LIMITED"]]);
    pass();
    expect(replica.proposed.map(subjectsOf)).to.deep.equal([["anna", "anna"], ["ben"]]);
    add("anna", ids);
    expect(answers).to.have.length(1);
  });

  it("never gives renewals to another replica than that of their calls", () => {
    const other = new FakeReplica();
    add("anna", [1]);
    add("ben", [1], { at: other.asHost });
    expect(replica.proposed.map(subjectsOf)).to.deep.equal([["anna"]]);
    pass();
    expect(other.proposed.map(subjectsOf)).to.deep.equal([["ben"]]);
  });

  it("gives all of them the error", () => {
    add("anna", [1]);
    add("ben", [2]);
    pass();
    const error = new CoordinationError("NO_LEADER", "an election");
    replica.proposed[0]?.done(error, null);
    expect(answers).to.deep.equal([
      ["anna", error, null, 0],
      ["ben", error, null, 0],
    ]);
  });
});
