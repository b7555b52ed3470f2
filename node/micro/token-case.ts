/** Recognising a caller whose token was shown before: the first step of every call. */

import { Access } from "../src/access/index.ts";
import { invariant } from "../src/primitives/index.ts";
import { systemClock } from "../src/replica/index.ts";
import type { FoundedMember } from "./founded-member.ts";
import type { MicroCase } from "./measurement.ts";

const SHORT_ROUND_OPERATIONS = 200;
const DEADLINE_MS = 60_000;

export async function tokenCase(member: FoundedMember): Promise<MicroCase> {
  const replicated = {
    state: member.data.state,
    // The only member of a cluster shows everything that is committed.
    readBarrier: (_deadlineMs: number, done: (error: null) => void) => done(null),
  };
  const access = new Access(replicated, systemClock);
  const deadlineMs = systemClock.monotonicMs() + DEADLINE_MS;
  const issued = await access.exchangeApiKey(member.apiKey, null, deadlineMs);
  invariant(issued !== null, "the owner's API key is good");
  const authorization = [`Bearer ${issued.accessToken}`];
  await access.authenticate(authorization, deadlineMs);
  return {
    name: "authenticate a known token",
    roundMultiple: SHORT_ROUND_OPERATIONS,
    shortRoundOperations: SHORT_ROUND_OPERATIONS,
    prepare: (count) => () => {
      for (let at = 0; at < count; at++) {
        const caller = access.authenticate(authorization, deadlineMs);
        invariant(!(caller instanceof Promise), "a known token is recognised at once");
      }
    },
  };
}
