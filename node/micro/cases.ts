/** All micro-benchmarks, in groups that share what they need: a group is opened, its cases run, and it is closed. */

import { applyCases } from "./apply-cases.ts";
import { FoundedMember } from "./founded-member.ts";
import { http2Cases } from "./http2-cases.ts";
import { idleCase } from "./idle-case.ts";
import type { MicroCase } from "./measurement.ts";
import { messageCases } from "./message-cases.ts";
import { tokenCase } from "./token-case.ts";

/** Cases that share what they need. */
export interface CaseGroup {
  readonly cases: readonly MicroCase[];
  /** Lets go of what the cases need; they must not run any more. */
  close(): Promise<void>;
}

/** Opens one group after the other: the next one when it is asked for. */
export async function* microCaseGroups(): AsyncGenerator<CaseGroup> {
  const nothing = { close: () => Promise.resolve() };
  yield { cases: messageCases(), ...nothing };
  yield { cases: http2Cases(), ...nothing };
  const member = await FoundedMember.found();
  yield { cases: [...applyCases(member), await tokenCase(member)], close: () => member.close() };
  yield { cases: [idleCase()], ...nothing };
}
