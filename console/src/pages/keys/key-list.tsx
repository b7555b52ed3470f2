/**
 * The keys and folders directly below a prefix. It reads a page of keys at a time: a namespace may have millions. The
 * first page stays current; once a person has loaded more, the list stays as it is until it is loaded again.
 */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { ApiError, type KeyValue, listKeys } from "../../api/index.ts";
import { usePolled } from "../../live/index.ts";
import { formatRoute } from "../../router/index.ts";
import { countText, durationText, folderEntries } from "../../text/index.ts";
import { Button, emptyText, LiveState, Problem, Table } from "../../ui/index.ts";

export interface KeyListProps {
  readonly namespace: string;
  readonly prefix: string;
  readonly chosen: string | null;
  /** Changes with each change that the page makes. */
  readonly changes: number;
}

const POLL_MS = 10_000;
const PAGE_KEYS = 200;
const MORE_KEYS = 1_000;
const COLUMNS = [
  { name: "Key", width: "56%" },
  { name: "Revision", width: "16%", isNumber: true },
  { name: "Version", width: "12%", isNumber: true },
  { name: "Expires in", width: "16%", isNumber: true },
];

/** Further pages that a person has loaded. */
interface More {
  readonly items: readonly KeyValue[];
  /** Empty = there are no more. */
  readonly next: string;
}

export function KeyList({ namespace, prefix, chosen, changes }: KeyListProps): JSX.Element {
  const more = useSignal<More | null>(null);
  const problem = useSignal<string | undefined>(undefined);
  const isLoading = useSignal(false);
  const listing = { namespace, prefix };
  const { loaded, refresh } = usePolled(
    (signal, isBackground) => listKeys({ ...listing, pageToken: "", pageSize: PAGE_KEYS }, { signal, isBackground }),
    more.value === null ? POLL_MS : 0,
    [namespace, prefix, changes],
  );
  useEffect(() => {
    more.value = null;
  }, [changes, more]);
  const { value: first } = loaded.value;
  const items = [...(first?.items ?? []), ...(more.value?.items ?? [])];
  const next = more.value?.next ?? first?.nextPageToken ?? "";
  const entries = folderEntries(items, prefix);
  const loadMore = async (): Promise<void> => {
    isLoading.value = true;
    problem.value = undefined;
    try {
      const page = await listKeys({ ...listing, pageToken: next, pageSize: MORE_KEYS }, {});
      more.value = { items: [...(more.value?.items ?? []), ...page.items], next: page.nextPageToken };
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      problem.value = error.message;
    } finally {
      isLoading.value = false;
    }
  };
  return (
    <>
      <Table
        caption="Keys"
        columns={COLUMNS}
        empty={emptyText(loaded.value, entries.length === 0, prefix === "" ? "No keys" : "No key has this prefix")}
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
                {next !== "" && at === entries.length - 1 ? "≥ " : ""}
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
      <Problem message={problem.value} />
      <footer class="list-end">
        <span class="muted">
          {countText(items.length)} {items.length === 1 ? "key" : "keys"} read{next === "" ? "" : ", there are more"}
        </span>
        {next !== "" && (
          <Button onClick={() => void loadMore()} isDisabled={isLoading.value}>
            Read {countText(MORE_KEYS)} more
          </Button>
        )}
        <LiveState
          loaded={loaded.value}
          onRefresh={() => {
            more.value = null;
            void refresh();
          }}
        />
      </footer>
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
  const expiresInMs = Number(item.expiresInMs);
  return (
    <tr aria-selected={isChosen} class={isChosen ? "chosen" : undefined}>
      <th scope="row">
        <a class="mono" href={href} title={item.key} aria-current={isChosen ? "true" : undefined}>
          {name}
        </a>
      </th>
      <td class="number">{countText(Number(item.modRevision))}</td>
      <td class="number">{countText(Number(item.version))}</td>
      <td class="number">{expiresInMs === 0 ? "" : durationText(expiresInMs)}</td>
    </tr>
  );
}
