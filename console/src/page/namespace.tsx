/** The namespace of a page. The address names it; pages without one use the namespace that was shown last. */

import { signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { ApiError, createNamespace, deleteNamespace, listNamespaceNames } from "../api/index.ts";
import { formatRoute, navigate, type Route } from "../router/index.ts";
import { mayAdminister, onOtherUser, type SessionUser } from "../session/index.ts";
import { Button, Checkbox, FormDialog, Glyph, Select, TextField } from "../ui/index.ts";

const DEFAULT_NAMESPACE = "default";
const EVERY_NAMESPACE = "*";
const NAMESPACE_RULE = "1 to 63 characters: small letters, digits, and inside also . _ -";

/** Namespaces that the user may read, in order; empty before they are loaded. */
const names = signal<readonly string[]>([]);
const lastShown = signal("");

onOtherUser(() => {
  [names.value, lastShown.value] = [[], ""];
});

/** The namespace that a page shows. */
export function useNamespace(route: Route, user: SessionUser): string {
  const own = user.namespaces.includes(EVERY_NAMESPACE) ? [] : user.namespaces;
  const known = own.length > 0 ? own : names.value;
  const [first = DEFAULT_NAMESPACE] = known;
  const usual = known.length === 0 || known.includes(DEFAULT_NAMESPACE) ? DEFAULT_NAMESPACE : first;
  const namespace = route.path[0] ?? (lastShown.value || usual);
  useEffect(() => {
    lastShown.value = namespace;
  }, [namespace]);
  return namespace;
}

export interface NamespacePickerProps {
  readonly page: string;
  readonly namespace: string;
  readonly user: SessionUser;
}

export function NamespacePicker({ page, namespace, user }: NamespacePickerProps): JSX.Element {
  const dialog = useSignal<"create" | "delete" | null>(null);
  const close = (): void => {
    dialog.value = null;
  };
  useEffect(() => {
    const ending = new AbortController();
    void loadNames(ending.signal);
    return () => ending.abort();
  }, []);
  const choices = names.value.includes(namespace) ? names.value : [namespace, ...names.value];
  return (
    <>
      <Select
        label="Namespace"
        value={namespace}
        options={choices.map((name) => [name, name] as const)}
        onInput={(name) => navigate(formatRoute(page, [name]))}
      />
      {mayAdminister(user) && (
        <Button
          label="Create a namespace"
          onClick={() => {
            dialog.value = "create";
          }}
        >
          <Glyph name="plus" />
        </Button>
      )}
      {mayAdminister(user) && namespace !== DEFAULT_NAMESPACE && (
        <Button
          label="Delete the namespace"
          kind="danger"
          onClick={() => {
            dialog.value = "delete";
          }}
        >
          <Glyph name="delete" />
        </Button>
      )}
      {dialog.value === "create" && <CreateNamespaceDialog page={page} onClose={close} />}
      {dialog.value === "delete" && <DeleteNamespaceDialog page={page} namespace={namespace} onClose={close} />}
    </>
  );
}

function CreateNamespaceDialog({
  page,
  onClose,
}: {
  readonly page: string;
  readonly onClose: () => void;
}): JSX.Element {
  const name = useSignal("");
  return (
    <FormDialog
      title="Create a namespace"
      action="Create"
      done={`Namespace ${name.value} created`}
      onClose={onClose}
      onSubmit={async () => {
        await createNamespace(name.value);
        await loadNames(new AbortController().signal);
        navigate(formatRoute(page, [name.value]));
      }}
    >
      <TextField label="Name" isRequired hasFocus isMonospaced maxLength={63} hint={NAMESPACE_RULE} value={name} />
    </FormDialog>
  );
}

function DeleteNamespaceDialog({
  page,
  namespace,
  onClose,
}: {
  readonly page: string;
  readonly namespace: string;
  readonly onClose: () => void;
}): JSX.Element {
  const recursive = useSignal(false);
  return (
    <FormDialog
      title="Delete the namespace"
      action="Delete"
      isDanger
      confirmation={namespace}
      done={`Namespace ${namespace} deleted`}
      onClose={onClose}
      onSubmit={async () => {
        await deleteNamespace(namespace, recursive.value);
        names.value = names.value.filter((name) => name !== namespace);
        lastShown.value = "";
        navigate(formatRoute(page));
      }}
    >
      <p>
        Only an empty namespace is deleted, unless you ask for everything in it. Nothing brings it back. Its sessions
        end, and its watches too.
      </p>
      <Checkbox label="Also keys, locks, memory regions and event logs in it" value={recursive} />
    </FormDialog>
  );
}

/** Without an answer the menu has only the present namespace, and the page itself shows what is wrong. */
async function loadNames(signal: AbortSignal): Promise<void> {
  try {
    names.value = await listNamespaceNames({ signal, isBackground: names.peek().length > 0 });
  } catch (error) {
    if (!(error instanceof ApiError) && !signal.aborted) {
      throw error;
    }
  }
}
