/** Copies a text, where the browser allows it: on pages with TLS, and on the machine itself. */

import type { JSX } from "preact";
import { Button } from "./button.tsx";
import { Glyph } from "./glyph.tsx";
import { announce } from "./toast.tsx";

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }): JSX.Element | null {
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  if (clipboard === undefined) {
    return null;
  }
  return (
    <Button
      kind="quiet"
      label={label}
      onClick={() => {
        clipboard.writeText(text).then(
          () => announce("Copied"),
          () => announce("The browser did not allow the copy"),
        );
      }}
    >
      <Glyph name="copy" />
    </Button>
  );
}
