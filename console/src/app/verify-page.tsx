/**
 * Verifies an e-mail address with the token of the mail, and sets the first password, or one for a password that was
 * forgotten. It needs no sign-in. A token in the address, as in the mail, leaves the address and the history of the tab
 * before anything is drawn.
 */

import { useComputed, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { ApiError, verifyEmail } from "../api/index.ts";
import { formatRoute, type Route, replaceRoute } from "../router/index.ts";
import { PASSWORD_RULE, ValueProblem } from "../text/index.ts";
import { Button, Problem, TextField, useSubmission } from "../ui/index.ts";
import { EntrancePage } from "./entrance-page.tsx";

/** Name of the page in the address. */
export const VERIFY = "verify";

const MAY_BE_EMPTY = "Empty: the password that an administrator has set for you stays.";
/** How the words of a member begin that refuses the token, and not the password. */
const REFUSED = "Field token ";
const USELESS =
  "The token is unknown, used, or older than a week. If you cannot sign in, ask an administrator to delete the user and to create it again: that sends another mail.";
const USELESS_FOR_PASSWORD =
  "The token is unknown, used, or older than an hour, or you have another password since. Ask for another mail under “Forgot the password?” of the sign-in.";
/** The token for a forgotten password: three parts, and not two. */
const FOR_PASSWORD = /^[^.]+\.[^.]+\.[^.]+$/;

export function VerifyPage({ route }: { readonly route: Route }): JSX.Element {
  const token = useSignal("");
  const password = useSignal("");
  const done = useSignal("");
  const given = route.query.get("token");
  const isForPassword = useComputed(() => FOR_PASSWORD.test(token.value.trim()));
  useLayoutEffect(() => {
    if (given !== undefined) {
      token.value = given;
      replaceRoute(formatRoute(VERIFY));
    }
  }, [given]);
  const { onSubmit, isSending, problem } = useSubmission(async () => {
    try {
      await verifyEmail(token.value.trim(), password.value === "" ? null : password.value);
    } catch (error) {
      const isUseless = error instanceof ApiError && error.message.startsWith(REFUSED);
      throw isUseless ? new ValueProblem(isForPassword.value ? USELESS_FOR_PASSWORD : USELESS) : error;
    }
    done.value = isForPassword.value ? "The new password is set." : "The address is verified.";
    [token.value, password.value] = ["", ""];
  });
  return (
    <EntrancePage title={isForPassword.value ? "Set a new password" : "Verify your e-mail address"}>
      {done.value !== "" ? (
        <p role="status">{done.value} You can sign in now.</p>
      ) : (
        <form class="form" onSubmit={onSubmit}>
          <TextField label="Token from the mail" isRequired isMonospaced hasFocus value={token} />
          <TextField
            label="New password"
            type="password"
            autoComplete="new-password"
            hint={isForPassword.value ? PASSWORD_RULE : `${PASSWORD_RULE} ${MAY_BE_EMPTY}`}
            isRequired={isForPassword.value}
            value={password}
          />
          <Problem message={problem.value} />
          <Button type="submit" kind="primary" isDisabled={isSending.value}>
            {isForPassword.value ? "Set the password" : "Verify"}
          </Button>
        </form>
      )}
      <p>
        <a href={formatRoute("")}>Sign in</a>
      </p>
    </EntrancePage>
  );
}
