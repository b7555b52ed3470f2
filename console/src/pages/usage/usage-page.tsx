/** Usage by hour and day, by API key, and the quotas of namespaces. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { getUsage, listApiKeys } from "../../api/index.ts";
import { usePolled } from "../../live/index.ts";
import { PageHead, type PageProps } from "../../page/index.ts";
import { mayAdminister } from "../../session/index.ts";
import { countText, shortCountText, sizeText } from "../../text/index.ts";
import { BarChart, Choice, emptyText, LiveState, Select, Table } from "../../ui/index.ts";
import { KeyUsageTable } from "./key-usage-table.tsx";
import { NamespaceUsage } from "./namespace-usage.tsx";
import { MEASURES, type Measure, usageSeries } from "./usage-series.ts";

type Period = "day" | "week" | "month";

const POLL_MS = 60_000;
const DAY_MS = 86_400_000;
const DAYS: Readonly<Record<Period, number>> = { day: 1, week: 7, month: 30 };

export function UsagePage({ user }: PageProps): JSX.Element {
  const period = useSignal<Period>("day");
  const measure = useSignal<Measure>("requests");
  const granularity = period.value === "month" ? "day" : "hour";
  const { loaded, refresh } = usePolled(
    async (signal) => {
      const from = new Date(Date.now() - DAYS[period.value] * DAY_MS).toISOString();
      const [usage, keys] = await Promise.all([
        getUsage(from, granularity, signal),
        // The usage names API keys by their ids.
        listApiKeys(mayAdminister(user) ? "all" : "own", true, "", { signal }),
      ]);
      return { usage, names: new Map(keys.items.map(({ api_key_id, name }) => [api_key_id, name])) };
    },
    POLL_MS,
    [period.value],
  );
  const { value } = loaded.value;
  const text = measure.value === "bytes_appended" ? sizeText : shortCountText;
  const [, measureName] = MEASURES.find(([name]) => name === measure.value) ?? MEASURES[0];
  return (
    <>
      <PageHead title="Usage">
        <Select label="Show" value={measure} options={MEASURES} />
        <Choice<Period>
          label="Period"
          options={[
            ["day", "24 hours"],
            ["week", "7 days"],
            ["month", "30 days"],
          ]}
          value={period}
        />
        <LiveState loaded={loaded.value} onRefresh={() => void refresh()} />
      </PageHead>
      {value === undefined ? (
        <p class="chart-place muted">{emptyText(loaded.value, false, "")}</p>
      ) : (
        <BarChart
          label={`${measureName} by ${granularity}, in UTC`}
          bars={usageSeries(value.usage, granularity, measure.value)}
          text={text}
        />
      )}
      <section>
        <h2>Totals of the period</h2>
        <Table
          caption="Totals of the period"
          columns={MEASURES.map(([, name]) => ({ name, width: 148, isNumber: true }))}
          empty={emptyText(loaded.value, false, "")}
        >
          {value !== undefined && (
            <tr>
              {MEASURES.map(([name]) => (
                <td key={name} class="number">
                  {name === "bytes_appended" ? sizeText(value.usage.totals[name]) : countText(value.usage.totals[name])}
                </td>
              ))}
            </tr>
          )}
        </Table>
      </section>
      <KeyUsageTable loaded={loaded.value} />
      <NamespaceUsage loaded={loaded.value} />
    </>
  );
}
