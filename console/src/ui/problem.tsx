/** Why something failed, next to where it failed. Screen readers say it at once. */

import type { JSX } from "preact";

export function Problem({ message }: { readonly message: string | undefined }): JSX.Element {
  return (
    <div role="alert" class="problem-place">
      {message !== undefined && <p class="problem">{message}</p>}
    </div>
  );
}
