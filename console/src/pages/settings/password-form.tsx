/** Changes the password of the user. That ends all logins of the user, so the console signs in again with the new one. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { logIn, updateUser } from "../../api/index.ts";
import { isKept, type SessionUser, signIn } from "../../session/index.ts";
import { PASSWORD_RULE, ValueProblem } from "../../text/index.ts";
import { announce, Button, Problem, TextField, useSubmission } from "../../ui/index.ts";

export function PasswordForm({ user }: { readonly user: SessionUser }): JSX.Element {
  const present = useSignal("");
  const next = useSignal("");
  const repeated = useSignal("");
  const { onSubmit, isSending, problem } = useSubmission(async () => {
    if (next.value !== repeated.value) {
      throw new ValueProblem("The two new passwords differ.");
    }
    await updateUser(user.userId, { current_password: present.value, password: next.value });
    signIn(await logIn(user.email, next.value), isKept.peek());
    announce("The password is changed");
    [present.value, next.value, repeated.value] = ["", "", ""];
  });
  return (
    <form class="form form-narrow" onSubmit={onSubmit}>
      <TextField label="Present password" type="password" autoComplete="current-password" isRequired value={present} />
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        isRequired
        hint={`${PASSWORD_RULE} It ends all logins of yours, also on other devices. API keys stay.`}
        value={next}
      />
      <TextField label="New password again" type="password" autoComplete="new-password" isRequired value={repeated} />
      <Problem message={problem.value} />
      <div class="actions">
        <Button type="submit" isDisabled={isSending.value}>
          Change the password
        </Button>
      </div>
    </form>
  );
}
