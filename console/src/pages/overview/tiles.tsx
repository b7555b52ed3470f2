/** The state of the whole cluster in a few numbers. */

import type { JSX } from "preact";
import { countText, durationText, shortCountText } from "../../text/index.ts";
import { Sparkline, Tile } from "../../ui/index.ts";
import { latencies, type MemberSeries, requestRates } from "./member-series.ts";

export function Tiles({ members }: { readonly members: readonly MemberSeries[] }): JSX.Element {
  const running = members.filter(({ member: { status } }) => status?.state === "RUNNING");
  const leader = members.find(({ member: { status } }) => status?.role === "LEADER")?.member;
  const rates = summed(members.map(({ samples }) => requestRates(samples)));
  const slowest = highest(members.map(({ samples }) => latencies(samples)));
  const revision = Math.max(0, ...members.map(({ member: { status } }) => Number(status?.revision ?? 0)));
  return (
    <dl class="tiles">
      <Tile name="Members">
        {members.length === 0 ? "…" : `${running.length} of ${members.length}`}
        <small>{running.length === members.length ? "all running" : "running"}</small>
      </Tile>
      <Tile name="Leader">
        {leader?.name ?? (members.length === 0 ? "…" : "none")}
        <small>term {leader?.status?.term ?? "–"}</small>
      </Tile>
      <Tile name="Revision">
        {countText(revision)}
        <small>changes since the founding</small>
      </Tile>
      <Tile name="Requests per second">
        {shortCountText(rates.at(-1) ?? 0)}
        <Sparkline label="Requests per second" values={rates} text={shortCountText} />
      </Tile>
      <Tile name="Latency, 99th percentile">
        {durationText(slowest.at(-1) ?? 0)}
        <Sparkline label="Latency" values={slowest} text={durationText} />
      </Tile>
    </dl>
  );
}

/** Combines series that end at about the same time, from their ends on. */
function combined(series: readonly (readonly number[])[], combine: (values: number[]) => number): number[] {
  const length = Math.max(0, ...series.map((values) => values.length));
  return Array.from({ length }, (_, at) => combine(series.map((values) => values.at(at - length) ?? 0)));
}

function summed(series: readonly (readonly number[])[]): number[] {
  return combined(series, (values) => values.reduce((sum, value) => sum + value, 0));
}

function highest(series: readonly (readonly number[])[]): number[] {
  return combined(series, (values) => Math.max(...values));
}
