/**
 * The panel of the chosen entry of a list: beside the list where there is room, else above it. There it scrolls into
 * view when it opens, because the entry may be far down in the list.
 */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import { Glyph } from "./glyph.tsx";

export interface PanelProps {
  /** What it shows, for screen readers. */
  readonly label: string;
  readonly title: ComponentChildren;
  /** What stands beside the title, such as a state. */
  readonly tools: ComponentChildren;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Panel({ label, title, tools, onClose, children }: PanelProps): JSX.Element {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = panel.current;
    // Beside the list it is always in view.
    if (element !== null && getComputedStyle(element).position === "static") {
      element.scrollIntoView();
    }
  }, []);
  return (
    <section ref={panel} class="panel" aria-label={label}>
      <header class="panel-head">
        <h2>{title}</h2>
        {tools}
        <Button kind="quiet" label="Close" onClick={onClose}>
          <Glyph name="close" />
        </Button>
      </header>
      {children}
    </section>
  );
}
