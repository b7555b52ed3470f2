/** Users, for administrators, and API keys. */

import type { JSX } from "preact";
import { PageHead, type PageProps } from "../../page/index.ts";
import { formatRoute, navigate } from "../../router/index.ts";
import { mayAdminister } from "../../session/index.ts";
import { Choice } from "../../ui/index.ts";
import { ApiKeyList } from "./api-key-list.tsx";
import { UserList } from "./user-list.tsx";

type View = "users" | "keys";

export function AccountsPage({ user, route }: PageProps): JSX.Element {
  const isAdmin = mayAdminister(user);
  const view: View = isAdmin && route.path[0] !== "keys" ? "users" : "keys";
  const owner = route.query.get("user") ?? "";
  return (
    <>
      <PageHead title="Users and keys">
        {isAdmin && (
          <Choice<View>
            label="View"
            options={[
              ["users", "Users"],
              ["keys", "API keys"],
            ]}
            value={view}
            onInput={(next) => navigate(formatRoute("accounts", [next]))}
          />
        )}
      </PageHead>
      {view === "users" ? <UserList user={user} /> : <ApiKeyList user={user} ownerId={owner} />}
    </>
  );
}
