/** `quoinctl leader …` */

import { option } from "../arguments/index.ts";
import { command, commandGroup, firstCommand } from "../session/index.ts";
import { parseCount } from "../text/index.ts";
import { selectMembers } from "./member-argument.ts";

const SHOW = firstCommand("", {
  help: "\nExamples:\n\n  quoinctl leader\n  quoinctl leader transfer q-1",
  run: async (session) => {
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
          [
            ...[leaderId, member?.name, member?.grpcEndpoint, member?.httpEndpoint].map((cell) => cell || undefined),
            term,
          ],
        ],
      },
    });
  },
});

const TRANSFER = command("transfer [MEMBER]", {
  description:
    "transfer the leadership to a member, by name or id, or to the one that can take over best (needs admin); no request fails meanwhile",
  options: {
    ifTerm: option("<N>", "only if the term is still this one", parseCount),
  },
  run: async (session, target, { ifTerm }) => {
    await session.withAdmin(async (admin) => {
      const membership = await admin.listMembers();
      const [member] = target === undefined ? [] : selectMembers(membership, [target]);
      const { leaderId, term } = await admin.transferLeadership({ targetId: member?.id, ifTerm });
      const name = membership.members.find(({ id }) => id === leaderId)?.name;
      await session.print({
        document: { leader_id: leaderId, name: name ?? null, term },
        shown: {
          columns: ["LEADER ID", "NAME", "TERM"],
          rows: [[leaderId, name, term]],
        },
      });
    });
  },
});

/** The command, and those of its group. */
export const LEADER_COMMANDS = commandGroup("", [SHOW, TRANSFER]);
