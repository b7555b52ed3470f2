/** One number of a page, with its name; a list of them has the class `tiles`. */

import type { ComponentChildren, JSX } from "preact";

export function Tile({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
