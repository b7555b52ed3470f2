/**
 * Judges the answers that clients got about sessions, and about the keys and the holds that belong to them. It needs no
 * model of the service: every rule compares facts that two operations have shown, by the revisions in their answers and
 * by their times. An operation of unknown outcome never makes a history wrong by itself.
 *
 * - A session that has ended is never live again. No key and no hold of it is seen after its end, and it guards nothing.
 * - No session ends before its time as acknowledged, from before the request was sent, unless a client ends it. None
 *   lives long after its time.
 * - A key or a hold is there until its session ends, and belongs to that session alone.
 *
 * That holds of one lock do not overlap, and that tokens grow, is for `lock-check.ts`.
 */

import { type ClockLimits, type ExpiryLimits, knownUntilMs, latestEndMs } from "./expiries.ts";
import { contradictionsOfLife, earlier, Life, later } from "./life.ts";
import { describeLockRecord, type LockRecord, lockAnswerOf } from "./lock-history.ts";
import { type Hold, holdsOf } from "./lock-holds.ts";
import type { RevisionAnswer } from "./revision-order.ts";
import { describeSessionRecord, type SessionAnswer, type SessionRecord, sessionAnswerOf } from "./session-history.ts";

/** Answers to operations that have a revision of their own. */
const CHANGES: ReadonlySet<SessionAnswer["kind"]> = new Set(["created", "put", "written", "ended"]);

/** What shows a session: an operation on it or on its keys, or one on a lock. */
type Shower = SessionRecord | LockRecord;

class SessionLife extends Life<Shower> {
  readonly creation: SessionRecord & { readonly operation: { readonly kind: "create" } };
  /** What was put into it, in acknowledged puts. */
  readonly puts: { readonly key: string; readonly by: SessionRecord; readonly revision: number }[] = [];
  /** What clients have asked to put into it. */
  readonly asked = new Set<string>();
  /** All holds that belong to it, as far as they are known. */
  readonly holds: Hold[] = [];
  /** All renewals. One that was answered by "gone" may have been executed by an earlier attempt. */
  readonly renewals: SessionRecord[] = [];

  constructor(creation: SessionLife["creation"]) {
    super();
    this.creation = creation;
  }

  override earliestExpiryMs(limits: ClockLimits): number {
    const lives = [this.creation, ...this.renewals].flatMap((record) => {
      const answer = sessionAnswerOf(record);
      const isLife = answer?.kind === "created" || answer?.kind === "renewed";
      return isLife ? [knownUntilMs({ sentMs: record.startMs, lifeMs: answer.lifeMs }, limits)] : [];
    });
    return Math.max(...lives);
  }

  override latestExpiryMs(limits: ExpiryLimits): number {
    const { ttlMs } = this.creation.operation;
    return Math.max(...[this.creation, ...this.renewals].map(({ endMs }) => latestEndMs(endMs, ttlMs, limits)));
  }

  /** A hold shows the session live as long as it was seen; and gone once it was missed, unless it was released. */
  seeHold(hold: Hold): void {
    this.holds.push(hold);
    this.lastRevision = later<Shower>(this.lastRevision, hold.lastRevision);
    this.lastMs = later<Shower>(this.lastMs, hold.lastMs);
    if (mustLast(hold)) {
      this.goneRevision = earlier<Shower>(this.goneRevision, hold.goneRevision);
      this.goneMs = earlier<Shower>(this.goneMs, hold.goneMs);
    }
  }
}

/**
 * Returns the contradictions in words; empty if there are none.
 *
 * @param locks all operations on the locks that holds of sessions are of
 */
export function sessionCheck(
  records: readonly SessionRecord[],
  locks: readonly LockRecord[],
  limits: ExpiryLimits,
): readonly string[] {
  const lives = new Map<number, SessionLife>();
  const wrong: string[] = [];
  for (const record of records) {
    const answer = sessionAnswerOf(record);
    if (answer?.kind !== "created" || record.operation.kind !== "create") {
      continue;
    }
    if (lives.has(answer.session)) {
      wrong.push(`no two sessions have one id: ${answer.session} of ${describeSessionRecord(record)}`);
    }
    const life = new SessionLife(record as SessionLife["creation"]);
    life.see(record, answer.session);
    lives.set(answer.session, life);
  }
  noteHolds(
    lives,
    locks.filter(({ outcome }) => outcome.kind !== "not-executed"),
  );
  const relevant = records.filter(({ outcome }) => outcome.kind !== "not-executed");
  notePuts(lives, relevant);
  for (const record of relevant) {
    const life = "session" in record.operation ? lives.get(record.operation.session) : undefined;
    if (life !== undefined) {
      note(life, record);
      wrong.push(...contradictionsOfAnswer(life, record));
    }
  }
  for (const [session, life] of lives) {
    wrong.push(...contradictionsOfLife("session", session, life, limits, describe));
  }
  return wrong;
}

