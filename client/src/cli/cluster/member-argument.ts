/** Members on the command line: by id or by name. */

import type { MemberSlot, Membership } from "../../index.ts";
import { NotFoundError, UsageError } from "../errors/index.ts";

/**
 * The members of the arguments, in their order, each once.
 *
 * @throws UsageError for an argument that is the id of one member and the name of another; NotFoundError MEMBER_NOT_FOUND for one that is
 *   neither.
 */
export function selectMembers({ members }: Membership, wanted: readonly string[]): readonly MemberSlot[] {
  return [...new Set(wanted.map((argument) => selectMember(members, argument)))];
}

function selectMember(members: readonly MemberSlot[], argument: string): MemberSlot {
  const [found, another] = members.filter(({ id, name }) => id === argument || name === argument);
  if (found === undefined) {
    throw new NotFoundError("MEMBER_NOT_FOUND", `no member has the id or name ${JSON.stringify(argument)}`);
  }
  if (another !== undefined) {
    throw new UsageError(`${argument} is the id of one member and the name of another: use the other identifier`);
  }
  return found;
}
