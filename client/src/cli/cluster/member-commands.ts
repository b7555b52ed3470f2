/** `quoinctl member …` */

import type { AdminClient, ChangeResult, MemberSlot, Membership } from "../../index.ts";
import { type OptionsOf, option } from "../arguments/index.ts";
import { type Cell, type TableContent, withProgressLine } from "../output/index.ts";
import { command, commandGroup, type Session } from "../session/index.ts";
import { formatMilliseconds, parseCount, parseWaitMs } from "../text/index.ts";
import { selectMembers } from "./member-argument.ts";

/** How long `member promote` waits by default: longer than a learner needs that is only slightly behind. */
const DEFAULT_WAIT_MS = 60_000;

/** Pause before a promotion of members that are not ready is retried. */
const RETRY_PAUSE_MS = 500;

const LIST_COLUMNS = ["ID", "NAME", "ROLE", "PEER", "GRPC", "HTTP", "LAG", "CONTACT", "PROMOTABLE"];

const IF_CONFIG_INDEX = option(
  "<N>",
  "only if the membership still has this index (config_index in -o json)",
  parseCount,
);

const LIST = command("list", {
  description: "list the members as known to the leader",
  run: async (session) => {
    const membership = await session.withAdmin((admin) => admin.listMembers());
    const { clusterId, term, configIndex, commitIndex, changing, leaderId, members } = membership;
    await session.print({
      document: {
        cluster_id: clusterId,
        term,
        config_index: configIndex,
        commit_index: commitIndex,
        changing,
        leader_id: leaderId === "" ? null : leaderId,
        members: members.map((slot) => slotDocument(slot, membership)),
      },
      shown: { columns: LIST_COLUMNS, rows: members.map((slot) => listRow(slot, membership)) },
    });
    if (changing) {
      session.note("a change of the membership is under way");
    }
  },
});

const ADD = command("add <NAME>", {
  description: "add a slot for a new member, which starts as a learner",
  options: {
    ifConfigIndex: IF_CONFIG_INDEX,
  },
  run: async (session, name, { ifConfigIndex }) => {
    const added = await session.withAdmin((admin) => admin.addMember(name, { ifConfigIndex }));
    const { id } = added.member;
    await session.print({
      document: { id, name: added.member.name, config_index: added.configIndex },
      shown: changeTable([added.member], added),
    });
    session.note(`next: start a member named ${name} that joins this cluster, then: quoinctl member promote ${name}`);
  },
});

const PROMOTE_OPTIONS = {
  wait: option("<DURATION>", "how long to wait for them, such as 90s or 5m; 0 = not at all", parseWaitMs).byDefault(
    DEFAULT_WAIT_MS,
    "60s",
  ),
  ifConfigIndex: IF_CONFIG_INDEX,
};

const PROMOTE = command("promote <MEMBER...>", {
  description: "give learners a vote, by name or id, several in one step; waits until they have caught up",
  options: PROMOTE_OPTIONS,
  run: async (session, wanted, options) => {
    await session.withAdmin(async (admin) => {
      const members = selectMembers(await admin.listMembers(), wanted);
      const promoted = await promoteWhenReady(session, admin, members, options);
      await session.print({ document: changeDocument(members, promoted), shown: changeTable(members, promoted) });
    });
  },
});

const REMOVE = command("remove <MEMBER...>", {
  description: "remove members, by name or id, several in one step; a removed member never comes back",
  options: {
    ifConfigIndex: IF_CONFIG_INDEX,
  },
  run: async (session, wanted, { ifConfigIndex }) => {
    await session.withAdmin(async (admin) => {
      const members = selectMembers(await admin.listMembers(), wanted);
      const removed = await admin.removeMembers(idsOf(members), { ifConfigIndex });
      await session.print({ document: changeDocument(members, removed), shown: changeTable(members, removed) });
    });
  },
});

/** The commands of the group. */
export const MEMBER_COMMANDS = commandGroup("", [LIST, ADD, PROMOTE, REMOVE]);

/** Retries while a member is not ready, until the time is up; then raises the last refusal. */
async function promoteWhenReady(
  session: Session,
  admin: AdminClient,
  members: readonly MemberSlot[],
  { ifConfigIndex, wait }: OptionsOf<typeof PROMOTE_OPTIONS>,
): Promise<ChangeResult> {
  const { QuoinError } = await import("../../index.ts");
  const { runtime } = session.terminal;
  const untilMs = runtime.monotonicMs() + wait;
  return withProgressLine(session, async (line) => {
    for (;;) {
      try {
        return await admin.promoteMembers(idsOf(members), { ifConfigIndex });
      } catch (error) {
        const leftMs = untilMs - runtime.monotonicMs();
        if (!(error instanceof QuoinError) || error.reason !== "LEARNER_NOT_READY" || leftMs < RETRY_PAUSE_MS) {
          throw error;
        }
        line.show(`waiting, ${Math.ceil(leftMs / 1_000)}s left: ${error.message}`);
        await runtime.sleep(RETRY_PAUSE_MS, undefined);
      }
    }
  });
}

function idsOf(members: readonly MemberSlot[]): string[] {
  return members.map(({ id }) => id);
}

function roleOf({ id, voter, incarnation }: MemberSlot, { leaderId }: Membership): string {
  if (id === leaderId) {
    return "leader";
  }
  if (incarnation === "") {
    return "unclaimed";
  }
  return voter ? "voter" : "learner";
}

function slotDocument(slot: MemberSlot, membership: Membership): object {
  return {
    id: slot.id,
    name: slot.name,
    role: roleOf(slot, membership),
    peer_endpoint: slot.peerEndpoint,
    grpc_endpoint: slot.grpcEndpoint,
    http_endpoint: slot.httpEndpoint,
    voter: slot.voter,
    incarnation: slot.incarnation,
    lag_ms: slot.lagMs,
    contact_age_ms: slot.contactAgeMs,
    promotable: slot.promotable,
  };
}

function listRow(slot: MemberSlot, membership: Membership): readonly Cell[] {
  const isClaimed = slot.incarnation !== "";
  const cells = [
    slot.id,
    slot.name,
    roleOf(slot, membership),
    slot.peerEndpoint,
    slot.grpcEndpoint,
    slot.httpEndpoint,
    isClaimed ? formatMilliseconds(slot.lagMs) : "",
    isClaimed ? formatContact(slot.contactAgeMs) : "",
    slot.voter ? "" : yesOrNo(slot.promotable),
  ];
  return cells.map((cell) => cell || undefined);
}

/** The leader counts from its election. A member that it has never heard since then has the largest possible age. */
function formatContact(contactAgeMs: number): string {
  return contactAgeMs === Number.MAX_SAFE_INTEGER ? "never" : formatMilliseconds(contactAgeMs);
}

function yesOrNo(answer: boolean): string {
  return answer ? "yes" : "no";
}

function changeDocument(members: readonly MemberSlot[], { configIndex }: ChangeResult): object {
  return { members: members.map(({ id, name }) => ({ id, name })), config_index: configIndex };
}

function changeTable(members: readonly MemberSlot[], { configIndex }: ChangeResult): TableContent {
  return {
    columns: ["ID", "NAME", "CONFIG INDEX"],
    rows: members.map(({ id, name }) => [id, name, configIndex]),
  };
}
