/** The locks of a namespace: who holds each, and who waits in which order. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { ApiError, type Lock, listLocks } from "../../api/index.ts";
import { nowMs, usePolled } from "../../live/index.ts";
import { NamespacePicker, PageHead, type PageProps, useNamespace } from "../../page/index.ts";
import { formatRoute, navigate } from "../../router/index.ts";
import { mayAdminister, mayWrite } from "../../session/index.ts";
import { countText } from "../../text/index.ts";
import { Button, Checkbox, emptyText, LiveState, Problem, SearchField } from "../../ui/index.ts";
import { CreateLockDialog } from "./create-lock-dialog.tsx";
import { LockPanel } from "./lock-panel.tsx";
import { LockTable } from "./lock-table.tsx";
import { lockKey } from "./lock-text.ts";

const POLL_MS = 5_000;
const PAGE_LOCKS = 100;
/** Of longer queues, the panel reads the rest on demand. */
const WAITS_SHOWN = 20;

export function LocksPage({ user, route }: PageProps): JSX.Element {
  const namespace = useNamespace(route, user);
  const namePrefix = route.query.get("prefix") ?? "";
  const inUseOnly = route.query.get("in-use") === "true";
  const chosen = route.query.get("lock") ?? null;
  const isCreating = useSignal(false);
  const more = useSignal<{ readonly locks: readonly Lock[]; readonly next: string } | null>(null);
  const problem = useSignal<string | undefined>(undefined);
  const listing = { namespace, namePrefix, inUseOnly, pageSize: PAGE_LOCKS, waitsMax: WAITS_SHOWN };
  const { loaded, refresh } = usePolled(
    (signal, isBackground) => listLocks({ ...listing, pageToken: "" }, { signal, isBackground }),
    POLL_MS,
    [namespace, namePrefix, inUseOnly],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: further pages belong to one listing.
  useEffect(() => {
    more.value = null;
  }, [namespace, namePrefix, inUseOnly]);
  const { value, atMs } = loaded.value;
  const first = value?.locks ?? [];
  const firstKeys = new Set(first.map(lockKey));
  // The first page stays current, so a lock may have moved into it.
  const locks = [...first, ...(more.value?.locks.filter((lock) => !firstKeys.has(lockKey(lock))) ?? [])];
  const next = more.value?.next ?? value?.nextPageToken ?? "";
  const lock = locks.find((one) => lockKey(one) === chosen);
  const show = (changes: Readonly<Record<string, string>>): void => {
    const query = { prefix: namePrefix, "in-use": inUseOnly ? "true" : "", lock: chosen ?? "", ...changes };
    navigate(formatRoute("locks", [namespace], query));
  };
  const loadMore = async (): Promise<void> => {
    problem.value = undefined;
    try {
      const page = await listLocks({ ...listing, pageToken: next }, {});
      more.value = { locks: [...(more.value?.locks ?? []), ...page.locks], next: page.nextPageToken };
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      problem.value = error.message;
    }
  };
  return (
    <>
      <PageHead title="Locks">
        <NamespacePicker page="locks" namespace={namespace} user={user} />
        {mayWrite(user) && (
          <Button
            kind="primary"
            onClick={() => {
              isCreating.value = true;
            }}
          >
            New lock
          </Button>
        )}
      </PageHead>
      <div class={lock === undefined ? "split" : "split split-open"}>
        <section class="split-list" aria-label="List of locks">
          <div class="bar">
            <SearchField label="Prefix of the name" value={namePrefix} onSearch={(prefix) => show({ prefix })} />
            <Checkbox
              label="Only in use"
              isChecked={inUseOnly}
              onChange={(isChecked) => show({ "in-use": isChecked ? "true" : "" })}
            />
          </div>
          <LockTable
            locks={locks}
            chosen={chosen}
            atMs={atMs}
            nowMs={nowMs.value}
            empty={emptyText(loaded.value, locks.length === 0, inUseOnly ? "No lock is in use" : "No locks")}
            onShow={(key) => show({ lock: key })}
          />
          <Problem message={problem.value} />
          <footer class="list-end">
            <span class="muted">
              {countText(locks.length)} {locks.length === 1 ? "lock" : "locks"}
              {next === "" ? "" : ", there are more"}
            </span>
            {next !== "" && <Button onClick={() => void loadMore()}>Read more</Button>}
            <LiveState loaded={loaded.value} onRefresh={() => void refresh()} />
          </footer>
        </section>
        {lock !== undefined && (
          <LockPanel
            key={lockKey(lock)}
            namespace={namespace}
            lock={lock}
            atMs={atMs}
            nowMs={nowMs.value}
            refusedForMs={Number(value?.refusedGuardsForMs ?? 0)}
            mayForce={mayAdminister(user)}
            onClose={() => show({ lock: "" })}
            onChanged={() => void refresh()}
          />
        )}
      </div>
      {isCreating.value && (
        <CreateLockDialog
          namespace={namespace}
          onCreated={() => void refresh()}
          onClose={() => {
            isCreating.value = false;
          }}
        />
      )}
    </>
  );
}
