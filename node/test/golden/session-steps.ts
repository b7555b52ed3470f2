/** The part of the golden log about sessions: one that stays with a key, one that ends, one that expires. */

import { type Condition, dueSessions } from "../../src/state/index.ts";
import { done, type GoldenLog, refusedWith } from "./golden-log.ts";
import { ANNA, OWNER } from "./identities.ts";

const DAY_SECS = 86_400;
const DUE_MAX = 10;
const IN_GOLDEN = { namespace: "golden" } as const;
const CREATE = {
  kind: "create-session",
  ...IN_GOLDEN,
  ttlSeconds: DAY_SECS,
  owner: "",
  metadata: new Uint8Array(0),
} as const;
const PUT = {
  kind: "put-key",
  ...IN_GOLDEN,
  value: Buffer.from("value"),
  ttlSeconds: 0,
  expectedModRevision: undefined,
  returnPrevious: true,
} as const;
const SWAP = {
  kind: "compare-and-swap",
  ...IN_GOLDEN,
  newValue: Buffer.from("swapped"),
  expectedValue: undefined,
  expectedModRevision: undefined,
  ttlSeconds: 0,
} as const;

export function writeSessions(log: GoldenLog): void {
  const key = (text: string) => Buffer.from(`of a session/${text}`);
  const create = (changes: object = {}, by = OWNER, request = log.newRequest()) =>
    log.client<"create-session">({ ...CREATE, ...changes }, by, request);
  const request = log.newRequest();
  const labelled = { owner: "a label", metadata: Buffer.from("of a session") };
  const { sessionId } = done(create(labelled, OWNER, request));
  create(labelled, OWNER, request);
  const { sessionId: ofAnna } = done(create({ ttlSeconds: 1 }, ANNA));
  const { sessionId: ended } = done(create());
  refusedWith("NAMESPACE_NOT_FOUND", create({ namespace: "nowhere" }));

  done(log.client({ ...PUT, key: key("put"), sessionId }));
  done(log.client({ ...PUT, key: key("put"), sessionId, ttlSeconds: DAY_SECS }));
  done(log.client({ ...SWAP, key: key("swapped"), sessionId }));
  done(log.client({ ...PUT, key: key("moved"), sessionId: ended }));
  done(log.client({ ...PUT, key: key("moved"), sessionId }));
  done(log.client({ ...PUT, key: key("freed"), sessionId }));
  done(log.client({ ...PUT, key: key("freed") }));
  done(log.client({ ...PUT, key: key("of Anna"), sessionId: ofAnna }, ANNA));
  done(log.client({ ...PUT, key: key("ended"), sessionId: ended }));
  refusedWith("ACCESS_DENIED", log.client({ ...PUT, key: key("never"), sessionId: ofAnna }));
  writeTransaction(log, sessionId, key);

  const renewals = [
    { principal: OWNER, ...IN_GOLDEN, sessionIds: [sessionId, ofAnna, ended] },
    { principal: ANNA, namespace: "nowhere", sessionIds: [ofAnna] },
  ];
  log.cluster({ kind: "renew-sessions", renewals });
  const end = { kind: "end-session", ...IN_GOLDEN, sessionId: ended } as const;
  refusedWith("ACCESS_DENIED", log.client({ ...end, force: false }, ANNA));
  const ending = log.newRequest();
  done(log.client({ ...end, force: false }, OWNER, ending));
  log.client({ ...end, force: false }, OWNER, ending);
  refusedWith("SESSION_NOT_FOUND", log.client({ ...end, force: true }));
  refusedWith("SESSION_NOT_FOUND", log.client({ ...PUT, key: key("never"), sessionId: ended }));
  log.pass(1_500);
  // The second one is not due: apply decides.
  const sessions = [...dueSessions(log.store, log.tickMs, DUE_MAX, DUE_MAX), { ...IN_GOLDEN, sessionId }];
  log.cluster({ kind: "expire-sessions", sessions });
}

function writeTransaction(log: GoldenLog, sessionId: number, key: (text: string) => Uint8Array): void {
  const success = [{ ...PUT, key: key("transacted"), sessionId }];
  const conditions: Condition[] = [
    { about: "session", sessionId },
    { about: "key-number", key: key("put"), of: "session", operator: "=", number: sessionId },
  ];
  done(log.client({ kind: "transact", ...IN_GOLDEN, conditions, success, failure: [] }));
}
