/** The pages, the state of the connection, and the signed-in user. In a narrow window it is folded to one line. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { isReachable } from "../api/index.ts";
import { formatRoute } from "../router/index.ts";
import { type SessionUser, signOut } from "../session/index.ts";
import { Button } from "../ui/index.ts";
import { Icon } from "./icon.tsx";
import { Mark } from "./mark.tsx";
import { pagesOf } from "./page-list.ts";

export interface NavigationProps {
  readonly user: SessionUser;
  /** Name of the page that is shown; empty = none of them. */
  readonly current: string;
}

export function Navigation({ user, current }: NavigationProps): JSX.Element {
  const isOpen = useSignal(false);
  useEffect(() => {
    isOpen.value = false;
  }, [current]);
  return (
    <header class={isOpen.value ? "navigation" : "navigation folded"}>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the page
      </button>
      <p class="brand">
        <Mark />
        Quoin
      </p>
      <span class="fold">
        <Button
          isExpanded={isOpen.value}
          onClick={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          Menu
        </Button>
      </span>
      <nav aria-label="Pages">
        <ul>
          {pagesOf(user).map((page) => (
            <li key={page.name}>
              <a href={formatRoute(page.name)} aria-current={page.name === current ? "page" : undefined}>
                <Icon name={page.icon} />
                {page.title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="navigation-end">
        {/* Another tab: to leave the page would end the session. */}
        <a class="documents" href="../docs" target="_blank" rel="noopener">
          <Icon name="book" />
          API reference
        </a>
        <p class="connection" role="status">
          <span class={`live-dot ${isReachable.value ? "" : "live-dot-bad"}`} aria-hidden="true" />
          {isReachable.value ? `Connected to ${location.host}` : "This member does not answer"}
        </p>
        <div class="user">
          <span class="user-text">
            <span class="user-email" title={user.email}>
              {user.email}
            </span>
            <span class="user-role">
              {user.role} · {user.namespaces.includes("*") ? "all namespaces" : user.namespaces.join(", ")}
            </span>
          </span>
          <Button kind="quiet" label="Sign out" onClick={signOut}>
            <Icon name="out" />
          </Button>
        </div>
      </div>
    </header>
  );
}
