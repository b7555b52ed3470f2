/** `quoinctl leader …` */

import { type Command, Option } from "commander";
import type { Session } from "../session/index.ts";
import { escapeControls, parseCount } from "../text/index.ts";
import { selectMembers } from "./member-argument.ts";

/** Adds the commands to their group. */
export function addLeaderCommands(leader: Command, session: Session): void {
  leader.addHelpText("after", "\nExamples:\n\n  quoinctl leader\n  quoinctl leader transfer q-1").action(async () => {
    const { leaderId, term, members } = await session.withClient((client) => client.cluster.getCluster());
    const member = members.find(({ id }) => id === leaderId);
    await session.print({
      document: {
        leader_id: leaderId,
        name: member?.name ?? null,
        grpc_endpoint: member?.grpcEndpoint ?? null,
        http_endpoint: member?.httpEndpoint ?? null,
        term,
      },
      shown: {
        columns: ["LEADER ID", "NAME", "GRPC", "HTTP", "TERM"],
        rows: [
          [leaderId, member?.name, member?.grpcEndpoint, member?.httpEndpoint, String(term)].map((cell) =>
            cell === undefined || cell === "" ? "-" : escapeControls(cell),
          ),
        ],
      },
    });
  });
  leader
    .command("transfer [MEMBER]")
    .description(
      "transfer the leadership to a member, by name or id, or to the one that can take over best (needs admin); no request fails meanwhile",
    )
    .addOption(new Option("--if-term <N>", "only if the term is still this one").argParser(parseCount))
    .action(async (target: string | undefined, { ifTerm }: { readonly ifTerm?: number }) => {
      await session.withAdmin(async (admin) => {
        const membership = await admin.listMembers();
        const [member] = target === undefined ? [] : selectMembers(membership, [target]);
        const { leaderId, term } = await admin.transferLeadership({ targetId: member?.id, ifTerm });
        const name = membership.members.find(({ id }) => id === leaderId)?.name;
        await session.print({
          document: { leader_id: leaderId, name: name ?? null, term },
          shown: {
            columns: ["LEADER ID", "NAME", "TERM"],
            rows: [[leaderId, escapeControls(name ?? "-"), String(term)]],
          },
        });
      });
    });
}
