/** The report of crash-joiner.ts about a member that it has started. */

import type { MemberData } from "../../src/storage/index.ts";

export interface StartedMember extends Pick<MemberData, "term" | "vote" | "damaged" | "boot" | "bounds"> {
  readonly memberId: number;
  readonly applied: number;
}
