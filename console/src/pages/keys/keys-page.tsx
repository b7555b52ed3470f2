/** The keys of a namespace as folders, and beside them the chosen key. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { NamespacePicker, PageHead, type PageProps, useNamespace } from "../../page/index.ts";
import { formatRoute, navigate } from "../../router/index.ts";
import { mayWrite } from "../../session/index.ts";
import { Button, SearchField } from "../../ui/index.ts";
import { CreateKeyDialog } from "./create-key-dialog.tsx";
import { FolderPath } from "./folder-path.tsx";
import { KeyList } from "./key-list.tsx";
import { KeyPanel } from "./key-panel.tsx";

export function KeysPage({ user, route }: PageProps): JSX.Element {
  const namespace = useNamespace(route, user);
  const prefix = route.query.get("prefix") ?? "";
  const key = route.query.get("key") ?? null;
  const isCreating = useSignal(false);
  /** Raised by every change that this page makes, so that the list loads again. */
  const changes = useSignal(0);
  const show = (shown: { readonly prefix: string; readonly key?: string }): void =>
    navigate(formatRoute("keys", [namespace], shown));
  const onChanged = (): void => {
    changes.value++;
  };
  return (
    <>
      <PageHead title="Keys">
        <NamespacePicker page="keys" namespace={namespace} user={user} />
        {mayWrite(user) && (
          <Button
            kind="primary"
            onClick={() => {
              isCreating.value = true;
            }}
          >
            New key
          </Button>
        )}
      </PageHead>
      <div class={key === null ? "split" : "split split-open"}>
        <section class="split-list" aria-label="List of keys">
          <div class="bar">
            <FolderPath namespace={namespace} prefix={prefix} />
            <SearchField label="Prefix" value={prefix} onSearch={(next) => show({ prefix: next })} />
          </div>
          <KeyList
            key={`${namespace} ${prefix}`}
            namespace={namespace}
            prefix={prefix}
            chosen={key}
            changes={changes.value}
          />
        </section>
        {key !== null && (
          <KeyPanel
            key={`${namespace} ${key}`}
            namespace={namespace}
            name={key}
            isWritable={mayWrite(user)}
            onClose={() => show({ prefix })}
            onChanged={onChanged}
          />
        )}
      </div>
      {isCreating.value && (
        <CreateKeyDialog
          namespace={namespace}
          prefix={prefix}
          onCreated={(created) => {
            onChanged();
            show({ prefix, key: created });
          }}
          onClose={() => {
            isCreating.value = false;
          }}
        />
      )}
    </>
  );
}
