/** Bugs in sessions. */

import type { Mutant } from "./mutant.ts";

const ENDS = "state/session-ends/session-ends.ts";
const ROWS = "state/sessions/session-rows.ts";
const SESSIONS = "state/sessions/sessions.ts";
const RENEWALS = "api/methods/session-renewals.ts";

export const SESSION_MUTANTS: readonly Mutant[] = [
  {
    name: "session-ends-at-its-deadline",
    pitfall: "S21",
    file: ENDS,
    find: "session.deadlineMs < context.tickMs",
    replace: "session.deadlineMs <= context.tickMs",
  },
  {
    name: "session-ends-although-renewed",
    pitfall: "S22",
    file: ENDS,
    find: "session !== undefined && session.deadlineMs < context.tickMs",
    replace: "session !== undefined",
  },
  {
    name: "keys-of-an-expired-session-are-deleted",
    pitfall: "S37",
    file: ENDS,
    find: 'end(context, session, "expire")',
    replace: 'end(context, session, "delete")',
  },
  {
    name: "end-of-an-empty-session-is-no-change",
    pitfall: "S37",
    file: ENDS,
    find: "  context.nextRevision();",
    replace: "  if (things.length > 0) context.nextRevision();",
  },
  {
    name: "anyone-ends-a-session",
    pitfall: "S43",
    file: ENDS,
    find: "    : requireOwnSession(transaction, namespace, sessionId, subject);",
    replace:
      "    : requireOwnSession(transaction, namespace, sessionId, subject && requireSession(transaction, namespace, sessionId).subject);",
  },
  {
    name: "first-key-of-a-session-stays",
    pitfall: "S22",
    file: ENDS,
    find: "    removeKey(context, kind, session.namespace, stored);",
    replace: "    if (at > 0) removeKey(context, kind, session.namespace, stored);",
  },
  {
    name: "session-renewed-by-another-user",
    pitfall: "S43",
    file: SESSIONS,
    find: "session === undefined || session.subject !== subject",
    replace: "session === undefined || subject === undefined",
  },
  {
    name: "session-renewed-without-the-right",
    pitfall: "S43",
    file: SESSIONS,
    find: "    if (refusal !== null) {",
    replace: "    if (refusal !== null && sessionIds.length === 0) {",
  },
  {
    name: "renewal-keeps-the-former-timer",
    pitfall: "S22",
    file: ROWS,
    find: "    context.transaction.delete(sessionTimerRow(session.deadlineMs, session.sessionId));",
    replace: "",
  },
  {
    name: "key-into-the-session-of-another-user",
    pitfall: "S43",
    file: ROWS,
    find: "  if (session.subject !== subject) {",
    replace: '  if (session.subject !== subject && subject === "") {',
  },
  {
    name: "session-counts-a-key-that-left",
    pitfall: "S49",
    file: ROWS,
    find: "    countOwned(context, namespace, before.sessionId, -1, -before.bytes);",
    replace: "",
  },
  {
    name: "one-object-too-many-in-a-session",
    pitfall: "S44",
    file: ROWS,
    find: "objects >= sessionObjectsMax",
    replace: "objects > sessionObjectsMax",
  },
  {
    name: "session-without-a-bound-of-bytes",
    pitfall: "S44",
    file: ROWS,
    find: "held + added > sessionBytesMax",
    replace: "added > sessionBytesMax",
  },
  {
    name: "one-entry-ends-any-number-of-keys",
    pitfall: "S44",
    file: ROWS,
    find: "return at > 0 && all > objectsMax;",
    replace: "return at > 0 && all < objectsMax && all > objectsMax;",
  },
  {
    name: "sessions-without-a-quota",
    pitfall: "S49",
    file: ROWS,
    find: '  context.accounts.of(session.namespace).requireQuota("sessions", 1);',
    replace: "",
  },
  {
    name: "increment-takes-a-key-out-of-its-session",
    pitfall: "S22",
    file: "state/keys/transacted-keys.ts",
    find: "    sessionId: current?.sessionId,",
    replace: "    sessionId: undefined,",
  },
  {
    name: "write-leaves-a-key-in-its-former-session",
    pitfall: "S22",
    file: "state/keys/keys.ts",
    find: "    changeBelonging(context, namespace, thingOf(key), before, after);",
    replace: "    if (sessionId !== undefined) changeBelonging(context, namespace, thingOf(key), before, after);",
  },
  {
    name: "ended-session-counts-as-live-in-conditions",
    pitfall: "S48",
    file: "state/transactions/conditions.ts",
    find: "        return readSession(this.#reader, this.#namespace, one.sessionId) !== undefined;",
    replace: "        return one.sessionId > 0;",
  },
  {
    name: "no-tick-while-only-sessions-live",
    pitfall: "S21",
    file: "replica/context/maintenance.ts",
    find: " + totals.sessions > 0",
    replace: " > 0",
  },
  {
    name: "renewals-of-too-many-sessions-in-one-entry",
    pitfall: "S44",
    file: RENEWALS,
    find: "this.#replica !== replica || this.#sessions + count > RENEWED_MAX",
    replace: "this.#replica !== replica",
  },
  {
    name: "each-renewal-in-an-entry-of-its-own",
    pitfall: "S44",
    file: RENEWALS,
    find: "    this.#stop ??= this.#scheduler.every(COLLECT_MS, () => this.#send());",
    replace: "    this.#send();",
  },
];
