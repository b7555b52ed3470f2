/**
 * The keys and folders directly below a prefix. It reads a page of keys at a time: a namespace may have millions. The
 * first page stays current; once a person has loaded more, the list stays as it is until it is loaded again.
 */

import type { JSX } from "preact";
import { type KeyValue, listKeys } from "../../api/index.ts";
import { useListing } from "../../live/index.ts";
import { formatRoute } from "../../router/index.ts";
import { countText, durationText, folderEntries } from "../../text/index.ts";
import { emptyText, ListEnd, Table } from "../../ui/index.ts";

export interface KeyListProps {
  readonly namespace: string;
  readonly prefix: string;
  readonly chosen: string | null;
  /** Changes with each change that the page makes. */
  readonly changes: number;
}

const POLL_MS = 10_000;
const FIRST_PAGE_KEYS = 200;
const PAGE_KEYS = 1_000;
const COLUMNS = [
  { name: "Key", width: 180 },
  { name: "Revision", width: 92, isNumber: true },
  { name: "Version", width: 80, isNumber: true },
  { name: "Expires in", width: 104, isNumber: true },
];

export function KeyList({ namespace, prefix, chosen, changes }: KeyListProps): JSX.Element {
  const listing = useListing<KeyValue>({
    load: async (pageToken, options) => {
      const pageSize = pageToken === "" ? FIRST_PAGE_KEYS : PAGE_KEYS;
      const page = await listKeys({ namespace, prefix, pageToken, pageSize }, options);
      return { items: page.items, next: page.nextPageToken };
    },
    intervalMs: POLL_MS,
    dependencies: [namespace, prefix, changes],
  });
  const { loaded, items, hasMore } = listing;
  const entries = folderEntries(items, prefix);
  return (
    <>
      <Table
        caption="Keys"
        columns={COLUMNS}
        empty={emptyText(loaded, entries.length === 0, prefix === "" ? "No keys" : "No key has this prefix")}
      >
        {entries.map((entry, at) =>
          entry.kind === "folder" ? (
            <tr key={entry.prefix}>
              <th scope="row" colSpan={3}>
                <a class="folder mono" href={formatRoute("keys", [namespace], { prefix: entry.prefix })}>
                  {entry.name}
                </a>
              </th>
              <td class="number muted">
                {hasMore && at === entries.length - 1 ? "≥ " : ""}
                {countText(entry.count)} {entry.count === 1 ? "key" : "keys"}
              </td>
            </tr>
          ) : (
            <KeyRow
              key={`key ${entry.key}`}
              item={entry.item}
              name={entry.name || entry.key}
              isChosen={entry.key === chosen}
              href={formatRoute("keys", [namespace], { prefix, key: entry.key })}
            />
          ),
        )}
      </Table>
      <ListEnd listing={listing} words={["key read", "keys read"]} />
    </>
  );
}

function KeyRow({
  item,
  name,
  isChosen,
  href,
}: {
  readonly item: KeyValue;
  readonly name: string;
  readonly isChosen: boolean;
  readonly href: string;
}): JSX.Element {
  return (
    <tr class={isChosen ? "chosen" : undefined}>
      <th scope="row">
        <a class="mono" href={href} title={item.key} aria-current={isChosen ? "true" : undefined}>
          {name}
        </a>
      </th>
      <td class="number">{countText(Number(item.modRevision))}</td>
      <td class="number">{countText(Number(item.version))}</td>
      <td class="number">{expiryText(item)}</td>
    </tr>
  );
}

function expiryText({ expiresInMs, sessionId }: KeyValue): string {
  if (sessionId !== "0") {
    return "with session";
  }
  return expiresInMs === "0" ? "" : durationText(Number(expiresInMs));
}
