/** The title of a page, with its tools beside it. */

import type { ComponentChildren, JSX } from "preact";

export function PageHead({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <header class="page-head">
      <h1>{title}</h1>
      <div class="page-tools">{children}</div>
    </header>
  );
}
