/** A page for people who are not signed in: one box with the mark. */

import type { ComponentChildren, JSX } from "preact";
import { Mark } from "./mark.tsx";

export interface EntrancePageProps {
  /** What the page is for, in the title of the window. */
  readonly title: string;
  readonly children: ComponentChildren;
}

export function EntrancePage({ title, children }: EntrancePageProps): JSX.Element {
  document.title = `${title} · Quoin`;
  return (
    <main class="sign-in">
      <div class="sign-in-box">
        <h1>
          <Mark />
          Quoin
        </h1>
        <h2>{title}</h2>
        {children}
      </div>
    </main>
  );
}
