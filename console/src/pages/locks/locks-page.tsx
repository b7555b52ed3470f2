/** The locks of a namespace, each with its holders and its queue. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type Lock, listLocks } from "../../api/index.ts";
import { type ListPage, nowMs, useListing } from "../../live/index.ts";
import { NamespacePicker, PageHead, type PageProps, useNamespace } from "../../page/index.ts";
import { formatRoute, navigate } from "../../router/index.ts";
import { mayWrite } from "../../session/index.ts";
import { lockKey } from "../../text/index.ts";
import { Button, Checkbox, emptyText, ListEnd, SearchField } from "../../ui/index.ts";
import { CreateLockDialog } from "./create-lock-dialog.tsx";
import { LockPanel } from "./lock-panel.tsx";
import { LockTable } from "./lock-table.tsx";

const POLL_MS = 10_000;
const PAGE_LOCKS = 100;
/** Of longer queues, the panel reads the rest on demand. */
const WAITS_SHOWN = 20;

interface LockPage extends ListPage<Lock> {
  /** How long the member has counted refused guards, in milliseconds. */
  readonly refusedForMs: number;
}

export function LocksPage({ user, route }: PageProps): JSX.Element {
  const namespace = useNamespace(route, user);
  const namePrefix = route.query.get("prefix") ?? "";
  const inUseOnly = route.query.get("in-use") === "true";
  const chosen = route.query.get("lock") ?? null;
  const isCreating = useSignal(false);
  const listing = useListing<Lock, LockPage>({
    load: async (pageToken, options) => {
      const query = { namespace, namePrefix, inUseOnly, pageToken, pageSize: PAGE_LOCKS, waitsMax: WAITS_SHOWN };
      const page = await listLocks(query, options);
      return { items: page.locks, next: page.nextPageToken, refusedForMs: Number(page.refusedGuardsForMs) };
    },
    intervalMs: POLL_MS,
    dependencies: [namespace, namePrefix, inUseOnly],
    keyOf: lockKey,
  });
  const { items: locks, loaded, refresh } = listing;
  const lock = locks.find((one) => lockKey(one) === chosen);
  const show = (changes: Readonly<Record<string, string>>): void => {
    const query = { prefix: namePrefix, "in-use": inUseOnly ? "true" : "", lock: chosen ?? "", ...changes };
    navigate(formatRoute("locks", [namespace], query));
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
              value={inUseOnly}
              onInput={(isChecked) => show({ "in-use": isChecked ? "true" : "" })}
            />
          </div>
          <LockTable
            locks={locks}
            chosen={chosen}
            atMs={loaded.atMs}
            nowMs={nowMs.value}
            empty={emptyText(loaded, locks.length === 0, inUseOnly ? "No lock is in use" : "No locks")}
            onShow={(key) => show({ lock: key })}
          />
          <ListEnd listing={listing} words={["lock", "locks"]} />
        </section>
        {lock !== undefined && (
          <LockPanel
            key={lockKey(lock)}
            namespace={namespace}
            lock={lock}
            atMs={loaded.atMs}
            nowMs={nowMs.value}
            refusedForMs={loaded.value?.refusedForMs ?? 0}
            user={user}
            onClose={() => show({ lock: "" })}
            onChanged={refresh}
          />
        )}
      </div>
      {isCreating.value && (
        <CreateLockDialog
          namespace={namespace}
          onCreated={refresh}
          onClose={() => {
            isCreating.value = false;
          }}
        />
      )}
    </>
  );
}
