/** The users that an administrator may manage. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { deleteUser, listUsers, type User, updateUser } from "../../api/index.ts";
import { useListing } from "../../live/index.ts";
import { formatRoute } from "../../router/index.ts";
import type { SessionUser } from "../../session/index.ts";
import { instantText } from "../../text/index.ts";
import { Button, Chip, emptyText, FormDialog, ListEnd, Table, type Tone } from "../../ui/index.ts";
import { CreateUserDialog, EditUserDialog } from "./user-dialogs.tsx";

const POLL_MS = 30_000;
const COLUMNS = [
  { name: "E-mail", width: 200 },
  { name: "Role", width: 76 },
  { name: "State", width: 96 },
  { name: "Namespaces", width: 140 },
  { name: "Created", width: 136 },
  { name: "Actions", width: 268, isNameHidden: true },
];
const TONES: Readonly<Record<User["status"], Tone>> = { active: "good", unverified: "warning", disabled: "bad" };

type Open = { readonly kind: "create" } | { readonly kind: "edit" | "disable" | "delete"; readonly target: User };

export function UserList({ user }: { readonly user: SessionUser }): JSX.Element {
  const open = useSignal<Open | null>(null);
  const listing = useListing<User>({
    load: listUsers,
    intervalMs: POLL_MS,
    dependencies: [],
    keyOf: ({ user_id }) => user_id,
  });
  const { items: users, loaded, refresh } = listing;
  const close = (): void => {
    open.value = null;
  };
  return (
    <>
      <div class="bar">
        <span />
        <Button
          kind="primary"
          onClick={() => {
            open.value = { kind: "create" };
          }}
        >
          New user
        </Button>
      </div>
      <Table caption="Users" columns={COLUMNS} empty={emptyText(loaded, users.length === 0, "No users")}>
        {users.map((target) => (
          <UserRow
            key={target.user_id}
            target={target}
            isSelf={target.user_id === user.userId}
            onOpen={(kind) => {
              open.value = { kind, target };
            }}
          />
        ))}
      </Table>
      <ListEnd listing={listing} words={["user", "users"]} />
      {open.value?.kind === "create" && <CreateUserDialog user={user} onDone={refresh} onClose={close} />}
      {open.value?.kind === "edit" && (
        <EditUserDialog user={user} target={open.value.target} onDone={refresh} onClose={close} />
      )}
      {open.value?.kind === "disable" && <StatusDialog target={open.value.target} onDone={refresh} onClose={close} />}
      {open.value?.kind === "delete" && (
        <DeleteUserDialog target={open.value.target} onDone={refresh} onClose={close} />
      )}
    </>
  );
}

interface UserRowProps {
  readonly target: User;
  readonly isSelf: boolean;
  readonly onOpen: (kind: "edit" | "disable" | "delete") => void;
}

function UserRow({ target, isSelf, onOpen }: UserRowProps): JSX.Element {
  return (
    <tr>
      <th scope="row" title={target.email}>
        {target.email}
        {isSelf && <span class="muted"> (you)</span>}
      </th>
      <td>{target.role}</td>
      <td>
        <Chip tone={TONES[target.status]}>{target.status}</Chip>
      </td>
      <td class="mono" title={target.namespaces.join(", ")}>
        {target.namespaces.join(", ")}
      </td>
      <td>{instantText(Date.parse(target.created_at))}</td>
      <td class="row-actions">
        <a class="button" href={formatRoute("accounts", ["keys"], { user: target.user_id })}>
          Keys
        </a>{" "}
        <Button onClick={() => onOpen("edit")}>Edit</Button>{" "}
        {target.status !== "unverified" && !isSelf && (
          <Button onClick={() => onOpen("disable")}>{target.status === "active" ? "Disable" : "Enable"}</Button>
        )}{" "}
        {!isSelf && (
          <Button kind="danger" onClick={() => onOpen("delete")}>
            Delete
          </Button>
        )}
      </td>
    </tr>
  );
}

interface TargetDialogProps {
  readonly target: User;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function StatusDialog({ target, onDone, onClose }: TargetDialogProps): JSX.Element {
  const isActive = target.status === "active";
  return (
    <FormDialog
      title={isActive ? "Disable the user" : "Enable the user"}
      action={isActive ? "Disable" : "Enable"}
      isDanger={isActive}
      done={`${target.email} is ${isActive ? "disabled" : "active"}`}
      onClose={onClose}
      onSubmit={async () => {
        await updateUser(target.user_id, { status: isActive ? "disabled" : "active" });
        onDone();
      }}
    >
      <p>
        {isActive
          ? `All tokens and API keys of ${target.email} stop at once. Nothing is deleted.`
          : `${target.email} may sign in again, and the API keys of the user work again.`}
      </p>
    </FormDialog>
  );
}

function DeleteUserDialog({ target, onDone, onClose }: TargetDialogProps): JSX.Element {
  return (
    <FormDialog
      title="Delete the user"
      action="Delete"
      isDanger
      confirmation={target.email}
      done={`${target.email} is deleted`}
      onClose={onClose}
      onSubmit={async () => {
        await deleteUser(target.user_id);
        onDone();
      }}
    >
      <p>All API keys and tokens of the user end at once. Keys, locks and logs that the user wrote stay.</p>
    </FormDialog>
  );
}
