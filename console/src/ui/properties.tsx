/** Properties of a thing: names, and their values. */

import type { ComponentChildren, JSX } from "preact";

export interface PropertiesProps {
  readonly items: readonly (readonly [name: string, value: ComponentChildren])[];
}

export function Properties({ items }: PropertiesProps): JSX.Element {
  return (
    <dl class="properties">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
