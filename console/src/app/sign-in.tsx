/** The sign-in: an e-mail address and a password, or an API key. None of them is stored anywhere. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { exchangeApiKey, logIn, requestPasswordReset } from "../api/index.ts";
import { formatRoute } from "../router/index.ts";
import { isKept, signIn } from "../session/index.ts";
import { Button, Checkbox, Choice, Problem, TextField, useSubmission } from "../ui/index.ts";
import { EntrancePage } from "./entrance-page.tsx";
import { VERIFY } from "./verify-page.tsx";

type Way = "password" | "key";

export function SignInPage(): JSX.Element {
  return (
    <EntrancePage title="Sign in">
      <SignInForm />
      <details>
        <summary>Forgot the password?</summary>
        <PasswordResetForm />
      </details>
      <p>
        <a href={formatRoute(VERIFY)}>Enter the token of a mail</a>
      </p>
    </EntrancePage>
  );
}

/** @param email the address to begin with. */
export function SignInForm({ email: known = "" }: { readonly email?: string }): JSX.Element {
  const way = useSignal<Way>("password");
  const email = useSignal(known);
  const secret = useSignal("");
  const isToBeKept = useSignal(isKept.peek());
  const { onSubmit, isSending, problem } = useSubmission(async () => {
    const session =
      way.value === "key" ? await exchangeApiKey(secret.value.trim()) : await logIn(email.value, secret.value);
    secret.value = "";
    signIn(session, isToBeKept.value);
  });
  return (
    <form class="form" onSubmit={onSubmit}>
      <Choice<Way>
        label="Way to sign in"
        options={[
          ["password", "E-mail and password"],
          ["key", "API key"],
        ]}
        value={way.value}
        onInput={(next) => {
          way.value = next;
          secret.value = "";
          problem.value = undefined;
        }}
      />
      {way.value === "password" && (
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username"
          isRequired
          hasFocus={known === ""}
          value={email}
        />
      )}
      <TextField
        key={way.value}
        label={way.value === "password" ? "Password" : "API key"}
        type="password"
        autoComplete={way.value === "password" ? "current-password" : "off"}
        isRequired
        isMonospaced={way.value === "key"}
        value={secret}
      />
      <Checkbox
        label="Stay signed in when this tab is reloaded"
        hint="Without it, the session lives in this page only, and a reload signs you out."
        value={isToBeKept}
      />
      <Problem message={problem.value} />
      <Button type="submit" kind="primary" isDisabled={isSending.value}>
        Sign in
      </Button>
    </form>
  );
}

function PasswordResetForm(): JSX.Element {
  const email = useSignal("");
  const isSent = useSignal(false);
  const { onSubmit, isSending, problem } = useSubmission(async () => {
    await requestPasswordReset(email.value);
    isSent.value = true;
  });
  return (
    <form class="form" onSubmit={onSubmit}>
      {isSent.value ? (
        <p role="status">
          If a user has this address, a mail is on its way. Its token sets a new password within an hour:{" "}
          <a href={formatRoute(VERIFY)}>enter the token</a>.
        </p>
      ) : (
        <>
          <TextField label="E-mail of the user" type="email" autoComplete="username" isRequired value={email} />
          <Problem message={problem.value} />
          <Button type="submit" isDisabled={isSending.value}>
            Send a mail
          </Button>
        </>
      )}
      <p class="hint">
        No mail? An administrator of your namespaces gives you another password under “Users and keys”. Those who run
        the cluster help its owner, with <code>quoinctl owner reset</code>.
      </p>
    </form>
  );
}