/** The revisions in the answers. They put sessions and all other primitives into one order. */
export function revisionAnswersOfSessions(records: readonly SessionRecord[]): readonly RevisionAnswer[] {
  return records.flatMap((record) => {
    const { startMs, endMs } = record;
    const answer = sessionAnswerOf(record);
    const revision = answer?.kind === "created" ? answer.session : (answer?.revision ?? null);
    if (answer === null || revision === null) {
      return [];
    }
    const own = CHANGES.has(answer.kind) ? revision : null;
    return [{ name: describeSessionRecord(record), startMs, endMs, revision, own }];
  });
}

/** Whether only the end of its session can have ended the hold. */
function mustLast({ grants, enders }: Hold): boolean {
  return grants.length > 0 && enders.length === 0;
}

function notePuts(lives: ReadonlyMap<number, SessionLife>, records: readonly SessionRecord[]): void {
  for (const record of records) {
    const { operation } = record;
    const answer = sessionAnswerOf(record);
    if (operation.kind === "put") {
      lives.get(operation.session)?.asked.add(operation.key);
    }
    if (operation.kind === "put" && answer?.kind === "put") {
      lives.get(operation.session)?.puts.push({ key: operation.key, by: record, revision: answer.revision });
    }
  }
}

/** A hold belongs to the session that its owner has named, also if no answer has granted it. */
function noteHolds(lives: ReadonlyMap<number, SessionLife>, locks: readonly LockRecord[]): void {
  for (const ofLock of Map.groupBy(locks, ({ operation }) => operation.lock).values()) {
    const sessions = new Map(
      ofLock.flatMap(({ operation }) => {
        const isIn = operation.kind === "acquire" && operation.session !== undefined;
        return isIn ? [[operation.owner, operation.session] as const] : [];
      }),
    );
    for (const hold of holdsOf(ofLock)) {
      lives.get(hold.owner === null ? 0 : (sessions.get(hold.owner) ?? 0))?.seeHold(hold);
    }
    for (const record of ofLock) {
      const { operation } = record;
      const answer = lockAnswerOf(record);
      const isGone = answer?.kind === "refused" && answer.reason === "SESSION_NOT_FOUND";
      if (isGone && operation.kind === "acquire") {
        lives.get(operation.session ?? 0)?.miss(record, null);
      }
    }
  }
}

function note(life: SessionLife, record: SessionRecord): void {
  const { operation, startMs } = record;
  const answer = sessionAnswerOf(record);
  if (operation.kind === "renew") {
    life.renewals.push(record);
  }
  if (operation.kind === "end" && answer?.kind !== "gone") {
    life.enders.push(record);
  }
  switch (answer?.kind) {
    case "renewed":
    case "put":
    case "written":
    case "found":
    case "described":
      life.see(record, answer.revision);
      return;
    case "ended":
      life.see(record, answer.revision - 1);
      life.miss(record, answer.revision);
      return;
    case "gone": {
      // A key that was not there yet says nothing.
      const isKnown =
        operation.kind !== "get" || life.puts.some(({ key, by }) => key === operation.key && by.endMs < startMs);
      if (isKnown) {
        life.miss(record, answer.revision);
      }
      return;
    }
    default:
  }
}

/** What the answer shows must be what was put into the session, all of it and nothing else. */
function contradictionsOfAnswer(life: SessionLife, record: SessionRecord): readonly string[] {
  const { operation } = record;
  const answer = sessionAnswerOf(record);
  const wrong = (rule: string, what: string): string => `${rule}: ${describeSessionRecord(record)} was shown ${what}`;
  if (answer?.kind === "found" && "session" in operation && answer.session !== operation.session) {
    return [wrong("a key belongs to the session of its put", `session ${answer.session}`)];
  }
  if (answer?.kind !== "described") {
    return [];
  }
  const { revision } = answer;
  const keys = new Set(answer.keys);
  const tokens = new Set(answer.tokens);
  const lost = life.puts.find(({ key, revision: put }) => put <= revision && !keys.has(key));
  const foreign = answer.keys.find((key) => !life.asked.has(key));
  const without = life.holds.find((hold) => hold.token <= revision && mustLast(hold) && !tokens.has(hold.token));
  const gone = life.holds.find(({ token, goneRevision }) => tokens.has(token) && goneRevision.at <= revision);
  return [
    ...(lost === undefined ? [] : [wrong("a session has its keys until its end", `no ${lost.key}`)]),
    ...(foreign === undefined ? [] : [wrong("a session has only what was put into it", foreign)]),
    ...(without === undefined ? [] : [wrong("a session has its holds until its end", `no hold ${without.token}`)]),
    ...(gone === undefined ? [] : [wrong("a session has no hold that has ended", `hold ${gone.token}`)]),
  ];
}

function describe(by: Shower): string {
  return "lock" in by.operation ? describeLockRecord(by as LockRecord) : describeSessionRecord(by as SessionRecord);
}
