/**
 * The whole console. Before the first sign-in it shows nothing else. When a token has expired, the sign-in appears above
 * the page, which keeps everything that a person has entered.
 */

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { lookForBackupStore } from "../pages/index.ts";
import { currentRoute } from "../router/index.ts";
import { currentUser, isExpired, type SessionUser } from "../session/index.ts";
import { Dialog, Toasts } from "../ui/index.ts";
import { MissingPage } from "./missing-page.tsx";
import { Navigation } from "./navigation.tsx";
import { pageOf } from "./page-list.ts";
import { SignInForm, SignInPage } from "./sign-in.tsx";
import { VERIFY, VerifyPage } from "./verify-page.tsx";

export function App(): JSX.Element {
  const user = currentUser.value;
  const route = currentRoute.value;
  if (route.page === VERIFY) {
    return <VerifyPage route={route} />;
  }
  return user === null ? <SignInPage /> : <SignedIn user={user} />;
}

function SignedIn({ user }: { readonly user: SessionUser }): JSX.Element {
  const route = currentRoute.value;
  const page = pageOf(route, user);
  const isPage = "View" in page;
  useEffect(() => {
    const ending = new AbortController();
    void lookForBackupStore(user, ending.signal);
    return () => ending.abort();
  }, [user.userId, user.role, user.namespaces.join()]);
  document.title = `${page.title} · Quoin`;
  return (
    <div class="frame">
      <Navigation user={user} current={isPage ? page.name : ""} />
      <main id="main" tabIndex={-1}>
        {isPage ? (
          // Another user must not see what this one has loaded.
          <page.View key={`${page.name} ${user.userId}`} user={user} route={route} />
        ) : (
          <MissingPage user={user} reason={page} />
        )}
      </main>
      <Toasts />
      {isExpired.value && (
        <Dialog title="Sign in again">
          <p>The session has ended. The page stays as it is.</p>
          <SignInForm email={user.email} />
        </Dialog>
      )}
    </div>
  );
}
