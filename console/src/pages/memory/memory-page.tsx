/** The memory regions of a namespace, and beside them the bytes of the chosen one. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { listMemoryRegions, type MemoryRegion } from "../../api/index.ts";
import { nowMs, useListing } from "../../live/index.ts";
import { NamespacePicker, PageHead, type PageProps, useNamespace } from "../../page/index.ts";
import { formatRoute, navigate } from "../../router/index.ts";
import { mayWrite } from "../../session/index.ts";
import { agoText, countText, sizeText } from "../../text/index.ts";
import { Button, emptyText, ListEnd, Table } from "../../ui/index.ts";
import { AllocateDialog } from "./region-dialogs.tsx";
import { RegionPanel } from "./region-panel.tsx";

const POLL_MS = 10_000;
const COLUMNS = [
  { name: "Region", width: 150 },
  { name: "Size", width: 80, isNumber: true },
  { name: "Version", width: 80, isNumber: true },
  { name: "Changed", width: 104, isNumber: true },
];

export function MemoryPage({ user, route }: PageProps): JSX.Element {
  const namespace = useNamespace(route, user);
  const chosen = route.query.get("region") ?? null;
  const isAllocating = useSignal(false);
  const listing = useListing<MemoryRegion>({
    load: async (pageToken, options) => {
      const page = await listMemoryRegions(namespace, pageToken, options);
      return { items: page.regions, next: page.nextPageToken };
    },
    intervalMs: POLL_MS,
    dependencies: [namespace],
    keyOf: ({ regionId }) => regionId,
  });
  const { items: regions, loaded, refresh } = listing;
  const region = regions.find(({ regionId }) => regionId === chosen);
  const show = (regionId: string): void => navigate(formatRoute("memory", [namespace], { region: regionId }));
  return (
    <>
      <PageHead title="Memory">
        <NamespacePicker page="memory" namespace={namespace} user={user} />
        {mayWrite(user) && (
          <Button
            kind="primary"
            onClick={() => {
              isAllocating.value = true;
            }}
          >
            New region
          </Button>
        )}
      </PageHead>
      <div class={region === undefined ? "split" : "split split-open split-wide"}>
        <section class="split-list" aria-label="List of memory regions">
          <Table
            caption="Memory regions"
            columns={COLUMNS}
            empty={emptyText(loaded, regions.length === 0, "No memory regions")}
          >
            {regions.map(({ regionId, label, sizeBytes, version, updatedAtMs }) => (
              <tr key={regionId} class={regionId === chosen ? "chosen" : undefined}>
                <th scope="row">
                  <a
                    href={formatRoute("memory", [namespace], { region: regionId })}
                    aria-current={regionId === chosen ? "true" : undefined}
                    title={regionId}
                  >
                    {label === "" ? <span class="mono">{regionId}</span> : label}
                  </a>
                </th>
                <td class="number">{sizeText(Number(sizeBytes))}</td>
                <td class="number">{countText(Number(version))}</td>
                <td class="number">{agoText(Number(updatedAtMs), nowMs.value)}</td>
              </tr>
            ))}
          </Table>
          <ListEnd listing={listing} words={["region", "regions"]} />
        </section>
        {region !== undefined && (
          <RegionPanel
            key={region.regionId}
            namespace={namespace}
            region={region}
            isWritable={mayWrite(user)}
            onClose={() => show("")}
            onChanged={refresh}
          />
        )}
      </div>
      {isAllocating.value && (
        <AllocateDialog
          namespace={namespace}
          onAllocated={(regionId) => {
            refresh();
            show(regionId);
          }}
          onClose={() => {
            isAllocating.value = false;
          }}
        />
      )}
    </>
  );
}
