/** Creates and changes users. */

import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { createUser, type User, updateUser } from "../../api/index.ts";
import { formatRoute } from "../../router/index.ts";
import { grantableRoles, type Role, type SessionUser } from "../../session/index.ts";
import { PASSWORD_RULE } from "../../text/index.ts";
import { FormDialog, Select, TextField } from "../../ui/index.ts";
import { namespacesOf } from "./namespace-list.ts";

interface UserDialogProps {
  /** Who is signed in. */
  readonly user: SessionUser;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function CreateUserDialog({ user, onDone, onClose }: UserDialogProps): JSX.Element {
  const email = useSignal("");
  const password = useSignal("");
  const role = useSignal<Role>("member");
  const namespaces = useSignal("default");
  return (
    <FormDialog
      title="New user"
      action="Create"
      done={`${email.value} gets a mail to verify the address`}
      onClose={onClose}
      onSubmit={async () => {
        await createUser({
          email: email.value,
          password: password.value === "" ? null : password.value,
          role: role.value,
          namespaces: namespacesOf(namespaces.value),
        });
        onDone();
      }}
    >
      <TextField label="E-mail" type="email" isRequired hasFocus value={email} />
      <TextField
        label="Password"
        type="password"
        autoComplete="new-password"
        hint={`${PASSWORD_RULE} Empty: the user chooses one with the verification.`}
        value={password}
      />
      <Rights user={user} role={role} namespaces={namespaces} />
    </FormDialog>
  );
}

export function EditUserDialog({
  user,
  target,
  onDone,
  onClose,
}: UserDialogProps & { readonly target: User }): JSX.Element {
  const role = useSignal<Role>(target.role);
  const namespaces = useSignal(target.namespaces.join(", "));
  const password = useSignal("");
  const isSelf = target.user_id === user.userId;
  return (
    <FormDialog
      title={`Edit ${target.email}`}
      action="Save"
      done={`${target.email} is changed`}
      onClose={onClose}
      onSubmit={async () => {
        const wanted = namespacesOf(namespaces.value);
        await updateUser(target.user_id, {
          ...(role.value !== target.role && { role: role.value }),
          ...(wanted.join() !== target.namespaces.join() && { namespaces: wanted }),
          ...(password.value !== "" && { password: password.value }),
        });
        onDone();
      }}
    >
      <Rights user={user} role={role} namespaces={namespaces} />
      {isSelf ? (
        <p>
          <a href={formatRoute("settings")}>Change your password</a> in the settings.
        </p>
      ) : (
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          hint={`${PASSWORD_RULE} Empty: it stays. A new one ends all logins of the user.`}
          value={password}
        />
      )}
    </FormDialog>
  );
}

function Rights({
  user,
  role,
  namespaces,
}: {
  readonly user: SessionUser;
  readonly role: Signal<Role>;
  readonly namespaces: Signal<string>;
}): JSX.Element {
  return (
    <>
      <Select label="Role" value={role} options={grantableRoles(user).map((name) => [name, name] as const)} />
      <TextField
        label="Namespaces"
        isMonospaced
        hint="Separated by commas; they need not exist. * means all."
        value={namespaces}
      />
    </>
  );
}
