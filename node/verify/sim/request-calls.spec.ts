import { expect } from "chai";
import { CoordinationError } from "../../src/state/index.ts";
import { OWNER } from "../../test/index.ts";
import type { Process } from "./process.ts";
import { type Answer, RequestCalls, type RequestCallsOptions } from "./request-calls.ts";
import type { Request } from "./requests.ts";

describe("the outcome of a request whose caller leaves", () => {
  /** The result of the process for the call; `leave` returns whether the call was still open. */
  let end: (answer: Answer | null) => void;
  let isOpen: boolean;
  let request: Request;
  let calls: RequestCalls;

  function send(): () => void {
    const options = {
      trace: { record: () => undefined },
      accounts: { beginChange: () => () => undefined },
      requests: { onEnd: () => undefined, onAnswer: () => undefined },
      calls: {
        callUntilLeft: (...[, , , , onEnd]: [unknown, unknown, unknown, unknown, (answer: Answer | null) => void]) => {
          end = onEnd;
          return () => isOpen;
        },
      },
    } as unknown as RequestCallsOptions;
    const operation = { kind: "delete-key", namespace: "n", key: new Uint8Array(1), expectedModRevision: undefined };
    const requestId = new Uint8Array(16);
    request = { requestId, principal: OWNER, operation, isUncertain: false, refusals: 0 } as unknown as Request;
    calls = new RequestCalls(options);
    return calls.send({ memberId: 1 } as Process, request, 1_000, () => undefined);
  }

  beforeEach(() => {
    isOpen = true;
  });

  it("is not known while the call is open", () => {
    const leave = send();
    expect(request.isUncertain).to.equal(false);
    leave();
    expect(request.isUncertain).to.equal(true);
  });

  it("is not known once the process is lost, though the caller hears of it a moment later", () => {
    const leave = send();
    isOpen = false;
    leave();
    expect(request.isUncertain).to.equal(true);
  });

  it("is what was answered before", () => {
    const leave = send();
    end({ error: null, outcome: { answer: { kind: "delete-key" } } as unknown as Answer["outcome"] });
    isOpen = false;
    leave();
    expect(request.isUncertain).to.equal(false);
  });

  for (const [error, failures] of [
    [new CoordinationError("NO_LEADER", "no leader"), 1],
    [new CoordinationError("DEADLINE", "too late", { outcome: "unknown" }), 1],
    [new CoordinationError("LEADER_CHANGED", "it caught up by a snapshot", { outcome: "unknown" }), 0],
  ] as const) {
    it(`counts ${failures} failures for ${error.reason}`, () => {
      send();
      end({ error, outcome: null });
      expect(calls.failures).to.equal(failures);
    });
  }
});
