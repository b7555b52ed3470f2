/** The members, with their state and the course of their counters. */

import type { JSX } from "preact";
import type { MemberStatus } from "../../api/index.ts";
import { durationText, shortCountText, sizeText } from "../../text/index.ts";
import { Button, Chip, Sparkline, Table, type Tone } from "../../ui/index.ts";
import { latencies, type MemberSeries, processorShares, requestRates } from "./member-series.ts";

export interface MemberTableProps {
  readonly members: readonly MemberSeries[];
  readonly empty: string | undefined;
  readonly onLead: (member: MemberSeries) => void;
}

const COLUMNS = [
  { name: "Member", width: 92 },
  { name: "State", width: 96 },
  { name: "Lag", width: 62, isNumber: true },
  { name: "Requests/s", width: 128 },
  { name: "Latency p99", width: 128 },
  { name: "Loop delay", width: 92, isNumber: true },
  { name: "CPU", width: 56, isNumber: true },
  { name: "Memory", width: 82, isNumber: true },
  { name: "Data", width: 82, isNumber: true },
  { name: "Disk free", width: 82, isNumber: true },
  { name: "Version", width: 68 },
  { name: "Actions", width: 124, isNameHidden: true },
];
const PERCENT = 100;
const MICROSECONDS = 1_000;

export function MemberTable({ members, empty, onLead }: MemberTableProps): JSX.Element {
  return (
    <Table caption="Members" columns={COLUMNS} empty={empty}>
      {members.map((series) => (
        <MemberRow key={series.member.id} series={series} onLead={onLead} />
      ))}
    </Table>
  );
}

function MemberRow({
  series,
  onLead,
}: {
  readonly series: MemberSeries;
  readonly onLead: MemberTableProps["onLead"];
}): JSX.Element {
  const { member, samples } = series;
  const { status } = member;
  const last = samples.at(-1);
  const rates = requestRates(samples);
  const p99 = latencies(samples);
  const mayLead = status?.role === "FOLLOWER" && status.state === "RUNNING";
  return (
    <tr>
      <th scope="row">{member.name}</th>
      <td>
        <Chip tone={toneOf(status)}>{stateText(status)}</Chip>
      </td>
      <td class="number">{last === undefined ? "–" : durationText(Number(last.lagMs))}</td>
      <td class="with-line">
        <span>{shortCountText(rates.at(-1) ?? 0)}</span>
        <Sparkline label={`Requests per second of ${member.name}`} values={rates} text={shortCountText} />
      </td>
      <td class="with-line">
        <span>{durationText(p99.at(-1) ?? 0)}</span>
        <Sparkline label={`Latency of ${member.name}`} values={p99} text={durationText} />
      </td>
      <td class="number">{last === undefined ? "–" : durationText(Number(last.loopDelayUs) / MICROSECONDS)}</td>
      <td class="number">
        {last === undefined ? "–" : `${Math.round((processorShares([last])[0] ?? 0) * PERCENT)} %`}
      </td>
      <td class="number">{last === undefined ? "–" : sizeText(Number(last.memoryBytes))}</td>
      <td class="number">{status === undefined ? "–" : sizeText(Number(status.dbSizeBytes))}</td>
      <td class="number">{status === undefined ? "–" : sizeText(Number(status.diskFreeBytes))}</td>
      <td title={status === undefined ? undefined : `up for ${durationText(Number(status.uptimeMs))}`}>
        {status?.version ?? "–"}
      </td>
      <td class="row-actions">{mayLead && <Button onClick={() => onLead(series)}>Make leader</Button>}</td>
    </tr>
  );
}

/** The role of a member that takes part, else what keeps it from that. */
function stateText(status: MemberStatus | undefined): string {
  if (status?.state === "RUNNING") {
    return status.role.toLowerCase();
  }
  return status?.state.toLowerCase().replace("member_", "").replaceAll("_", " ") ?? "no answer";
}

function toneOf(status: MemberStatus | undefined): Tone {
  switch (status?.state) {
    case "RUNNING":
      if (status.alarms.length > 0) {
        return "warning";
      }
      return status.role === "LEADER" ? "accent" : "good";
    case "JOINING":
    case "EMPTY":
    case "MEMBER_DAMAGED":
      return "warning";
    default:
      return "bad";
  }
}
