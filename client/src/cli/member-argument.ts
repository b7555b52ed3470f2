/** Members on the command line: by id or by name. */

import { type MemberSlot, type Membership, QuoinError } from "../index.ts";
import { UsageError } from "./usage-error.ts";

/**
 * The members of the arguments, in their order, each once.
 *
 * @throws UsageError for an argument that is the id of one member and the name of another; QuoinError NOT_FOUND /
 *   MEMBER_NOT_FOUND for one that is neither.
 */
export function selectMembers({ members }: Membership, wanted: readonly string[]): readonly MemberSlot[] {
  return [...new Set(wanted.map((argument) => selectMember(members, argument)))];
}

function selectMember(members: readonly MemberSlot[], argument: string): MemberSlot {
  const [found, another] = members.filter(({ id, name }) => id === argument || name === argument);
  if (found === undefined) {
    const message = `no member has the id or name ${JSON.stringify(argument)}`;
    throw new QuoinError({ code: "NOT_FOUND", reason: "MEMBER_NOT_FOUND", message });
  }
  if (another !== undefined) {
    throw new UsageError(`${argument} is the id of one member and the name of another: use the other identifier`);
  }
  return found;
}
