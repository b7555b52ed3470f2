/**
 * Verifies an e-mail address with the token of the mail, and sets the first password. It needs no sign-in. A token in the
 * address, as in the mail, leaves the address and the history of the tab before anything is drawn.
 */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { ApiError, verifyEmail } from "../api/index.ts";
import { formatRoute, type Route, replaceRoute } from "../router/index.ts";
import { PASSWORD_RULE, ValueProblem } from "../text/index.ts";
import { Button, Problem, TextField, useSubmission } from "../ui/index.ts";
import { EntrancePage } from "./entrance-page.tsx";

/** Name of the page in the address. */
export const VERIFY = "verify";

/** How the words of a member begin that refuses the token, and not the password. */
const REFUSED = "Field token ";
const USELESS =
  "The token is unknown, used, or older than a week. If you cannot sign in, ask an administrator to delete the user and to create it again: that sends another mail.";

export function VerifyPage({ route }: { readonly route: Route }): JSX.Element {
  const token = useSignal("");
  const password = useSignal("");
  const isDone = useSignal(false);
  const given = route.query.get("token");
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
      throw error instanceof ApiError && error.message.startsWith(REFUSED) ? new ValueProblem(USELESS) : error;
    }
    [token.value, password.value] = ["", ""];
    isDone.value = true;
  });
  return (
    <EntrancePage title="Verify your e-mail address">
      {isDone.value ? (
        <p role="status">The address is verified. You can sign in now.</p>
      ) : (
        <form class="form" onSubmit={onSubmit}>
          <TextField label="Token from the mail" isRequired isMonospaced hasFocus value={token} />
          <TextField
            label="New password"
            type="password"
            autoComplete="new-password"
            hint={`${PASSWORD_RULE} Empty: the password that an administrator has set for you stays.`}
            value={password}
          />
          <Problem message={problem.value} />
          <Button type="submit" kind="primary" isDisabled={isSending.value}>
            Verify
          </Button>
        </form>
      )}
      <p>
        <a href={formatRoute("")}>Sign in</a>
      </p>
    </EntrancePage>
  );
}
