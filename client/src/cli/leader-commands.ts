/** `quoinctl leader …` */

import { type Command, Option } from "commander";
import { parseCount } from "./count.ts";
import { escapeControls } from "./displayed-text.ts";
import { selectMembers } from "./member-argument.ts";
import type { Session } from "./session.ts";

/** Adds the commands to the program. */
export function addLeaderCommands(program: Command, session: Session): void {
  program
    .command("leader")
    .description("transfer the leadership (needs admin)")
    .command("transfer [ID|NAME]")
    .description(
      "transfer the leadership to a member, or to the one that can take over best; no request fails meanwhile",
    )
    .addOption(new Option("--if-term <N>", "only if the term is still this one").argParser(parseCount))
    .action(async (target: string | undefined, { ifTerm }: { readonly ifTerm?: number }) => {
      await session.withAdmin(async (admin) => {
        const membership = await admin.listMembers();
        const [member] = target === undefined ? [] : selectMembers(membership, [target]);
        const { leaderId, term } = await admin.transferLeadership({ targetId: member?.id, ifTerm });
        const name = membership.members.find(({ id }) => id === leaderId)?.name;
        session.print({
          document: { leader_id: leaderId, leader_name: name ?? null, term },
          shown: {
            columns: ["LEADER ID", "NAME", "TERM"],
            rows: [[leaderId, escapeControls(name ?? "-"), String(term)]],
          },
        });
      });
    });
}
