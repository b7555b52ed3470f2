/** `quoinctl status`: all members in a table. */

import type { Cell } from "../output/index.ts";
import { firstCommand } from "../session/index.ts";
import { formatSize } from "../text/index.ts";
import type { ReportedMember } from "./member-report.ts";

const COLUMNS = ["ID", "NAME", "ENDPOINT", "STATE", "ROLE", "TERM", "APPLIED", "LAG", "DB SIZE", "VERSION"];

/** How long each member may take without --timeout: a hanging member must not hide the others for long. */
const DEFAULT_TIMEOUT_MS = 2_000;
/** From 30 s on, members refuse tokens of each other. */
const CLOCKS_DIFFER_MS_MAX = 5_000;

/** The command. */
export const STATUS = firstCommand("", {
  run: async (session) => {
    const { reportMembers } = await import("./member-report.ts");
    const report = await reportMembers(await session.findConnection(), session.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    await session.print({
      document: { cluster_id: report.clusterId ?? null, members: report.members.map(memberDocument) },
      shown: { columns: COLUMNS, rows: report.members.map(memberRow) },
    });
    if (report.clocksDifferMs > CLOCKS_DIFFER_MS_MAX) {
      const seconds = Math.floor(report.clocksDifferMs / 1_000);
      session.warn(`the clocks of members differ by at least ${seconds} s: synchronize them, for example by NTP`);
    }
  },
});

function memberDocument(member: ReportedMember): object {
  return {
    id: member.id,
    name: member.name,
    endpoint: member.endpoint ?? null,
    state: member.state,
    role: member.role ?? null,
    term: member.term ?? null,
    applied_index: member.appliedIndex ?? null,
    lag: member.lag ?? null,
    db_size_bytes: member.dbSizeBytes ?? null,
    version: member.version ?? null,
    alarms: member.alarms,
    clock_ahead_ms: member.clockAheadMs ?? null,
  };
}

function memberRow(member: ReportedMember): readonly Cell[] {
  const cells = [
    member.id,
    member.name,
    member.endpoint,
    [member.state, ...member.alarms].join(" "),
    member.role,
    member.term,
    member.appliedIndex,
    member.lag,
    member.dbSizeBytes === undefined ? undefined : formatSize(member.dbSizeBytes),
    member.version,
  ];
  return cells.map((cell) => (cell === "" ? undefined : cell));
}
