/** Usage by API key. */

import type { JSX } from "preact";
import type { Usage } from "../../api/index.ts";
import type { Loaded } from "../../live/index.ts";
import { countText, sizeText } from "../../text/index.ts";
import { emptyText, Table } from "../../ui/index.ts";

/** Usage with the names of API keys by their ids. */
export interface NamedUsage {
  readonly usage: Usage;
  readonly names: ReadonlyMap<string, string>;
}

const COLUMNS = [
  { name: "API key", width: 180 },
  { name: "Requests", width: 96, isNumber: true },
  { name: "Events appended", width: 140, isNumber: true },
  { name: "Bytes appended", width: 132, isNumber: true },
];

export function KeyUsageTable({ loaded }: { readonly loaded: Loaded<NamedUsage> }): JSX.Element {
  const rows = (loaded.value?.usage.by_key ?? []).toSorted((a, b) => b.requests - a.requests);
  return (
    <section>
      <h2>By API key</h2>
      <Table
        caption="Usage by API key"
        columns={COLUMNS}
        empty={emptyText(loaded, rows.length === 0, "No API key was used in this period")}
      >
        {rows.map(({ api_key_id, requests, events_appended, bytes_appended }) => (
          <tr key={api_key_id}>
            <th scope="row" title={api_key_id}>
              {loaded.value?.names.get(api_key_id) ?? <span class="mono">{api_key_id}</span>}
            </th>
            <td class="number">{countText(requests)}</td>
            <td class="number">{countText(events_appended)}</td>
            <td class="number">{sizeText(bytes_appended)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
