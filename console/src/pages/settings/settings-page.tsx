/** Who is signed in and for how long, a new password, and the settings of the cluster for those who operate it. */

import type { JSX } from "preact";
import { nowMs } from "../../live/index.ts";
import { PageHead, type PageProps } from "../../page/index.ts";
import { claimsOf, currentToken, isKept, mayOperateCluster, setKept } from "../../session/index.ts";
import { durationText } from "../../text/index.ts";
import { Checkbox, Properties } from "../../ui/index.ts";
import { ClusterSettings } from "./cluster-settings.tsx";
import { PasswordForm } from "./password-form.tsx";

export function SettingsPage({ user }: PageProps): JSX.Element {
  const token = currentToken();
  const leftMs = token === null ? 0 : claimsOf(token).expiresAtMs - nowMs.value;
  return (
    <>
      <PageHead title="Settings" />
      <section class="block" aria-label="Your account">
        <h2>Your account</h2>
        <Properties
          items={[
            ["E-mail", user.email],
            ["Role", user.role],
            ["Namespaces", user.namespaces.includes("*") ? "all" : user.namespaces.join(", ")],
            ["Id", <span class="mono">{user.userId}</span>],
            ["Session ends in", leftMs <= 0 ? "ended" : durationText(leftMs)],
          ]}
        />
        <Checkbox label="Stay signed in when this tab is reloaded" value={isKept.value} onInput={setKept} />
      </section>
      <section class="block" aria-label="Your password">
        <h2>Your password</h2>
        <PasswordForm user={user} />
      </section>
      {mayOperateCluster(user) && <ClusterSettings />}
    </>
  );
}
