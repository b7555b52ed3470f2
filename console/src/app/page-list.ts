/** The pages of the console, and who sees them. */

import type { ComponentType } from "preact";
import type { PageProps } from "../page/index.ts";
import {
  AccountsPage,
  BackupsPage,
  EventLogsPage,
  hasBackupStore,
  KeysPage,
  LocksPage,
  MemoryPage,
  OverviewPage,
  SessionsPage,
  SettingsPage,
  StreamsPage,
  UsagePage,
} from "../pages/index.ts";
import { formatRoute, type Route } from "../router/index.ts";
import { mayAdminister, mayOperateCluster, type SessionUser } from "../session/index.ts";
import type { IconName } from "./icon.tsx";

export interface PageEntry {
  /** In the address. */
  readonly name: string;
  readonly title: string;
  readonly icon: IconName;
  readonly View: ComponentType<PageProps>;
  /** Whether it shows something at this path below its name; absent = only at the empty path. */
  readonly hasPath?: (path: readonly string[]) => boolean;
  /** Why a user may not see it; undefined = the user may. */
  readonly refusal?: (user: SessionUser, path: readonly string[]) => string | undefined;
  /** Whether there is anything to see; absent = always. */
  readonly isUseful?: () => boolean;
}

/** Why there is nothing at an address. */
export interface MissingPageReason {
  readonly title: string;
  readonly text: string;
}

const ACCOUNT_VIEWS: readonly string[] = ["users", "keys"];

/** Below the name is at most a namespace. */
const ofNamespace = (path: readonly string[]): boolean => path.length <= 1;

function refuseOthers(isFor: (user: SessionUser) => boolean, refusal: string): NonNullable<PageEntry["refusal"]> {
  return (user) => (isFor(user) ? undefined : refusal);
}

const PAGES: readonly PageEntry[] = [
  { name: "overview", title: "Overview", icon: "overview", View: OverviewPage },
  { name: "keys", title: "Keys", icon: "keys", View: KeysPage, hasPath: ofNamespace },
  { name: "locks", title: "Locks", icon: "locks", View: LocksPage, hasPath: ofNamespace },
  { name: "sessions", title: "Sessions", icon: "sessions", View: SessionsPage, hasPath: ofNamespace },
  { name: "memory", title: "Memory", icon: "memory", View: MemoryPage, hasPath: ofNamespace },
  { name: "logs", title: "Event logs", icon: "logs", View: EventLogsPage, hasPath: ofNamespace },
  {
    name: "watches",
    title: "Watches",
    icon: "watches",
    View: StreamsPage,
    hasPath: ofNamespace,
    refusal: refuseOthers(mayAdminister, "Only administrators see watches."),
  },
  {
    name: "accounts",
    title: "Users and keys",
    icon: "accounts",
    View: AccountsPage,
    hasPath: ([view, ...rest]) => view === undefined || (ACCOUNT_VIEWS.includes(view) && rest.length === 0),
    refusal: (user, [view]) =>
      view === "users" && !mayAdminister(user) ? "Only administrators see users." : undefined,
  },
  { name: "usage", title: "Usage", icon: "usage", View: UsagePage },
  {
    name: "backups",
    title: "Backups",
    icon: "backups",
    View: BackupsPage,
    refusal: refuseOthers(mayOperateCluster, "Only administrators of all namespaces see backups."),
    isUseful: () => hasBackupStore.value,
  },
  { name: "settings", title: "Settings", icon: "settings", View: SettingsPage },
];

/** The pages that a user sees. */
export function pagesOf(user: SessionUser): readonly PageEntry[] {
  return PAGES.filter(({ refusal, isUseful }) => refusal?.(user, []) === undefined && (isUseful?.() ?? true));
}

/** The page of a route, or why there is none for this user. */
export function pageOf({ page: name, path }: Route, user: SessionUser): PageEntry | MissingPageReason {
  const page = name === "" ? PAGES[0] : PAGES.find((one) => one.name === name);
  if (page === undefined || !(page.hasPath?.(path) ?? path.length === 0)) {
    const text = `Nothing in the console has the address “${formatRoute(name, path)}”.`;
    return { title: "There is no such page", text };
  }
  const refusal = page.refusal?.(user, path);
  return refusal === undefined ? page : { title: "You may not see this page", text: refusal };
}
